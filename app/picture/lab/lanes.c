// The lab's clock: the run shown and the run it is compared with, played side by side
// on one linear scale. A run that grows has no end yet: its scale comes from the other
// run or from the sweep, else from the moment itself, so that every prefix that
// reaches the moment gives the same picture. The other run plays along and is shown
// whole once the run shown is over.
#include "app/picture/lab/parts.h"
#include "app/picture/scene/scene.h"
#include "compute/base/num.h"

#include <string.h>

// --- Scale ---

// The time the sweep predicts for the lengths asked for, 0 = unknown.
static int64_t expected_ns(const struct lab_seen *seen) {
    int prompt = seen->asked_prompt, answer = seen->asked_answer;
    if (!seen->sweep || prompt < 1 || answer < 1 || lab_is_lesson(seen->at->run))
        return 0;
    int64_t prefill_ns = sweep_prefill_ns(seen->sweep, prompt);
    // A step's time is linear in the context, so the middle step has the mean time.
    int64_t step_ns = sweep_step_ns(seen->sweep, prompt + (answer - 1) / 2.0);
    bool is_known = prefill_ns > 0 && (answer == 1 || step_ns > 0);
    double total_ns = (double)prefill_ns + (answer - 1.0) * (double)step_ns;
    return is_known && total_ns < (double)RUN_MAX_NS ? (int64_t)total_ns : 0;
}

static int64_t scale_ns(const struct lab_seen *seen, const struct run *kept) {
    int64_t known_ns = kept ? run_end_ns(kept) : 0;
    if (!seen->at->run)
        return known_ns;
    if (seen->at->run->state != RUN_OPEN) {
        int64_t end_ns = run_end_ns(seen->at->run);
        return end_ns > known_ns ? end_ns : known_ns;
    }
    int64_t expected = expected_ns(seen);
    int64_t moment_ns = run_moment_at(seen->at->run, seen->at->t_ns).shown_ns;
    known_ns = expected > known_ns ? expected : known_ns;
    return moment_ns > known_ns || known_ns == 0 ? scene_rung_ns(moment_ns) : known_ns;
}

// --- Lanes ---

static void put_spans(struct lab_lane *lane, const struct run_moment *now, int64_t whole_ns) {
    for (struct run_span span = {0}; run_next_span(&span, now, LAB_MAX_SPANS - 4);)
        lane->spans[lane->span_count++] = scene_span(&span, whole_ns);
}

// Lengths come before device and model, which may be long and are then cut.
static void put_label(struct lab_lane *lane, const struct run *run, const char *name) {
    const struct run_info *info = &run->info;
    struct figure lengths;
    if (run->state == RUN_OPEN)
        WORDS_SAY(lengths.text, "lab.prompt_of", "count",
                  figure_count(info->prompt_tokens, true).text);
    else
        WORDS_SAY(lengths.text, "lab.lengths", "prompt",
                  figure_count(info->prompt_tokens, true).text, "answer",
                  figure_count(run_answers_seen(run), true).text);
    const char *origin = info->origin == RUN_LESSON     ? word("lab.lesson")
                         : info->origin == RUN_MODELLED ? word("lab.modelled")
                         : info->cold                   ? word("lab.cold")
                                                        : "";
    struct figure device = {.text = ""};
    if (info->origin != RUN_LESSON)
        lab_put(device.text, sizeof device.text, run_device(info, true).text);
    char label[4 * sizeof lane->label];
    const char *file = info->is_loaded ? word("stamp.file") : "";
    const char *disturbed = info->is_disturbed ? word("run.disturbed_file") : "";
    words_join(label, sizeof label,
               (const char *const[]){name, lengths.text, disturbed, origin, device.text, file,
                                     run_model(info), NULL});
    lab_put(lane->label, sizeof lane->label, label);
}

// A growing run shows nothing that comes after the moment.
static void put_value(struct lab_lane *lane, const struct run *run, int64_t t_ns) {
    const struct run_info *info = &run->info;
    bool has_first = lab_answers(run, t_ns) > 0;
    struct figure ttft = lab_run_time(info, has_first ? run_ttft_ns(run) : -1);
    struct figure total = lab_run_time(info, run_e2e_ns(run));
    WORDS_SAY(lane->value, run->state == RUN_FAILED ? "lab.lane_ended" : "lab.lane_total", "ttft",
              ttft.text, "total", run->state == RUN_OPEN ? SIGN_DASH : total.text);
}

