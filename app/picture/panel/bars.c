// The bars of a step: wait and total on one linear scale, and what one decode step reads
// and writes. Both show what has been by the moment: while a run plays they grow, and
// the scale is the longer of what has been and of the run before.
#include "app/picture/panel/parts.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static struct panel_bar *add_bar(struct panel *out, const struct panel_seen *seen,
                                 const char *label_key) {
    struct panel_bar *bar = &out->bars[out->bar_count++];
    *bar = (struct panel_bar){.before_ppm = -1, .tone = TONE_PREFILL};
    panel_say(bar->label, sizeof bar->label, seen, label_key, NULL);
    return bar;
}

// --- Wait and total ---

// A stretch from the request on: where prefill ends in it, where it ends, whether that
// is its last word, and how long the same took in the run before (-1 = none).
struct stretch {
    int64_t prefill_ns, end_ns, before_ns;
    bool is_final;
};

// The run before, if the two can be laid on one scale: both in time, or both in the same
// units.
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

static struct stretch wait_of(const struct panel_seen *seen, const struct run *before) {
    bool is_final = seen->now.answers > 0;
    int64_t end_ns = is_final ? run_ttft_ns(seen->run) : seen->now.shown_ns;
    return (struct stretch){
        .prefill_ns = seen->now.prefill_done ? run_prefill_ns(seen->run) : end_ns,
        .end_ns = end_ns,
        .before_ns = before ? run_ttft_ns(before) : -1,
        .is_final = is_final,
    };
}

static struct stretch total_of(const struct panel_seen *seen, const struct run *before) {
    bool is_final = seen->now.at_end && seen->run->state == RUN_COMPLETE;
    int64_t end_ns = is_final ? run_e2e_ns(seen->run) : seen->now.shown_ns;
    return (struct stretch){
        .prefill_ns = seen->now.prefill_done ? run_prefill_ns(seen->run) : end_ns,
        .end_ns = end_ns,
        .before_ns = before ? run_e2e_ns(before) : -1,
        .is_final = is_final,
    };
}

// "+12 %", with a real minus; "as before" below half a percent.
static void put_change(struct panel_bar *bar, const struct panel_seen *seen,
                       const struct stretch *stretch) {
    double change =
        100 * ((double)stretch->end_ns - (double)stretch->before_ns) / (double)stretch->before_ns;
    if (fabs(change) < 0.5) {
        panel_say(bar->note, sizeof bar->note, seen, "bar.same", NULL);
        return;
    }
    struct figure size = figure_percent(fabs(change));
    char text[PANEL_WORD_BYTES];
    snprintf(text, sizeof text, "%s%s", change < 0 ? SIGN_MINUS : "+", size.text);
    panel_say(bar->note, sizeof bar->note, seen, "bar.change",
              (const char *const[]){"change", text, NULL});
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
    if (stretch->is_final) {
        put_change(bar, seen, stretch);
        return;
    }
    struct figure before = run_time(&seen->run->info, stretch->before_ns);
    panel_say(bar->note, sizeof bar->note, seen, "bar.before",
              (const char *const[]){"before", before.text, NULL});
}

void panel_put_bars(struct panel *out, const struct panel_seen *seen) {
    const struct run *before = run_before(seen);
    struct stretch wait = wait_of(seen, before), total = total_of(seen, before);
    double scale_ns = (double)total.end_ns;
    if (total.before_ns > total.end_ns)
        scale_ns = (double)total.before_ns;
    put_stretch(out, seen, wait.is_final ? "bar.wait" : "bar.wait_so_far", &wait, scale_ns);
    put_stretch(out, seen, total.is_final ? "bar.total" : "bar.total_so_far", &total, scale_ns);
}

// --- One decode step ---

// Narrower than this a part cannot be seen beside the longest one.
enum { TINY_PPM = 3000 };

struct step_bytes {
    int64_t weights, cache, written;
};

static void put_bytes(struct panel *out, const struct panel_seen *seen, const char *label_key,
                      enum view_tone tone, int64_t bytes, const struct step_bytes *step) {
    int64_t all = step->weights + step->cache + step->written;
    int64_t longest = step->weights > step->cache ? step->weights : step->cache;
    if (step->written > longest)
        longest = step->written;
    struct panel_bar *bar = add_bar(out, seen, label_key);
    bar->tone = (uint8_t)tone;
    snprintf(bar->value, sizeof bar->value, "%s", figure_bytes(bytes).text);
    bar->first_ppm = panel_part_ppm((double)bytes, (double)longest);
    if (bytes > 0 && bar->first_ppm < TINY_PPM) {
        panel_say(bar->note, sizeof bar->note, seen, "bar.tiny", NULL);
        return;
    }
    struct figure share = panel_percent(panel_part_ppm((double)bytes, (double)all));
    panel_say(bar->note, sizeof bar->note, seen, "bar.share",
              (const char *const[]){"share", share.text, NULL});
}

// What the step took, with its origin; of a step under way nothing is known yet.
static void put_step_time(struct panel *out, const struct panel_seen *seen, int pass) {
    const struct run *run = seen->run;
    struct panel_block *block = panel_add_block(out, seen, "bar.step");
    if (!block)
        return;
    char origin[PANEL_WORD_BYTES];
    struct figure number = figure_count(run->passes[pass].yields + 1, 0);
    if (pass >= seen->now.passes_done) {
        panel_append(block, seen, ' ', "anatomy.under_way",
                     (const char *const[]){"number", number.text, NULL});
        return;
    }
    struct figure time =
        run_time(&run->info, run_pass_end_ns(run, pass) - run->passes[pass].start_ns);
    panel_say(origin, sizeof origin, seen, panel_origin_key(run), NULL);
    panel_append(
        block, seen, ' ', "anatomy.took",
        (const char *const[]){"number", number.text, "time", time.text, "origin", origin, NULL});
}

void panel_put_anatomy(struct panel *out, const struct panel_seen *seen) {
    const struct run *run = seen->run;
    int pass = panel_decode_pass(seen);
    int64_t weights = run->info.weight_bytes, entry = run_cache_entry_bytes(run);
    struct panel_block *block;
    if (pass < 0) {
        block = panel_add_block(out, seen, "bar.step");
        if (block)
            panel_append(block, seen, ' ', "anatomy.none", NULL);
        return;
    }
    put_step_time(out, seen, pass);
    if (run->info.origin == RUN_LESSON || weights <= 0 || entry <= 0) {
        block = out->block_count > 0 ? &out->blocks[out->block_count - 1] : NULL;
        if (block)
            panel_append(block, seen, '\n', "bar.no_bytes", NULL);
        return;
    }
    struct step_bytes step = {weights, entry * run->passes[pass].first_column,
                              entry * run->passes[pass].column_count};
    put_bytes(out, seen, "bar.weights", TONE_READ, step.weights, &step);
    put_bytes(out, seen, "bar.cache", TONE_READ, step.cache, &step);
    put_bytes(out, seen, "bar.entry", TONE_DECODE, step.written, &step);
}
