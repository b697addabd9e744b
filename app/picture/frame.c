// See frame.h.
#include "app/picture/frame.h"

#include "app/picture/scene/scene.h"
#include "compute/base/num.h"
#include "render/paint/lab/lab.h"
#include "render/paint/panel/panel.h"

#include <string.h>

// Under is_calm the last event, settled.
static int64_t moment_ns(const struct run *run, int64_t t_ns, bool is_calm) {
    if (!is_calm)
        return t_ns;
    int event = run_event_at(run, t_ns);
    return event < 0 ? -1 : run_event_ns(run, event);
}

static bool has_panel(const struct stage_state *stage, const struct lesson *lesson) {
    bool is_wanted = stage->mode == MODE_LESSON || stage->side != SIDE_NONE;
    return lesson && is_wanted && stage->mode != MODE_LAB;
}

// The clock's scale while the end is not known: the next of 1, 2, 5, 10 ... with room
// for a quarter more, so that it changes seldom.
static int64_t open_scale_ns(int64_t end_ns) {
    return end_ns > 0 ? scene_rung_ns(end_ns + end_ns / 4) : 0;
}

static void fill_view(struct frame *frame, const struct frame_source *source, int64_t t_ns) {
    const struct stage_state *stage = source->stage;
    const struct run *run = source->run;
    if (!run) {
        view_clear(&frame->view);
        return;
    }
    struct scene_options options = scene_options_for(run, stage->playhead.rate);
    options.landed_ns = stage->is_calm ? t_ns : stage->landed_ns;
    options.is_live = source->is_live;
    options.is_measuring = source->is_measuring;
    options.guess_ns = stage->guess.stage == GUESS_SET ? guess_ttft_ns(&stage->guess, run) : -1;
    options.guess_decode_ppm = stage->guess.decode_ppm;
    if (run->state == RUN_OPEN)
        options.scale_ns = open_scale_ns(run_end_ns(run));
    frame->scale_ns = options.scale_ns;
    scene_at(&frame->view, run, t_ns, &options);
}

static enum layout_mode layout_mode(const struct frame_source *source) {
    if (source->stage->mode == MODE_SHOW)
        return LAYOUT_SHOW;
    return source->is_film ? LAYOUT_FILM : LAYOUT_STAGE;
}

static void make_layout(struct frame *frame, const struct frame_source *source) {
    const struct view *view = &frame->view;
    struct layout_input input = {
        .width_px = source->width_px,
        .height_px = source->height_px,
        .text_step = source->stage->text_step,
        .mode = layout_mode(source),
        .layers = 1,
        .prompt_tokens = 1,
        .columns = 1,
        .answer_limit = 1,
    };
    if (source->run) {
        input.layers = view->layers;
        input.prompt_tokens = view->prompt_tokens;
        input.columns = view->columns;
        input.answer_limit = view->answer_limit;
        input.readouts = view->readout_count;
        input.has_panel = frame->has_panel;
        input.has_guess = view->guess_ppm >= 0;
    }
    if (memcmp(&input, &frame->layout_input, sizeof input) == 0)
        return;
    frame->layout_input = input;
    layout_make(&frame->layout, &input);
}

static void fill_panel(struct frame *frame, const struct frame_source *source, int64_t t_ns) {
    const struct stage_state *stage = source->stage;
    frame->panel_source = source->panel;
    struct panel_source *panel = &frame->panel_source;
    panel->run = source->run;
    panel->t_ns = t_ns;
    panel->side = stage->side;
    panel->place = stage->place;
    panel->focus = stage->focus;
    panel->list_focus = stage->list_focus;
    panel->guess = &stage->guess;
    panel->prompt_tokens = stage->prompt_tokens;
    panel->answer_tokens = stage->answer_tokens;
    panel_fill(&frame->panel, panel);
    frame->scroll_most = paint_panel_scroll_most(&frame->paint, &frame->panel);
    frame->panel.block_scroll =
        stage->scroll < frame->scroll_most ? stage->scroll : frame->scroll_most;
}

