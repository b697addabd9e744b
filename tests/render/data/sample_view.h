// Views for tests, without a run: given sizes and a moment they are filled as the
// scene would fill them. One small model of prefill and decode, so that all counts
// in a view agree with each other. Test-only.
#ifndef TESTS_RENDER_DATA_SAMPLE_VIEW_H
#define TESTS_RENDER_DATA_SAMPLE_VIEW_H

#include "render/data/view.h"
#include "render/paint/layout.h"

#include <stdbool.h>

// A moment: pass 0 is prefill, pass k the k-th decode step; -1 before the first.
struct sample_moment {
    int pass;
    int stage; // 0 .. layers + 1
    int progress_ppm;
    int falling_ppm; // in the output stage how far the drop has fallen, in others how
                     // bright the trail of the last one is
};

struct sample {
    int layers, prompt_tokens, answer_limit;
    int answers;      // how many the answer has when complete: 1 .. answer_limit
    bool is_charged;  // lesson counting: pass 1 is the charged step
    bool is_complete; // after the last pass
    struct sample_moment moment;
};

void sample_view(struct view *view, const struct sample *sample);

// The layout input that goes with it, at this size.
struct layout_input sample_input(const struct sample *sample, int width_px, int height_px,
                                 enum layout_mode mode);

#endif
