// See scene.h. This file finds where the moment lies in the run and fills what has
// a place: the pass under way, drops, the clock. Words are scene_words.c, token
// texts scene_tokens.c. Everything follows from marks that end at or before the
// moment, and from the end of the one stage under way, which is finished in every
// prefix that reaches the moment.
#include "app/picture/scene/scene.h"

#include "app/picture/scene/parts.h"
#include "compute/base/num.h"

#include <string.h>

// The pass under way at the moment, or -1. A pass is under way after its start,
// not at it: at the boundary itself nobody can know that another one follows.
static int pass_under_way(const struct run *run, int marks, int64_t t_ns) {
    int pass = marks / run_stages(run);
    if (marks % run_stages(run) > 0)
        return pass;
    bool has_begun = pass < run_passes_seen(run) && t_ns > run->passes[pass].start_ns;
    return has_begun ? pass : -1;
}

static struct scene_seen see(const struct run *run, int64_t t_ns,
                             const struct scene_options *options) {
    int64_t end_ns = run_end_ns(run);
    struct scene_seen seen = {.run = run, .options = options, .t_ns = t_ns};
    if (run->state == RUN_OPEN && t_ns > end_ns)
        seen.t_ns = end_ns;
    seen.shown_ns = seen.t_ns < 0 ? 0 : seen.t_ns > end_ns ? end_ns : seen.t_ns;
    seen.marks = run_marks_at(run, seen.t_ns);
    seen.passes_done = seen.marks / run_stages(run);
    seen.pass = pass_under_way(run, seen.marks, seen.t_ns);
    seen.answers = run_answers_at(run, seen.t_ns);
    seen.cache_entries = run_cache_entries_at(run, seen.t_ns);
    seen.prefill_done = seen.cache_entries >= run->info.prompt_tokens;
    seen.at_end = run->state != RUN_OPEN && seen.t_ns >= end_ns && run->mark_count > 0 &&
                  seen.marks == run->mark_count;
    return seen;
}

// How calm the picture must be: rows that light in turn stop doing so where a whole
// pass takes less than a third of a second of screen time. Judged by the pass before,
// which every prefix has whole; the first pass happens once and may be quick.
static int calm_ppm(const struct scene_seen *seen) {
    static const int64_t quick_ns = 333000000, slow_ns = 500000000;
    if (seen->pass < 1)
        return 0;
    int64_t start_ns = seen->run->passes[seen->pass - 1].start_ns;
    int64_t screen_ns = playhead_screen_ns(seen->options->rate,
                                           run_pass_end_ns(seen->run, seen->pass - 1) - start_ns);
    return VIEW_PPM - ppm_of(screen_ns - quick_ns, slow_ns - quick_ns);
}

static void put_pass(struct view *view, const struct scene_seen *seen) {
    const struct run *run = seen->run;
    view->full_columns = seen->cache_entries;
    view->headers = run->info.prompt_tokens;
    if (seen->cache_entries > view->headers)
        view->headers = seen->cache_entries;
    if (seen->pass < 0)
        return;
    const struct run_pass *pass = &run->passes[seen->pass];
    view->pass = (struct view_pass){
        .active = true,
        .is_prefill = pass->phase == RUN_PREFILL,
        .is_charged = pass->column_count == 0,
        .first_column = pass->first_column,
        .column_count = pass->column_count,
        .stage = seen->marks % run_stages(run),
    };
    if (seen->marks < run->mark_count) {
        int64_t start_ns = run_stage_start_ns(run, seen->marks);
        view->pass.progress_ppm =
            ppm_of(seen->t_ns - start_ns, run->mark_end_ns[seen->marks] - start_ns);
    }
    view->pass.calm_ppm = calm_ppm(seen);
    if (pass->first_column + pass->column_count > view->headers)
        view->headers = pass->first_column + pass->column_count;
}

// The pass that yielded `answer`: passes yield in order, one each.
static int pass_of_answer(const struct run *run, int answer) {
    int first = 0;
    while (first < run_passes_seen(run) && run->passes[first].yields < 0)
        first++;
    return first + answer;
}

static struct view_drop drop_of(const struct run *run, int pass, int answer) {
    const struct run_pass *from = &run->passes[pass];
    int column = from->first_column + (from->column_count > 0 ? from->column_count - 1 : -1);
    return (struct view_drop){
        .answer = answer,
        .column = column < 0 ? 0 : column,
        .is_prefill = from->phase == RUN_PREFILL,
    };
}

