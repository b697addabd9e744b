// See frame.h.
#include "app/picture/frame.h"

#include "app/picture/scene/scene.h"
#include "compute/base/num.h"
#include "render/paint/lab/lab.h"
#include "render/paint/panel/panel.h"

#include <string.h>

// The moment goes on by itself; a step, a still and a paused picture show theirs exactly.
static bool is_moving(const struct stage_state *stage, int64_t t_ns) {
    return !stage->playhead.is_paused && stage->landed_ns < t_ns;
}

// Passes too quick for the eye are held; reduced motion shows the last event.
static int64_t moment_ns(const struct run *run, int64_t t_ns, const struct stage_state *stage) {
    if (is_moving(stage, t_ns))
        t_ns = scene_hold_ns(run, t_ns, SCENE_HOLD_PICTURE, stage->playhead.rate);
    if (!stage->is_calm)
        return t_ns;
    int event = run_event_at(run, t_ns);
    return event < 0 ? -1 : run_event_ns(run, event);
}

static bool has_panel(const struct stage_state *stage, const struct lesson *lesson) {
    bool is_wanted = stage->mode == MODE_LESSON || stage->side != SIDE_NONE;
    return lesson && is_wanted && stage->mode != MODE_LAB;
}

// The clock's scale of a growing run: the next of 1, 2, 5, 10 ... that has room for a
// quarter more, so that it rarely changes.
static int64_t open_scale_ns(int64_t end_ns) {
    return end_ns > 0 ? scene_rung_ns(end_ns + end_ns / 4) : 0;
}

static void fill_view(struct frame *frame, const struct at_hand *at,
                      const struct stage_state *stage) {
    const struct run *run = at->run;
    if (!run) {
        view_clear(&frame->view);
        return;
    }
    struct scene_options options = scene_options_for(run, stage->playhead.rate);
    options.landed_ns = stage->is_calm ? at->t_ns : stage->landed_ns;
    options.is_moving = is_moving(stage, at->t_ns);
    options.is_live = at->is_live;
    options.is_measuring = at->is_measuring;
    options.guess_ns = stage->guess.stage == GUESS_SET ? guess_ttft_ns(&stage->guess, run) : -1;
    options.guess_decode_ppm = stage->guess.decode_ppm;
    if (run->state == RUN_OPEN)
        options.scale_ns = open_scale_ns(run_end_ns(run));
    frame->scale_ns = options.scale_ns;
    scene_at(&frame->view, run, at->t_ns, &options);
}

static void make_layout(struct frame *frame, const struct stage_state *stage,
                        const struct frame_target *target, bool has_run) {
    const struct view *view = &frame->view;
    struct layout_input input = {
        .width_px = target->width_px,
        .height_px = target->height_px,
        .text_step = stage->text_step,
        .mode = stage->mode == MODE_SHOW ? LAYOUT_SHOW
                : target->is_film        ? LAYOUT_FILM
                                         : LAYOUT_STAGE,
        .layers = 1,
        .prompt_tokens = 1,
        .columns = 1,
        .answer_limit = 1,
    };
    if (has_run) {
        input.layers = view->layers;
        input.prompt_tokens = view->prompt_tokens;
        input.columns = view->columns;
        input.answer_limit = view->answer_limit;
        input.readouts = view->readout_count;
        input.has_panel = frame->has_panel;
        input.is_presented = stage->is_presenting;
        input.has_guess = view->guess_ppm >= 0;
    }
    if (memcmp(&input, &frame->layout_input, sizeof input) == 0)
        return;
    frame->layout_input = input;
    layout_make(&frame->layout, &input);
}

static void compose_panel(struct frame *frame, const struct at_hand *at,
                          const struct stage_state *stage) {
    panel_fill(&frame->panel, at, stage);
    frame->line_count = panel_lines(at, stage->side);
    frame->scroll_most = paint_panel_scroll_most(&frame->paint, &frame->panel);
    frame->panel.block_scroll = min_int(stage->scroll, frame->scroll_most);
    frame->panel_cut = paint_panel(&frame->scene, &frame->paint, &frame->panel);
}

void frame_compose(struct frame *frame, const struct at_hand *at, const struct stage_state *stage,
                   const struct frame_target *target) {
    struct at_hand shown = *at;
    if (at->run)
        shown.t_ns = moment_ns(at->run, at->t_ns, stage);
    frame->is_lab = stage->mode == MODE_LAB && at->run;
    frame->has_panel = at->run && has_panel(stage, at->lesson);
    fill_view(frame, &shown, stage);
    make_layout(frame, stage, target, at->run);
    frame->paint =
        (struct paint){&frame->view, &frame->layout, theme_find(stage->theme), target->text};
    cmdlist_clear(&frame->scene);
    if (!at->run)
        return;
    if (frame->is_lab) {
        lab_fill(&frame->lab, &shown, stage);
        layout_lab_make(&frame->lab_layout, &frame->layout, frame->lab.lane_count);
        paint_lab(&frame->scene, &frame->paint, &frame->lab, &frame->lab_layout);
        return;
    }
    paint_scene(&frame->scene, &frame->paint);
    if (!frame->has_panel)
        return;
    if (is_moving(stage, shown.t_ns))
        shown.t_ns = scene_read_ns(shown.run, shown.t_ns, stage->playhead.rate);
    compose_panel(frame, &shown, stage);
}

