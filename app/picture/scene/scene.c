// See scene.h. This file fills what has a place: the pass that runs, drops, the clock;
// words.c has the words, tokens.c the token texts. Everything follows from marks that
// end at or before the moment and from the end of the one stage that is running, which
// every prefix that reaches the moment has.
#include "app/picture/scene/scene.h"

#include "app/picture/scene/parts.h"
#include "compute/base/num.h"

#include <string.h>

// How calm the picture must be: rows stop lighting in turn if a whole pass takes less than two
// thirds of a second of screen time, since two neighbouring rows make two flashes of a pass. The
// pass before decides, since every prefix has all of it; the first pass happens only once and
// may be quick.
static int calm_ppm(const struct run_moment *now, const struct scene_options *options) {
    static const int64_t quick_ns = 667000000, slow_ns = 1000000000;
    int last = now->passes_done - 1;
    if (last < 0 || (now->running < 0 && !options->is_moving))
        return 0;
    int64_t pass_ns = run_pass_end_ns(now->run, last) - now->run->passes[last].start_ns;
    int64_t screen_ns = playhead_screen_ns(options->rate, pass_ns);
    return VIEW_PPM - ppm_of(screen_ns - quick_ns, slow_ns - quick_ns);
}

static void put_pass(struct view *view, const struct run_moment *now,
                     const struct scene_options *options) {
    const struct run *run = now->run;
    view->full_columns = now->cache_entries;
    view->headers = run->info.prompt_tokens;
    if (now->cache_entries > view->headers)
        view->headers = now->cache_entries;
    view->pass.calm_ppm = calm_ppm(now, options);
    if (now->running < 0)
        return;
    const struct run_pass *pass = &run->passes[now->running];
    view->pass = (struct view_pass){
        .active = true,
        .is_prefill = pass->phase == RUN_PREFILL,
        .is_charged = pass->column_count == 0,
        .first_column = pass->first_column,
        .column_count = pass->column_count,
        .stage = now->marks % run_stages(run),
        .calm_ppm = view->pass.calm_ppm,
    };
    if (now->marks < run->mark_count) {
        int64_t start_ns = run_stage_start_ns(run, now->marks);
        view->pass.progress_ppm =
            ppm_of(now->t_ns - start_ns, run->mark_end_ns[now->marks] - start_ns);
    }
    if (pass->first_column + pass->column_count > view->headers)
        view->headers = pass->first_column + pass->column_count;
}

// The column under which the pass's drop hangs.
static int column_of_drop(const struct run_pass *pass) {
    return max_int(0, pass->first_column + pass->column_count - 1);
}

// In the output stage the drop grows, and falls in the last part of it: it is there when its
// token is out.
static void put_drop(struct view *view, const struct run_moment *now, struct playhead_rate rate) {
    const struct run *run = now->run;
    bool is_output = view->pass.active && view->pass.stage == run->info.layers + 1;
    if (!is_output || now->marks >= run->mark_count || run->passes[now->running].yields < 0)
        return;
    int64_t start_ns = run_stage_start_ns(run, now->marks), end_ns = run->mark_end_ns[now->marks];
    int64_t most_ns = (end_ns - start_ns) / 5 * 3;
    if (now->t_ns <= start_ns)
        return; // the end of the stage may not be known yet
    int64_t fall_ns = min_i64(playhead_run_ns(rate, SCENE_FALL_SCREEN_NS), most_ns);
    view->drop = (struct view_drop){
        .column = column_of_drop(&run->passes[now->running]),
        .is_prefill = view->pass.is_prefill,
        .grown_ppm = ppm_of(now->t_ns - start_ns, end_ns - fall_ns - start_ns),
        .fallen_ppm = ppm_of(now->t_ns - (end_ns - fall_ns), fall_ns),
    };
}