// Answers measured out at or before `t_ns - fall`, or declared landed.
static int answers_landed(const struct scene_seen *seen) {
    const struct scene_options *options = seen->options;
    int landed = 0;
    if (seen->t_ns >= INT64_MIN + options->fall_ns)
        landed = run_answers_at(seen->run, seen->t_ns - options->fall_ns);
    int settled = run_answers_at(seen->run, options->landed_ns);
    landed = settled > landed ? settled : landed;
    return landed < seen->answers ? landed : seen->answers;
}

static void put_drops(struct view *view, const struct scene_seen *seen) {
    const struct run *run = seen->run;
    view->landed = answers_landed(seen);
    enum { MAX_FALLING = VIEW_MAX_DROPS - 1 }; // one place is for the growing drop
    int in_air = seen->answers - view->landed;
    if (in_air > MAX_FALLING) {
        view->stream = in_air - MAX_FALLING;
        in_air = MAX_FALLING;
    }
    for (int i = 0; i < in_air; i++) {
        int answer = seen->answers - in_air + i;
        int pass = pass_of_answer(run, answer);
        struct view_drop drop = drop_of(run, pass, answer);
        drop.is_falling = true;
        drop.progress_ppm = ppm_of(seen->t_ns - run_pass_end_ns(run, pass), seen->options->fall_ns);
        view_add_drop(view, drop);
    }
    bool is_output = view->pass.active && view->pass.stage == run->info.layers + 1;
    if (!is_output || run->passes[seen->pass].yields < 0)
        return;
    struct view_drop growing = drop_of(run, seen->pass, run->passes[seen->pass].yields);
    growing.progress_ppm = view->pass.progress_ppm;
    view_add_drop(view, growing);
}

// Where a pass has come to at the moment.
static int64_t pass_reach_ns(const struct scene_seen *seen, int pass) {
    return pass < seen->passes_done ? run_pass_end_ns(seen->run, pass) : seen->t_ns;
}

static void put_clock(struct view *view, const struct scene_seen *seen) {
    const struct run *run = seen->run;
    int64_t scale_ns = seen->options->scale_ns;
    int begun = seen->pass >= 0 ? seen->pass + 1 : seen->passes_done;
    int merge = begun / VIEW_MAX_SPANS + 1;
    view->playhead_ppm = ppm_of(seen->shown_ns, scale_ns);
    view->decode_label_ppm = -1;
    if (seen->options->guess_ns > 0)
        view->guess_ppm = ppm_of(seen->options->guess_ns, scale_ns);
    for (int p = 0; p < begun;) {
        const struct run_pass *pass = &run->passes[p];
        int last = p;
        while (last + 1 < begun && last + 1 - p < merge &&
               run->passes[last + 1].phase == pass->phase && pass->column_count > 0)
            last++;
        view_add_span(view, (struct view_span){
                                .from_ppm = ppm_of(pass->start_ns, scale_ns),
                                .to_ppm = ppm_of(pass_reach_ns(seen, last), scale_ns),
                                .is_prefill = pass->phase == RUN_PREFILL,
                                .is_charged = pass->column_count == 0,
                            });
        if (pass->phase == RUN_DECODE && view->decode_label_ppm < 0)
            view->decode_label_ppm = ppm_of(pass->start_ns, scale_ns);
        p = last + 1;
    }
}

static enum view_stage stage_of(const struct view *view, const struct scene_seen *seen) {
    if (view->is_finished)
        return VIEW_DONE;
    if (seen->marks == 0 && seen->pass < 0)
        return VIEW_PROMPT;
    bool in_decode = seen->pass >= 0 && seen->run->passes[seen->pass].phase == RUN_DECODE;
    bool after_decode =
        seen->passes_done > 0 && seen->run->passes[seen->passes_done - 1].phase == RUN_DECODE;
    return in_decode || after_decode ? VIEW_DECODE : VIEW_PREFILL;
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
        .fall_ns = playhead_run_ns(rate, SCENE_FALL_SCREEN_NS),
        .landed_ns = INT64_MIN,
        .guess_ns = -1,
        .rate = rate,
    };
}

void scene_at(struct view *view, const struct run *run, int64_t t_ns,
              const struct scene_options *options) {
    struct scene_seen seen = see(run, t_ns, options);
    view_clear(view);
    view->layers = run->info.layers;
    view->prompt_tokens = run->info.prompt_tokens;
    view->answer_limit = run->info.answer_limit;
    view->columns = run->info.prompt_tokens + run->info.answer_limit - 1;
    put_pass(view, &seen);
    put_drops(view, &seen);
    view->is_finished = seen.at_end && view->landed == seen.answers;
    put_clock(view, &seen);
    view->stage = stage_of(view, &seen);
    scene_put_tokens(view, &seen);
    scene_put_words(view, &seen);
}
