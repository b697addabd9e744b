// The two questions: "where does the time go?" (a bar to divide) and "predict first" (two
// knobs before the run plays). What is revealed is computed from this run, and only after
// it was asked for: the split by its button, the guesses by the run's own end.
#include "app/picture/panel/parts.h"
#include "compute/base/num.h"

#include <stdio.h>

// --- Where does the time go? ---

struct shares {
    struct figure prefill, decode;
};

// The two percents add up to 100 on the screen as they do in truth.
static struct shares shares_of(int prefill_ppm) {
    int percent = percent_of_ppm(prefill_ppm);
    return (struct shares){figure_percent(percent), figure_percent(100 - percent)};
}

// The truth if it may be told now, else -1.
static int split_truth_ppm(const struct panel_seen *seen) {
    int decode_ppm = guess_true_decode_ppm(seen->run);
    return seen->stage->guess.is_split_set && decode_ppm >= 0 ? VIEW_PPM - decode_ppm : -1;
}

static const char *nearness_key(int guessed_ppm, int true_ppm) {
    static const char *const keys[] = {
        [GUESS_CLOSE] = "reveal.close", [GUESS_NEAR] = "reveal.near", [GUESS_FAR] = "reveal.far"};
    return keys[guess_nearness_of(guessed_ppm, true_ppm)];
}

// The figures, then the verdict with its reason, then the guess beside the truth. The
// figures are those of the whole run, whatever the moment.
static void put_reveal(struct panel_block *block, const struct panel_seen *seen, int prefill_ppm) {
    static const char *const verdicts[] = {[VERDICT_DECODE] = "reveal.decode",
                                           [VERDICT_PREFILL] = "reveal.prefill",
                                           [VERDICT_EVEN] = "reveal.even"};
    const struct run *run = seen->run;
    struct shares truth = shares_of(prefill_ppm), guess = shares_of(seen->stage->guess.split_ppm);
    char origin[PANEL_WORD_BYTES];
    panel_append(
        block, seen, ' ', verdicts[guess_verdict_of(run)],
        (const char *const[]){"prefill", truth.prefill.text, "decode", truth.decode.text, NULL});
    panel_say(origin, sizeof origin, seen, panel_origin_key(run), NULL);
    panel_append(block, seen, ' ', "reveal.figures",
                 (const char *const[]){"prefill", run_time(&run->info, run_prefill_ns(run)).text,
                                       "decode", run_time(&run->info, run_decode_ns(run)).text,
                                       "origin", origin, NULL});
    panel_append(
        block, seen, '\n', nearness_key(seen->stage->guess.split_ppm, prefill_ppm),
        (const char *const[]){"guess", guess.decode.text, "truth", truth.decode.text, NULL});
}

// The question itself is the page's.
void panel_put_split(struct panel *out, const struct panel_seen *seen) {
    if (!seen->stage->guess.is_split_set)
        return;
    struct panel_block *block = panel_add_block(out, seen, "reveal.heading");
    int prefill_ppm = split_truth_ppm(seen);
    if (block && prefill_ppm < 0)
        panel_append(block, seen, ' ', "reveal.none", NULL);
    else if (block)
        put_reveal(block, seen, prefill_ppm);
}

void panel_split_control(struct panel_control *out, const struct panel_seen *seen) {
    struct shares guess = shares_of(seen->stage->guess.split_ppm);
    out->kind = CONTROL_SPLIT;
    out->tone = TONE_PREFILL;
    out->ppm = seen->stage->guess.split_ppm;
    panel_say(out->label, sizeof out->label, seen, "split.label", NULL);
    panel_say(
        out->value, sizeof out->value, seen, "split.value",
        (const char *const[]){"prefill", guess.prefill.text, "decode", guess.decode.text, NULL});
    out->mark_ppm = split_truth_ppm(seen);
    if (out->mark_ppm < 0)
        return;
    struct shares truth = shares_of(out->mark_ppm);
    panel_say(
        out->mark_label, sizeof out->mark_label, seen, "split.true",
        (const char *const[]){"prefill", truth.prefill.text, "decode", truth.decode.text, NULL});
}

// --- Predict first ---

// The run has been seen to its end with both guesses standing.
static bool may_tell(const struct panel_seen *seen) {
    return seen->stage->guess.stage == GUESS_SET && seen->now.at_end &&
           guess_true_decode_ppm(seen->run) >= 0;
}