// The trail fades in a part of a second. While passes are too quick for that it is a steady,
// weaker stream under the newest column.
static void put_trail(struct view *view, const struct run_moment *now,
                      const struct scene_options *options) {
    enum { STREAM_PPM = 600000 };
    const struct run *run = now->run;
    int first = 0;
    while (first < now->passes_done && run->passes[first].yields < 0)
        first++;
    if (first >= now->passes_done)
        return;
    // From the first pass that yields on, each yields one: the last one done has.
    const struct run_pass *last = &run->passes[now->passes_done - 1];
    int64_t out_ns = run_pass_end_ns(run, now->passes_done - 1);
    int left_ppm = 0;
    if (out_ns > options->landed_ns)
        left_ppm = VIEW_PPM - ppm_of(now->t_ns - out_ns,
                                     playhead_run_ns(options->rate, SCENE_TRAIL_SCREEN_NS));
    int calm_ppm = view->pass.calm_ppm;
    int fading_ppm = (int)((int64_t)left_ppm * (VIEW_PPM - calm_ppm) / VIEW_PPM);
    int steady_ppm = (int)((int64_t)STREAM_PPM * calm_ppm / VIEW_PPM);
    view->trail = (struct view_trail){
        .column = column_of_drop(last),
        .is_prefill = last->phase == RUN_PREFILL,
        .light_ppm = max_int(fading_ppm, steady_ppm),
    };
}

static void put_clock(struct view *view, const struct run_moment *now,
                      const struct scene_options *options) {
    int64_t scale_ns = options->scale_ns;
    view->playhead_ppm = ppm_of(now->shown_ns, scale_ns);
    view->decode_label_ppm = -1;
    if (options->guess_ns > 0)
        view->guess_ppm = ppm_of(options->guess_ns, scale_ns);
    for (struct run_span span = {0}; run_next_span(&span, now, VIEW_MAX_SPANS);) {
        struct view_span shown = scene_span(&span, scale_ns);
        view_add_span(view, shown);
        if (span.phase == RUN_DECODE && view->decode_label_ppm < 0)
            view->decode_label_ppm = shown.from_ppm;
    }
}

static enum view_stage stage_of(const struct view *view, const struct run_moment *now) {
    if (view->is_finished)
        return VIEW_DONE;
    if (now->marks == 0 && now->running < 0)
        return VIEW_PROMPT;
    bool in_decode = now->running >= 0 && now->run->passes[now->running].phase == RUN_DECODE;
    bool after_decode =
        now->passes_done > 0 && now->run->passes[now->passes_done - 1].phase == RUN_DECODE;
    return in_decode || after_decode ? VIEW_DECODE : VIEW_PREFILL;
}

struct view_span scene_span(const struct run_span *span, int64_t scale_ns) {
    return (struct view_span){
        .from_ppm = ppm_of(span->from_ns, scale_ns),
        .to_ppm = ppm_of(span->to_ns, scale_ns),
        .is_prefill = span->phase == RUN_PREFILL,
        .is_charged = span->is_charged,
    };
}

int64_t scene_rung_ns(int64_t least_ns) {
    int64_t scale_ns = 1000;
    for (int rung = 0; scale_ns < least_ns && scale_ns < INT64_MAX / 10; rung++)
        scale_ns = rung % 3 == 1 ? scale_ns / 2 * 5 : scale_ns * 2;
    return scale_ns;
}

struct scene_options scene_options_for(const struct run *run, struct playhead_rate rate) {
    int64_t end_ns = run_end_ns(run);
    return (struct scene_options){
        .scale_ns = end_ns,
        .landed_ns = INT64_MIN,
        .guess_ns = -1,
        .rate = rate,
    };
}

void scene_at(struct view *view, const struct run *run, int64_t t_ns,
              const struct scene_options *options) {
    struct run_moment now = run_moment_at(run, t_ns);
    view_clear(view);
    view->layers = run->info.layers;
    view->prompt_tokens = run->info.prompt_tokens;
    view->answer_limit = run->info.answer_limit;
    view->columns = run->info.prompt_tokens + run->info.answer_limit - 1;
    put_pass(view, &now, options);
    put_drop(view, &now, options->rate);
    put_trail(view, &now, options);
    view->is_finished = now.at_end && now.marks > 0;
    put_clock(view, &now, options);
    view->stage = stage_of(view, &now);
    scene_put_tokens(view, &now);
    if (options->is_moving)
        now = run_moment_at(run, scene_read_ns(run, t_ns, options->rate));
    scene_put_words(view, &now, options);
}
