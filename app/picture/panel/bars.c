// The bars of a step: wait and total on one linear scale, and what one decode step reads
// and writes. Both show what has happened by the moment and grow while a run plays. The
// scale is the longer of what has happened and of the run before.
#include "app/picture/panel/parts.h"
#include "compute/base/num.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static struct panel_bar *add_bar(struct panel *out, const struct panel_seen *seen,
                                 const char *label_key) {
    struct panel_bar *bar = &out->bars[out->bar_count++];
    *bar = (struct panel_bar){.before_ppm = -1, .tone = TONE_PREFILL};
    PANEL_SAY(bar->label, seen, label_key);
    return bar;
}

// --- Wait and total ---

// A stretch of time that begins with the request.
struct stretch {
    int64_t prefill_ns, end_ns; // where prefill and the whole end in it
    int64_t before_ns;          // how long it was in the run before, -1 = none
    bool is_final;              // it is not going to grow
    bool is_compared;           // and neither run was disturbed
};

// The run before, if both are in time or both in the same units.
static const struct run *run_before(const struct panel_seen *seen) {
    const struct run *before = seen->at->before;
    const struct run_info *info = &seen->run->info;
    if (!before || run_e2e_ns(before) <= 0)
        return NULL;
    bool is_lesson = info->origin == RUN_LESSON, was_lesson = before->info.origin == RUN_LESSON;
    if (is_lesson != was_lesson)
        return NULL;
    bool is_same_unit =
        info->unit_ns == before->info.unit_ns && strcmp(info->unit, before->info.unit) == 0;
    return is_lesson && !is_same_unit ? NULL : before;
}

// `length_ns` is run_ttft_ns or run_e2e_ns.
static struct stretch stretch_of(const struct panel_seen *seen, const struct run *before,
                                 bool is_final, int64_t (*length_ns)(const struct run *)) {
    int64_t end_ns = is_final ? length_ns(seen->run) : seen->now.shown_ns;
    return (struct stretch){
        .prefill_ns = seen->now.prefill_done ? run_prefill_ns(seen->run) : end_ns,
        .end_ns = end_ns,
        .before_ns = before ? length_ns(before) : -1,
        .is_final = is_final,
        .is_compared =
            is_final && before && !before->info.is_disturbed && !seen->run->info.is_disturbed,
    };
}

// "+12 %", with a real minus; "as before" below half a percent.
static void put_change(struct panel_bar *bar, const struct panel_seen *seen,
                       const struct stretch *stretch) {
    double change =
        100 * ((double)stretch->end_ns - (double)stretch->before_ns) / (double)stretch->before_ns;
    if (fabs(change) < 0.5) {
        PANEL_SAY(bar->note, seen, "bar.same");
        return;
    }
    struct figure size = figure_percent(fabs(change));
    char text[FIGURE_BYTES + 4];
    snprintf(text, sizeof text, "%s%s", change < 0 ? SIGN_MINUS : "+", size.text);
    PANEL_SAY(bar->note, seen, "bar.change", "change", text);
}

static void put_stretch(struct panel *out, const struct panel_seen *seen, const char *label_key,
                        const struct stretch *stretch, double scale_ns) {
    struct panel_bar *bar = add_bar(out, seen, label_key);
    snprintf(bar->value, sizeof bar->value, "%s", run_time(&seen->run->info, stretch->end_ns).text);
    bar->first_ppm = panel_part_ppm((double)stretch->prefill_ns, scale_ns);
    bar->second_ppm = panel_part_ppm((double)stretch->end_ns, scale_ns) - bar->first_ppm;
    if (stretch->before_ns <= 0)
        return;
    bar->before_ppm = panel_part_ppm((double)stretch->before_ns, scale_ns);
    if (stretch->is_compared) {
        put_change(bar, seen, stretch);
        return;
    }
    struct figure before = run_time(&seen->run->info, stretch->before_ns);
    PANEL_SAY(bar->note, seen, "bar.before", "before", before.text);
}

void panel_put_bars(struct panel *out, const struct panel_seen *seen) {
    const struct run *before = run_before(seen);
    bool is_over = seen->now.at_end && seen->run->state == RUN_COMPLETE;
    struct stretch wait = stretch_of(seen, before, seen->now.answers > 0, run_ttft_ns);
    struct stretch total = stretch_of(seen, before, is_over, run_e2e_ns);
    double scale_ns = (double)max_i64(total.end_ns, total.before_ns);
    put_stretch(out, seen, wait.is_final ? "bar.wait" : "bar.wait_so_far", &wait, scale_ns);
    put_stretch(out, seen, total.is_final ? "bar.total" : "bar.total_so_far", &total, scale_ns);
}

// --- One decode step ---

// A bar shorter than this cannot be seen beside the longest one.
enum { TINY_PPM = 3000 };

struct step_bytes {
    int64_t weights, cache, written;
};

static void put_bytes(struct panel *out, const struct panel_seen *seen, const char *label_key,
                      enum view_tone tone, int64_t bytes, const struct step_bytes *step) {
    int64_t all = step->weights + step->cache + step->written;
    int64_t longest = max_i64(max_i64(step->weights, step->cache), step->written);
    struct panel_bar *bar = add_bar(out, seen, label_key);
    bar->tone = (uint8_t)tone;
    snprintf(bar->value, sizeof bar->value, "%s", figure_bytes(bytes).text);
    bar->first_ppm = panel_part_ppm((double)bytes, (double)longest);
    if (bytes > 0 && bar->first_ppm < TINY_PPM) {
        PANEL_SAY(bar->note, seen, "bar.tiny");
        return;
    }
    struct figure share = panel_percent(panel_part_ppm((double)bytes, (double)all));
    PANEL_SAY(bar->note, seen, "bar.share", "share", share.text);
}

// What the step took. Of a step under way nothing is known yet.
static void put_step_time(struct panel_block *block, const struct panel_seen *seen, int pass) {
    const struct run *run = seen->run;
    struct figure number = figure_count(run->passes[pass].yields + 1, false);
    if (pass >= seen->now.passes_done) {
        panel_append(block, seen, ' ', "anatomy.under_way", "number", number.text, NULL);
        return;
    }
    int64_t took_ns = run_pass_end_ns(run, pass) - run->passes[pass].start_ns;
    panel_append(block, seen, ' ', "anatomy.took", "number", number.text, "time",
                 run_time(&run->info, took_ns).text, "origin", panel_origin(seen).text, NULL);
}

void panel_put_anatomy(struct panel *out, const struct panel_seen *seen) {
    const struct run *run = seen->run;
    int pass = panel_decode_pass(seen);
    int64_t weights = run->info.weight_bytes, entry = run_cache_entry_bytes(run);
    struct panel_block *block = panel_add_block(out, seen, "bar.step");
    if (pass < 0) {
        panel_append(block, seen, ' ', "anatomy.none", NULL);
        return;
    }
    put_step_time(block, seen, pass);
    if (run->info.origin == RUN_LESSON || weights <= 0 || entry <= 0) {
        panel_append(block, seen, '\n', "bar.no_bytes", NULL);
        return;
    }
    struct step_bytes step = {weights, run_cache_bytes(run, run->passes[pass].first_column),
                              entry * run->passes[pass].column_count};
    put_bytes(out, seen, "bar.weights", TONE_READ, step.weights, &step);
    put_bytes(out, seen, "bar.cache", TONE_READ, step.cache, &step);
    put_bytes(out, seen, "bar.entry", TONE_DECODE, step.written, &step);
}