static void put_knob(struct panel_control *out, const struct panel_seen *seen, const char *label,
                     struct figure value) {
    out->kind = CONTROL_SLIDER;
    out->is_off = seen->stage->guess.stage == GUESS_SET;
    panel_say(out->label, sizeof out->label, seen, label, NULL);
    panel_say(out->value, sizeof out->value, seen, "predict.value",
              (const char *const[]){"value", value.text, NULL});
}

static void put_mark(struct panel_control *out, const struct panel_seen *seen, int ppm,
                     struct figure value) {
    out->mark_ppm = ppm;
    panel_say(out->mark_label, sizeof out->mark_label, seen, "predict.true",
              (const char *const[]){"value", value.text, NULL});
}

void panel_ttft_control(struct panel_control *out, const struct panel_seen *seen) {
    const struct run *run = seen->run;
    out->tone = TONE_PREFILL;
    out->ppm = seen->stage->guess.ttft_ppm;
    put_knob(out, seen, "predict.ttft",
             run_time(&run->info, guess_ttft_ns(&seen->stage->guess, run)));
    if (!may_tell(seen))
        return;
    int64_t ttft_ns = run_ttft_ns(run);
    put_mark(out, seen, guess_ttft_ppm_of(ttft_ns, run), run_time(&run->info, ttft_ns));
}

void panel_decode_control(struct panel_control *out, const struct panel_seen *seen) {
    out->tone = TONE_DECODE;
    out->ppm = seen->stage->guess.decode_ppm;
    put_knob(out, seen, "predict.decode", panel_percent(seen->stage->guess.decode_ppm));
    if (!may_tell(seen))
        return;
    int decode_ppm = guess_true_decode_ppm(seen->run);
    put_mark(out, seen, decode_ppm, panel_percent(decode_ppm));
}

static void put_outcome(struct panel *out, const struct panel_seen *seen, const char *heading_key,
                        const char *nearness, struct figure guess, struct figure truth) {
    struct panel_block *block = panel_add_block(out, seen, heading_key);
    panel_append(block, seen, ' ', nearness,
                 (const char *const[]){"guess", guess.text, "truth", truth.text, NULL});
}

// Guesses beside what came. A first token's nearness is judged on the knob's way: 5
// points of three decades are a factor of 1.4, 15 points 2.8.
static void put_outcomes(struct panel *out, const struct panel_seen *seen) {
    const struct run *run = seen->run;
    int64_t ttft_ns = run_ttft_ns(run);
    put_outcome(out, seen, "predict.ttft",
                nearness_key(seen->stage->guess.ttft_ppm, guess_ttft_ppm_of(ttft_ns, run)),
                run_time(&run->info, guess_ttft_ns(&seen->stage->guess, run)),
                run_time(&run->info, ttft_ns));
    int decode_ppm = guess_true_decode_ppm(run);
    put_outcome(out, seen, "predict.decode",
                nearness_key(seen->stage->guess.decode_ppm, decode_ppm),
                panel_percent(seen->stage->guess.decode_ppm), panel_percent(decode_ppm));
}

void panel_put_predict(struct panel *out, const struct panel_seen *seen) {
    panel_say(out->title, sizeof out->title, seen, "title.predict", NULL);
    out->title_tone = TONE_INK;
    struct panel_block *block = panel_add_block(out, seen, NULL);
    if (seen->stage->guess.stage != GUESS_SET) {
        panel_append(block, seen, ' ', "predict.question", NULL);
        panel_say(out->foot, sizeof out->foot, seen, "predict.hint", NULL);
        return;
    }
    struct figure ttft = run_time(&seen->run->info, guess_ttft_ns(&seen->stage->guess, seen->run));
    struct figure decode = panel_percent(seen->stage->guess.decode_ppm);
    panel_append(block, seen, ' ', "predict.set",
                 (const char *const[]){"ttft_guess", ttft.text, "decode_guess", decode.text, NULL});
    if (may_tell(seen)) {
        put_outcomes(out, seen);
        panel_say(out->foot, sizeof out->foot, seen, "predict.came", NULL);
    } else if (!seen->now.at_end) {
        panel_say(out->foot, sizeof out->foot, seen, "predict.plays", NULL);
    }
}
