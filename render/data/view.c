// See view.h.
#include "render/data/view.h"

#include <string.h>

void view_clear(struct view *view) {
    memset(view, 0, sizeof *view);
    view->layers = view->prompt_tokens = view->answer_limit = view->columns = 1;
    view->decode_label_ppm = view->guess_ppm = -1;
}

void view_add_span(struct view *view, struct view_span span) {
    if (view->span_count < VIEW_MAX_SPANS) {
        view->spans[view->span_count++] = span;
        return;
    }
    struct view_span *last = &view->spans[VIEW_MAX_SPANS - 1];
    if (view_is_same_kind(last, &span) && span.from_ppm >= last->from_ppm &&
        span.to_ppm >= last->to_ppm)
        last->to_ppm = span.to_ppm;
    else
        view->dropped++;
}

void view_add_readout(struct view *view, const struct view_readout *readout) {
    if (view->readout_count >= VIEW_MAX_READOUTS) {
        view->dropped++;
        return;
    }
    view->readouts[view->readout_count++] = *readout;
}
