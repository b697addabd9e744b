// The two questions: "where does the time go?" (a bar to divide) and "predict first" (two
// knobs before the run plays). The answers are computed from this run. The split's comes
// when its button is pressed, those of the guesses when the run has played to its end.
#include "app/picture/panel/parts.h"
#include "compute/base/num.h"

#include <stdio.h>

// --- Where does the time go? ---

struct shares {
    struct figure prefill, decode;
};

// Together always 100.
static struct shares shares_of(int decode_ppm) {
    double share = (double)decode_ppm / VIEW_PPM;
    return (struct shares){figure_rest(share), figure_share(share)};
}

// The true share once the split is set, else -1.
static int split_truth_ppm(const struct panel_seen *seen) {
    int decode_ppm = guess_true_decode_ppm(seen->run);
    return seen->stage->guess.is_split_set && decode_ppm >= 0 ? VIEW_PPM - decode_ppm : -1;
}

static const char *nearness_key(enum guess_nearness nearness) {
    static const char *const keys[] = {
        [GUESS_CLOSE] = "reveal.close", [GUESS_NEAR] = "reveal.near", [GUESS_FAR] = "reveal.far"};
    return keys[nearness];
}

// The verdict with its reason, the figures, then the guess beside the truth. All of it is
// said of the whole run, whatever the moment.
static void put_reveal(struct panel_block *block, const struct panel_seen *seen, int prefill_ppm) {
    static const char *const verdicts[] = {[VERDICT_DECODE] = "reveal.decode",
                                           [VERDICT_PREFILL] = "reveal.prefill",
                                           [VERDICT_EVEN] = "reveal.even"};
    const struct run *run = seen->run;
    struct shares truth = shares_of(VIEW_PPM - prefill_ppm),
                  guess = shares_of(VIEW_PPM - seen->stage->guess.split_ppm);
    panel_append(block, seen, ' ', verdicts[guess_verdict_of(run)], "prefill", truth.prefill.text,
                 "decode", truth.decode.text, NULL);
    panel_append(block, seen, ' ', "reveal.figures", "prefill",
                 run_time(&run->info, run_prefill_ns(run)).text, "decode",
                 run_decode_time(&run->info, run_prefill_ns(run), run_e2e_ns(run)).text, "origin",
                 panel_origin(seen).text, NULL);
    panel_append(block, seen, '\n',
                 nearness_key(guess_nearness_of(seen->stage->guess.split_ppm, prefill_ppm)),
                 "guess", guess.decode.text, "truth", truth.decode.text, NULL);
}

void panel_put_split(struct panel *out, const struct panel_seen *seen) {
    struct panel_block *block = panel_add_block(out, seen, "reveal.heading");
    int prefill_ppm = split_truth_ppm(seen);
    if (prefill_ppm < 0)
        panel_append(block, seen, ' ', "reveal.none", NULL);
    else
        put_reveal(block, seen, prefill_ppm);
}

void panel_split_control(struct panel_control *out, const struct panel_seen *seen) {
    struct shares guess = shares_of(VIEW_PPM - seen->stage->guess.split_ppm);
    out->kind = CONTROL_SPLIT;
    out->tone = TONE_PREFILL;
    out->ppm = seen->stage->guess.split_ppm;
    PANEL_SAY(out->label, seen, "split.label");
    PANEL_SAY(out->value, seen, "split.value", "prefill", guess.prefill.text, "decode",
              guess.decode.text);
    out->mark_ppm = split_truth_ppm(seen);
    if (out->mark_ppm < 0)
        return;
    struct shares truth = shares_of(VIEW_PPM - out->mark_ppm);
    PANEL_SAY(out->mark_label, seen, "split.true", "prefill", truth.prefill.text, "decode",
              truth.decode.text);
}

// --- Predict first ---

// Whether both guesses are set and the run has played to its end.
static bool may_tell(const struct panel_seen *seen) {
    return seen->stage->guess.stage == GUESS_SET && seen->now.at_end &&
           guess_true_decode_ppm(seen->run) >= 0;
}

// A knob with its guess and, once it may be told, a mark at the truth.
static void put_knob(struct panel_control *out, const struct panel_seen *seen, const char *label,
                     int ppm, struct figure guess, int true_ppm, struct figure truth) {
    out->kind = CONTROL_SLIDER;
    out->is_off = seen->stage->guess.stage == GUESS_SET;
    out->ppm = ppm;
    PANEL_SAY(out->label, seen, label);
    PANEL_SAY(out->value, seen, "predict.value", "value", guess.text);
    if (!may_tell(seen))
        return;
    out->mark_ppm = true_ppm;
    PANEL_SAY(out->mark_label, seen, "predict.true", "value", truth.text);
}

void panel_ttft_control(struct panel_control *out, const struct panel_seen *seen) {
    const struct run *run = seen->run;
    const struct guess *guess = &seen->stage->guess;
    int64_t ttft_ns = run_ttft_ns(run);
    out->tone = TONE_PREFILL;
    put_knob(out, seen, "predict.ttft", guess->ttft_ppm,
             run_time(&run->info, guess_ttft_ns(guess, run)), guess_ttft_ppm_of(ttft_ns, run),
             run_time(&run->info, ttft_ns));
}

void panel_decode_control(struct panel_control *out, const struct panel_seen *seen) {
    int ppm = seen->stage->guess.decode_ppm, true_ppm = guess_true_decode_ppm(seen->run);
    out->tone = TONE_DECODE;
    put_knob(out, seen, "predict.decode", ppm, panel_percent(ppm), true_ppm,
             panel_percent(true_ppm));
}

static void put_outcome(struct panel *out, const struct panel_seen *seen, const char *heading_key,
                        const char *nearness, struct figure guess, struct figure truth) {
    struct panel_block *block = panel_add_block(out, seen, heading_key);
    panel_append(block, seen, ' ', nearness, "guess", guess.text, "truth", truth.text, NULL);
}

// The guesses beside what came.
static void put_outcomes(struct panel *out, const struct panel_seen *seen) {
    const struct run *run = seen->run;
    int64_t ttft_ns = run_ttft_ns(run), guess_ns = guess_ttft_ns(&seen->stage->guess, run);
    put_outcome(out, seen, "predict.ttft", nearness_key(guess_nearness_of_time(guess_ns, ttft_ns)),
                run_time(&run->info, guess_ns), run_time(&run->info, ttft_ns));
    int decode_ppm = guess_true_decode_ppm(run);
    put_outcome(out, seen, "predict.decode",
                nearness_key(guess_nearness_of(seen->stage->guess.decode_ppm, decode_ppm)),
                panel_percent(seen->stage->guess.decode_ppm), panel_percent(decode_ppm));
}

void panel_put_predict(struct panel *out, const struct panel_seen *seen) {
    const struct guess *guess = &seen->stage->guess;
    struct panel_block *block = panel_add_block(out, seen, NULL);
    if (guess->stage != GUESS_SET) {
        panel_append(block, seen, ' ', "predict.question", NULL);
        PANEL_SAY(out->foot, seen, "predict.hint");
        return;
    }
    panel_append(block, seen, ' ', "predict.set", "ttft_guess",
                 run_time(&seen->run->info, guess_ttft_ns(guess, seen->run)).text, "decode_guess",
                 panel_percent(guess->decode_ppm).text, NULL);
    if (may_tell(seen)) {
        put_outcomes(out, seen);
        PANEL_SAY(out->foot, seen, "predict.came");
    } else if (!seen->now.at_end) {
        PANEL_SAY(out->foot, seen, "predict.plays");
    }
}
