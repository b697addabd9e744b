// scene_at: a run, a moment and options become the view of that moment. Pure: no
// clock, no allocation, no SDL, no memory of the frame before. It never looks
// past the moment: a prefix of a run that reaches to the moment gives the same
// view as the whole run. This folder and its neighbours know both
// compute/run/run.h and render/data/view.h.
#ifndef APP_PICTURE_SCENE_SCENE_H
#define APP_PICTURE_SCENE_SCENE_H

#include "app/state/playhead.h"
#include "compute/run/moment.h"
#include "render/data/view.h"

// A drop falls this long in screen time.
#define SCENE_FALL_SCREEN_NS INT64_C(550000000)

struct scene_options {
    int64_t scale_ns;          // what the clock's full width stands for, > 0
    int64_t fall_ns;           // run time a drop falls; 0 = lands at once
    int64_t landed_ns;         // answers measured at or before this have landed, whatever
                               // fall_ns says: steps and stills show the event as settled;
                               // INT64_MIN = none
    int64_t guess_ns;          // when the first token was guessed to come, <= 0 = no guess
    int guess_decode_ppm;      // the guess of decode's share, with it
    struct playhead_rate rate; // for the stamp
    bool is_live;              // the stamp then says "live"
    bool is_measuring;         // the stamp then says "measuring"
};

// Sensible options for a run of this length shown at this rate.
struct scene_options scene_options_for(const struct run *run, struct playhead_rate rate);

// Fills `view`. `t_ns` may be anything; negative shows the prompt alone.
void scene_at(struct view *view, const struct run *run, int64_t t_ns,
              const struct scene_options *options);

// The span as a part of a clock whose full width stands for scale_ns.
struct view_span scene_span(const struct run_span *span, int64_t scale_ns);

// The next time of 1, 2, 5, 10 ... microseconds, for a clock whose end is not known.
int64_t scene_rung_ns(int64_t least_ns);

// How a token of these bytes looks, by itself.
void scene_token(struct view_token *out, const char *text, size_t bytes, bool is_control);

#endif