// --- What is under the pointer ---

static int control_count(const struct frame *frame) {
    return frame->is_lab      ? frame->lab.control_count
           : frame->has_panel ? frame->panel.control_count
                              : 0;
}

static enum panel_target target_of(const struct frame *frame, int control) {
    const struct panel_control *controls =
        frame->is_lab ? frame->lab.controls : frame->panel.controls;
    bool is_there = control >= 0 && control < control_count(frame);
    return is_there ? (enum panel_target)controls[control].target : TARGET_NONE;
}

static bool has_question(const struct frame *frame, const struct stage_state *stage) {
    bool is_asked = false;
    for (int i = 0; i < control_count(frame); i++)
        is_asked = is_asked || target_of(frame, i) == TARGET_SPLIT;
    return is_asked && stage->side == SIDE_NONE && !stage->guess.is_split_set;
}

// The glossary's index of the first underlined word in the panel, -1 = none.
static int first_term(const struct frame *frame, const struct lesson *lesson) {
    for (int i = 0; lesson && frame->has_panel && i < frame->panel.block_count; i++) {
        const char *begin = strchr(frame->panel.blocks[i].text, PANEL_TERM_BEGIN);
        const char *end = begin ? strchr(begin, PANEL_TERM_END) : NULL;
        char term[40];
        size_t bytes = end ? (size_t)(end - begin - 1) : sizeof term;
        if (bytes >= sizeof term)
            continue;
        memcpy(term, begin + 1, bytes);
        term[bytes] = '\0';
        return lesson_find_term(lesson, term);
    }
    return -1;
}

void frame_fill_context(struct actions_context *context, const struct frame *frame,
                        const struct stage_state *stage) {
    context->page_count = LAB_PAGES;
    context->control_count = control_count(frame);
    context->line_count = frame->has_panel ? frame->line_count : 0;
    context->scroll_most = frame->has_panel ? frame->scroll_most : 0;
    context->first_term = first_term(frame, context->lesson);
    context->target = target_of(frame, stage->focus);
    context->has_question = has_question(frame, stage);
    if (context->has_question && context->target == TARGET_NONE)
        context->target = TARGET_SPLIT;
}

int64_t frame_clock_ns(const struct frame *frame, int x_px) {
    struct rect bar = frame->is_lab ? frame->lab_layout.lane_bars[0] : frame->layout.clock_bar;
    int64_t scale_ns = frame->is_lab ? frame->lab.scale_ns : frame->scale_ns;
    int64_t ppm = bar.w > 0 ? (int64_t)(x_px - bar.x) * VIEW_PPM / bar.w : 0;
    return (int64_t)((double)scale_ns * clamp_ppm(ppm) / VIEW_PPM);
}

static struct frame_hit panel_part(const struct frame *frame, int x_px, int y_px) {
    struct panel_hit hit = paint_panel_hit(&frame->paint, &frame->panel, x_px, y_px);
    struct frame_hit out = {.index = hit.index, .ppm = hit.ppm};
    memcpy(out.term, hit.term, sizeof out.term);
    out.part = hit.part == PANEL_CONTROL ? FRAME_CONTROL
               : hit.part == PANEL_LINE  ? FRAME_LINE
               : hit.part == PANEL_TERM  ? FRAME_TERM
                                         : FRAME_NOTHING;
    if (out.part == FRAME_CONTROL)
        out.target = target_of(frame, hit.index);
    if (out.part == FRAME_LINE)
        out.index += frame->panel.line_first;
    return out;
}

static struct frame_hit lab_part(const struct frame *frame, int x_px, int y_px) {
    struct lab_hit hit = paint_lab_hit(&frame->paint, &frame->lab, &frame->lab_layout, x_px, y_px);
    struct frame_hit out = {.index = hit.index, .ppm = hit.ppm};
    if (hit.part == LAB_CONTROL) {
        out.part = FRAME_CONTROL;
        out.target = target_of(frame, hit.index);
    } else if (hit.part == LAB_CLOCK) {
        out.part = FRAME_CLOCK;
        out.t_ns = frame_clock_ns(frame, x_px);
    } else if (hit.part == LAB_PAGE) {
        out.part = FRAME_PAGE;
    }
    return out;
}

struct frame_hit frame_hit(const struct frame *frame, int x_px, int y_px) {
    if (!frame->layout_input.readouts)
        return (struct frame_hit){0}; // nothing is shown yet
    if (frame->is_lab)
        return lab_part(frame, x_px, y_px);
    if (frame->has_panel && rect_has(frame->layout.panel, x_px, y_px))
        return panel_part(frame, x_px, y_px);
    if (rect_has(frame->layout.clock, x_px, y_px))
        return (struct frame_hit){.part = FRAME_CLOCK, .t_ns = frame_clock_ns(frame, x_px)};
    return (struct frame_hit){0};
}

int frame_drag_ppm(const struct frame *frame, int control, int x_px) {
    if (frame->is_lab)
        return paint_lab_drag_ppm(&frame->paint, &frame->lab, &frame->lab_layout, control, x_px);
    return frame->has_panel ? paint_panel_drag_ppm(&frame->paint, &frame->panel, control, x_px) : 0;
}
