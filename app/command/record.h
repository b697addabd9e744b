// `tokendrip record`: a film, or one still for each event, without a display. The frame
// number is the clock: frame n shows first + n * rate * frame time, so the same run and
// options give the same pixels on a fast machine and on a slow one. What can be refused
// is refused before the model is measured.
#ifndef APP_COMMAND_RECORD_H
#define APP_COMMAND_RECORD_H

#include "compute/base/why.h"

#include "app/options/options.h"
#include "compute/run/run.h"

enum record_kind {
    RECORD_FILM,
    RECORD_STILLS, // a folder: one for each event, with all drops landed
    RECORD_STILL,  // a .png: the end, or the moment of --from
};

// What will be drawn, in numbers. It follows from options and run alone.
struct record_plan {
    enum record_kind kind;
    int width_px, height_px;
    int fps_num, fps_den;
    struct playhead_rate rate;
    int64_t first_ns;    // RECORD_FILM: the moment of frame 0, in run time
    int64_t last_ns;     // where the film ends; RECORD_STILL: its moment
    int64_t frame_count; // frames or stills
    int first_event;     // RECORD_STILLS
};

// Kind, size and frame rate, which need no run. False: the picture is too small.
bool record_plan_picture(struct record_plan *out, const struct options *options, struct why *why);

// Adds which moments. False: --from lies past the end, or no event lies within the cut.
bool record_plan_moments(struct record_plan *plan, const struct options *options,
                         const struct run *run, struct why *why);

// The file name of an event's still, without ending: "prompt", "prefill", "token-2 par".
void record_still_name(char *out, size_t bytes, const struct run *run, int event);

// Returns the exit code; `why` is "" or the one line to print.
int record_command(const struct options *options, struct why *why);

#endif
