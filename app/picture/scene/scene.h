// scene_at: a run, a moment and options become the view of that moment, words and figures
// included. It knows nothing of the frame before and never looks past the moment: a prefix
// of a run that reaches the moment gives the same view as the whole run.
#ifndef APP_PICTURE_SCENE_SCENE_H
#define APP_PICTURE_SCENE_SCENE_H

#include "app/state/playhead.h"
#include "compute/run/moment.h"
#include "render/data/view.h"

// In screen time a drop falls this long at most, and its trail fades in this.
#define SCENE_FALL_SCREEN_NS INT64_C(550000000)
#define SCENE_TRAIL_SCREEN_NS INT64_C(450000000)

struct scene_options {
    int64_t scale_ns;          // run time of the clock's full width; 0 = not known yet
    int64_t landed_ns;         // the drop of an answer that came at or before this has left
                               // no trail, as steps and stills show it; INT64_MIN = none
    int64_t guess_ns;          // the guessed time of the first token, <= 0 = no guess
    int guess_decode_ppm;      // and the guess of decode's share
    struct playhead_rate rate; // for the stamp
    bool is_moving;            // the moment goes on by itself: figures are held, see below
    bool is_live;              // the stamp then says "live"
    bool is_measuring;         // the stamp then says "measuring"
};

// Sensible options for a run of this length shown at this rate.
struct scene_options scene_options_for(const struct run *run, struct playhead_rate rate);

// Fills `view`. Any `t_ns` will do; a negative one shows the prompt alone.
void scene_at(struct view *view, const struct run *run, int64_t t_ns,
              const struct scene_options *options);

// Nothing flashes more than three times a second (WCAG 2.3.1). Passes that take less than
// quick_screen_ns don't move: the picture stays at the end of one of them until dwell_screen_ns
// are over and another has ended.
struct scene_hold {
    int64_t quick_screen_ns, dwell_screen_ns;
};
#define SCENE_HOLD_PICTURE ((struct scene_hold){90000000, 200000000})
#define SCENE_HOLD_FIGURES ((struct scene_hold){333333333, 333333333})

// The moment whose picture is shown at t_ns: t_ns itself, or the end of an earlier pass. It
// never goes back while t_ns goes on, and a prefix that reaches t_ns gives the same.
int64_t scene_hold_ns(const struct run *run, int64_t t_ns, struct scene_hold hold,
                      struct playhead_rate rate);

// The moment whose figures are shown at t_ns while it goes on by itself: figures that run on
// with it could not be read. They are renewed at every event and two to three times a second
// between two, or as rarely as their hold asks for. Stage and panel show the same.
int64_t scene_read_ns(const struct run *run, int64_t t_ns, struct playhead_rate rate);

// The span as a part of a clock whose full width stands for scale_ns.
struct view_span scene_span(const struct run_span *span, int64_t scale_ns);

// The first of 1, 2, 5, 10 ... microseconds that is not below `least_ns`.
int64_t scene_rung_ns(int64_t least_ns);

// How a token of these bytes looks on its own.
void scene_token(struct view_token *out, const char *text, size_t bytes, enum run_token_kind kind);

#endif
