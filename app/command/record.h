// `tokendrip record`: the film, or a still an event, without any display. The
// frame number is the clock: frame n shows first + n * rate * frame time, so the
// same run and options give the same pixels on a fast machine and a slow one.
// Everything that can be refused is refused before the model is measured.
#ifndef APP_COMMAND_RECORD_H
#define APP_COMMAND_RECORD_H

#include "app/options/options.h"
#include "compute/run/run.h"

enum record_kind {
    RECORD_FILM,
    RECORD_STILLS, // a folder: one an event, as settled
    RECORD_STILL,  // a .png: the end, or --from
};

// What will be drawn, in numbers. Pure: from options and run alone.
struct record_plan {
    enum record_kind kind;
    int width_px, height_px;
    int fps_num, fps_den;
    struct playhead_rate rate;
    int64_t first_ns;    // moment of frame 0, in run time
    int64_t last_ns;     // moment of the last event or still that is in
    int64_t frame_count; // RECORD_FILM: frames; else stills
    int first_event;     // RECORD_STILLS
};

// Size and frame rate, which need no run: false when the picture would be too
// small or the output's ending does not say what it is.
bool record_plan_picture(struct record_plan *out, const struct options *options, char why[256]);

// Adds which moments. False: --from lies past the end, or no event is within.
bool record_plan_moments(struct record_plan *plan, const struct options *options,
                         const struct run *run, char why[256]);

// "prompt", "prefill", "token-2 par": what the still of an event is called.
void record_still_name(char *out, size_t bytes, const struct run *run, int event);

// Returns the exit code; `why` is "" or the one line to print.
int record_command(const struct options *options, char why[256]);

#endif