static void put_lane(struct lab *lab, const struct run *run, const char *name, int64_t t_ns,
                     int64_t whole_ns) {
    struct lab_lane *lane = &lab->lanes[lab->lane_count++];
    struct run_moment now = run_moment_at(run, t_ns);
    put_label(lane, run, name);
    put_value(lane, run, t_ns);
    put_spans(lane, &now, whole_ns);
}

// --- The note beside the clock ---

// "0.73 ms + 6 x 0.08 ms": the total of the run shown in its own figures.
static struct figure sum_of(const struct run *run) {
    struct figure out;
    int steps = run_answers_seen(run) - 1;
    struct figure ttft = lab_run_time(&run->info, run_ttft_ns(run));
    if (steps < 1)
        WORDS_SAY(out.text, "lab.sum_first", "ttft", ttft.text);
    else
        WORDS_SAY(out.text, "lab.sum", "ttft", ttft.text, "steps", figure_count(steps, false).text,
                  "tpot", lab_run_time(&run->info, run_tpot_ns(run)).text);
    return out;
}

// Key of the sum with its origin.
static const char *origin_of(const struct lab_seen *seen) {
    const struct run_info *info = &seen->at->run->info;
    if (info->origin == RUN_LESSON)
        return "lab.sum_lesson";
    if (info->origin == RUN_MEASURED)
        return info->cold ? "lab.sum_cold" : "lab.sum_measured";
    // A run counted as the lesson counts is another one's recount.
    bool is_recount = seen->at->has_engine || info->counting == RUN_CHARGED;
    return is_recount ? "lab.sum_recount" : "lab.sum_sweep";
}

static void put_sum(struct lab *lab, const struct lab_seen *seen) {
    char sum[sizeof lab->clock_note];
    const struct run_info *info = &seen->at->run->info;
    WORDS_SAY(sum, origin_of(seen), "sum", sum_of(seen->at->run).text);
    if (info->is_disturbed) {
        char plain[sizeof sum], range[FIGURE_BYTES];
        lab_put(plain, sizeof plain, sum);
        WORDS_SAY(range, "lab.sum_range", "range", run_range(info, &info->e2e).text);
        words_join(sum, sizeof sum,
                   (const char *const[]){plain, info->e2e.p90_ns > 0 ? range : "",
                                         run_disturbed(info).text, NULL});
    }
    if (seen->at->is_measuring)
        WORDS_SAY(lab->clock_note, "lab.run_before", "sum", sum);
    else
        lab_put(lab->clock_note, sizeof lab->clock_note, sum);
}

static void put_note(struct lab *lab, const struct lab_seen *seen) {
    const struct run *run = seen->at->run;
    bool is_ready = run && run->state != RUN_OPEN && run_answers_seen(run) > 0;
    if (!is_ready && (seen->at->is_measuring || (run && run->state == RUN_OPEN)))
        WORDS_SAY(lab->clock_note, "note.measuring");
    else if (!run)
        WORDS_SAY(lab->clock_note, "lab.no_run");
    else if (!is_ready || run->state == RUN_FAILED)
        WORDS_SAY(lab->clock_note, "note.ended_early");
    else
        put_sum(lab, seen);
}

void lab_put_lanes(struct lab *lab, const struct lab_seen *seen) {
    const struct run *run = seen->at->run, *kept = seen->at->kept;
    // Lesson units cannot share a scale with measured time.
    if (kept && (kept->mark_count == 0 || (run && !lab_has_one_clock(run, kept))))
        kept = NULL;
    int64_t whole_ns = scale_ns(seen, kept);
    lab->scale_ns = whole_ns;
    struct run_moment now =
        run ? run_moment_at(run, seen->at->t_ns) : (struct run_moment){.at_end = true};
    if (run)
        put_lane(lab, run, word("lab.this_run"), seen->at->t_ns, whole_ns);
    if (kept)
        put_lane(lab, kept, lab_name(seen).text, now.at_end ? INT64_MAX : seen->at->t_ns, whole_ns);
    lab->playhead_ppm = ppm_of(now.shown_ns, whole_ns);
    if (whole_ns > 0)
        lab_put(lab->scale_label, sizeof lab->scale_label,
                lab_run_time(run ? &run->info : &kept->info, whole_ns).text);
    put_note(lab, seen);
}