static void fill_lab(struct frame *frame, const struct frame_source *source, int64_t t_ns) {
    const struct stage_state *stage = source->stage;
    struct lab_source lab = source->lab;
    lab.run = source->run;
    lab.t_ns = t_ns;
    lab.is_measuring = source->is_measuring;
    lab.prompt_tokens = stage->prompt_tokens;
    lab.answer_tokens = stage->answer_tokens;
    lab.page = stage->page;
    lab.focus = stage->focus;
    lab.plot_focus = -1;
    lab_fill(&frame->lab, &lab);
}

void frame_compose(struct frame *frame, const struct frame_source *source) {
    const struct stage_state *stage = source->stage;
    int64_t t_ns = source->t_ns;
    if (source->run)
        t_ns = moment_ns(source->run, t_ns, stage->is_calm);
    frame->is_lab = stage->mode == MODE_LAB && source->run;
    frame->has_panel = source->run && has_panel(stage, source->panel.lesson);
    fill_view(frame, source, t_ns);
    make_layout(frame, source);
    frame->paint =
        (struct paint){&frame->view, &frame->layout, theme_find(stage->theme), source->text};
    cmdlist_clear(&frame->scene);
    if (!source->run)
        return;
    if (frame->is_lab) {
        fill_lab(frame, source, t_ns);
        layout_lab_make(&frame->lab_layout, &frame->layout, frame->lab.lane_count);
        paint_lab(&frame->scene, &frame->paint, &frame->lab, &frame->lab_layout);
        return;
    }
    paint_scene(&frame->scene, &frame->paint);
    if (frame->has_panel) {
        fill_panel(frame, source, t_ns);
        frame->panel_cut = paint_panel(&frame->scene, &frame->paint, &frame->panel);
    }
}

// --- What is under the hand ---

static enum panel_target target_of(const struct frame *frame, int control) {
    static const enum panel_target lab[] = {TARGET_PROMPT, TARGET_ANSWER};
    if (frame->is_lab)
        return control >= 0 && control < 2 ? lab[control] : TARGET_NONE;
    return frame->has_panel && control >= 0 ? panel_target(&frame->panel_source, control)
                                            : TARGET_NONE;
}

static bool has_question(const struct frame *frame) {
    if (!frame->has_panel || frame->panel_source.side != SIDE_NONE)
        return false;
    for (int i = 0; i < panel_controls(&frame->panel_source); i++)
        if (panel_target(&frame->panel_source, i) == TARGET_SPLIT)
            return !frame->panel_source.guess->is_split_set;
    return false;
}

// The first underlined word of the panel, in the glossary.
static int first_term(const struct frame *frame) {
    const struct lesson *lesson = frame->panel_source.lesson;
    for (int i = 0; frame->has_panel && i < frame->panel.block_count; i++) {
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
    context->control_count = frame->is_lab ? frame->lab.control_count : 0;
    context->line_count = 0;
    context->scroll_most = frame->has_panel ? frame->scroll_most : 0;
    context->first_term = first_term(frame);
    if (frame->has_panel) {
        context->control_count = panel_controls(&frame->panel_source);
        context->line_count = panel_lines(&frame->panel_source);
    }
    context->target = target_of(frame, stage->focus);
    context->has_question = has_question(frame);
}

int64_t frame_clock_ns(const struct frame *frame, int x_px) {
    struct rect bar = frame->is_lab ? frame->lab_layout.lane_bars[0] : frame->layout.clock_bar;
    int64_t scale_ns = frame->is_lab ? frame->lab.scale_ns : frame->scale_ns;
    int64_t ppm = bar.w > 0 ? (int64_t)(x_px - bar.x) * VIEW_PPM / bar.w : 0;
    return (int64_t)((double)scale_ns * clamp_ppm(ppm) / VIEW_PPM);
}

// The log's line of the first one in the panel, which holds a part of a long log.
static int first_line(const struct frame *frame) {
    const struct panel_source *source = &frame->panel_source;
    int focus = source->list_focus;
    if (source->side != SIDE_LOG)
        return 0;
    if (focus < 0)
        focus = panel_log_line_at(source->run, source->t_ns);
    return focus > frame->panel.line_focus ? focus - frame->panel.line_focus : 0;
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
        out.index += first_line(frame);
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
