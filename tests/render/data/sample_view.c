// See sample_view.h. The words are those of the bundled prompt and answer, repeated
// for longer ones; times are a lesson's: prefill 9.6 ms, a step 3.3 ms.
#include "tests/render/data/sample_view.h"

#include <stdio.h>
#include <string.h>

struct word {
    const char *text;
    uint8_t look, leading_space;
};

static const struct word PROMPT[] = {
    {"\xE2\x9F\xA8s\xE2\x9F\xA9", TOKEN_CONTROL, 0},
    {"You", TOKEN_WORD, 1},
    {"are", TOKEN_WORD, 1},
    {"a", TOKEN_WORD, 1},
    {"support", TOKEN_WORD, 1},
    {"agent", TOKEN_WORD, 1},
    {".", TOKEN_WORD, 0},
    {"Answer", TOKEN_WORD, 1},
    {"from", TOKEN_WORD, 1},
    {"the", TOKEN_WORD, 1},
    {"policy", TOKEN_WORD, 1},
    {".", TOKEN_WORD, 0},
    {"Where", TOKEN_WORD, 1},
    {"is", TOKEN_WORD, 1},
    {"my", TOKEN_WORD, 1},
    {"par", TOKEN_WORD, 1},
    {"cel", TOKEN_WORD, 0},
    {"?", TOKEN_WORD, 0},
};
static const struct word ANSWER[] = {
    {"Your", TOKEN_WORD, 1},    {"par", TOKEN_WORD, 1},   {"cel", TOKEN_WORD, 0},
    {"arrives", TOKEN_WORD, 1}, {"today", TOKEN_WORD, 1}, {".", TOKEN_WORD, 0},
};
// Now and then something else in a long answer.
static const struct word ODD[] = {
    {"\xE2\x8F\x8E", TOKEN_BLANK, 0},
    {"E2 82", TOKEN_BYTES, 0},
    {"\xE2\x90\xA3", TOKEN_BLANK, 0},
    {"internationalisation", TOKEN_WORD, 1},
};

enum { PROMPT_WORDS = sizeof PROMPT / sizeof PROMPT[0], ANSWER_WORDS = 6, ODD_EVERY = 17 };

static const int64_t PREFILL_US = 9600, STEP_US = 3300;

static void put_token(struct view *view, int i, struct word word) {
    view->tokens[i] = (struct view_token){.look = word.look, .leading_space = word.leading_space};
    snprintf(view->tokens[i].text, VIEW_TOKEN_BYTES, "%s", word.text);
}

static struct word answer_word(const struct sample *sample, int i) {
    static const struct word END = {"\xE2\x9F\xA8"
                                    "end\xE2\x9F\xA9",
                                    TOKEN_CONTROL, 0};
    if (i == sample->answers - 1 && sample->answers > 1)
        return END;
    if (i % ODD_EVERY == ODD_EVERY - 1)
        return ODD[i / ODD_EVERY % 4];
    return ANSWER[i % ANSWER_WORDS];
}

// Answers measured out before the moment's pass has yielded its own.
static int answers_before(const struct sample *sample) {
    int pass = sample->moment.pass;
    if (sample->is_complete)
        return sample->answers;
    int out = sample->is_charged ? pass - 1 : pass;
    return out < 0 ? 0 : out > sample->answers ? sample->answers : out;
}

static void put_tokens(struct view *view, const struct sample *sample) {
    int out = answers_before(sample);
    view->token_count = sample->prompt_tokens + out;
    if (view->token_count > VIEW_MAX_TOKENS)
        view->token_count = VIEW_MAX_TOKENS;
    for (int i = 0; i < view->token_count; i++) {
        if (i < sample->prompt_tokens)
            put_token(view, i, PROMPT[i % PROMPT_WORDS]);
        else
            put_token(view, i, answer_word(sample, i - sample->prompt_tokens));
    }
    if (out > 0 && !sample->is_charged)
        view->tokens[sample->prompt_tokens].is_prefill = 1;
}

static void put_pass(struct view *view, const struct sample *sample) {
    const struct sample_moment *at = &sample->moment;
    int prompt = sample->prompt_tokens;
    view->headers = prompt;
    if (sample->is_complete) {
        view->full_columns = prompt + sample->answers - 1;
        view->headers = view->full_columns;
        return;
    }
    if (at->pass < 0)
        return;
    bool is_charged = sample->is_charged && at->pass == 1;
    // In charged counting pass 2 is the first that feeds an answer token back.
    int fed = at->pass == 0 ? 0 : sample->is_charged ? at->pass - 1 : at->pass;
    view->full_columns = at->pass == 0 ? 0 : prompt + (fed > 0 ? fed - 1 : 0);
    view->pass = (struct view_pass){
        .active = true,
        .is_prefill = at->pass == 0,
        .is_charged = is_charged,
        .first_column = at->pass == 0 ? 0 : view->full_columns,
        .column_count = at->pass == 0 ? prompt
                        : is_charged  ? 0
                                      : 1,
        .stage = at->stage,
        .progress_ppm = at->progress_ppm,
    };
    if (at->pass > 0 && !is_charged)
        view->headers = view->full_columns + 1;
}

static void put_drop(struct view *view, const struct sample *sample) {
    const struct sample_moment *at = &sample->moment;
    int out = answers_before(sample), column = sample->prompt_tokens - 1 + out;
    if (sample->is_complete || at->pass < 0)
        return;
    bool yields = !(at->pass == 0 && sample->is_charged);
    if (yields && at->stage == sample->layers + 1 && out < sample->answers)
        view->drop = (struct view_drop){
            .column = column,
            .is_prefill = at->pass == 0,
            .grown_ppm = at->falling_ppm > 0 ? VIEW_PPM : at->progress_ppm,
            .fallen_ppm = at->falling_ppm,
        };
    else if (out > 0)
        view->trail = (struct view_trail){
            .column = column - 1,
            .is_prefill = out == 1 && !sample->is_charged,
            .light_ppm = at->falling_ppm,
        };
}

// Time from the request to the moment, in us, every stage of a pass alike.
static int64_t now_us(const struct sample *sample) {
    const struct sample_moment *at = &sample->moment;
    int steps = sample->is_charged ? sample->answers : sample->answers - 1;
    if (sample->is_complete)
        return PREFILL_US + steps * STEP_US;
    if (at->pass < 0)
        return 0;
    int64_t length = at->pass == 0 ? PREFILL_US : STEP_US;
    int64_t start = at->pass == 0 ? 0 : PREFILL_US + (at->pass - 1) * STEP_US;
    int64_t stages = sample->layers + 2;
    return start + length * ((int64_t)at->stage * VIEW_PPM + at->progress_ppm) / stages / VIEW_PPM;
}

static void put_clock(struct view *view, const struct sample *sample) {
    int steps = sample->is_charged ? sample->answer_limit : sample->answer_limit - 1;
    int64_t scale_us = PREFILL_US + steps * STEP_US, now = now_us(sample);
    int passes = sample->is_complete ? sample->answers + (sample->is_charged ? 1 : 0)
                                     : sample->moment.pass + 1;
    for (int p = 0; p < passes; p++) {
        int64_t from = p == 0 ? 0 : PREFILL_US + (p - 1) * STEP_US;
        int64_t to = p == 0 ? PREFILL_US : from + STEP_US;
        to = to < now ? to : now;
        view_add_span(view, (struct view_span){(int)(from * VIEW_PPM / scale_us),
                                               (int)(to * VIEW_PPM / scale_us), p == 0,
                                               sample->is_charged && p == 1});
    }
    view->playhead_ppm = (int)(now * VIEW_PPM / scale_us);
    view->decode_label_ppm = passes > 1 ? (int)(PREFILL_US * VIEW_PPM / scale_us) : -1;
    if (passes > 0)
        snprintf(view->prefill_label, sizeof view->prefill_label,
                 passes > 1 ? "prefill 9.60 ms" : "prefill");
    if (passes > 1)
        snprintf(view->decode_label, sizeof view->decode_label, "decode, 3.30 ms a step");
    snprintf(view->scale_label, sizeof view->scale_label, "%.1f ms", (double)scale_us / 1000);
}

static void put_readout(struct view *view, const char *label, const char *value, uint8_t tone) {
    struct view_readout readout = {.tone = tone};
    snprintf(readout.label, sizeof readout.label, "%s", label);
    snprintf(readout.value, sizeof readout.value, "%s", value);
    snprintf(readout.formula, sizeof readout.formula, "how %s is worked out", label);
    view_add_readout(view, &readout);
}

static void put_readouts(struct view *view, const struct sample *sample) {
    int out = answers_before(sample);
    char time[32], cache[32], share[32];
    int64_t now = now_us(sample);
    snprintf(time, sizeof time, "%.1f ms", (double)now / 1000);
    snprintf(cache, sizeof cache, "%d tokens", view->full_columns);
    snprintf(share, sizeof share, "%d %%",
             now > PREFILL_US ? (int)((now - PREFILL_US) * 100 / now) : 0);
    put_readout(view, "TIME", time, TONE_INK);
    put_readout(view, "TTFT", out > 0 ? "9.60 ms" : "\xE2\x80\x94", TONE_PREFILL);
    put_readout(view, "TPOT", out > 1 ? "3.30 ms" : "\xE2\x80\x94", TONE_DECODE);
    put_readout(view, "KV CACHE", cache, TONE_READ);
    snprintf(view->readouts[3].note, sizeof view->readouts[3].note, "%d KiB",
             view->full_columns * 8);
    put_readout(view, "SHARE", now > PREFILL_US ? share : "\xE2\x80\x94", TONE_DECODE);
    put_readout(view, "TOTAL", sample->is_complete ? time : "\xE2\x80\x94", TONE_INK);
}

static void put_words(struct view *view, const struct sample *sample) {
    static const char *const HEADLINES[] = {"The prompt is ready",
                                            "Prefill: one pass over the prompt",
                                            "Decode: one token per step", "The answer is complete"};
    snprintf(view->title, sizeof view->title, "Two stages of an answer");
    snprintf(view->headline, sizeof view->headline, "%s", HEADLINES[view->stage]);
    snprintf(view->origin[0], sizeof view->origin[0],
             "measured \xC2\xB7 CPU, 2 threads \xC2\xB7 bundled model");
    view->origin_tone = TONE_READ;
    snprintf(view->rate, sizeof view->rate, "200\xC3\x97 slower than measured");
    static const uint8_t TONES[] = {TONE_QUIET, TONE_PREFILL, TONE_DECODE, TONE_INK};
    view->caption_tone = TONES[view->stage];
    switch (view->stage) {
    case VIEW_PROMPT:
        snprintf(view->caption, sizeof view->caption, "the prompt is ready: %d tokens",
                 sample->prompt_tokens);
        break;
    case VIEW_PREFILL:
        snprintf(view->caption, sizeof view->caption,
                 "%d tokens side by side, layer after layer: one pass", sample->prompt_tokens);
        break;
    case VIEW_DECODE:
        snprintf(view->caption, sizeof view->caption,
                 "one token goes down alone; each layer reads what %d tokens saved",
                 view->full_columns);
        break;
    default:
        snprintf(view->caption, sizeof view->caption,
                 "%d answer tokens: one pass for the prompt, then %d steps one after another",
                 sample->answers, sample->answers - 1);
    }
}

void sample_view(struct view *view, const struct sample *sample) {
    view_clear(view);
    view->layers = sample->layers;
    view->prompt_tokens = sample->prompt_tokens;
    view->answer_limit = sample->answer_limit;
    view->columns = sample->prompt_tokens + sample->answer_limit - 1;
    view->stage = sample->is_complete        ? VIEW_DONE
                  : sample->moment.pass < 0  ? VIEW_PROMPT
                  : sample->moment.pass == 0 ? VIEW_PREFILL
                                             : VIEW_DECODE;
    view->is_finished = sample->is_complete;
    put_tokens(view, sample);
    put_pass(view, sample);
    put_drop(view, sample);
    put_clock(view, sample);
    put_readouts(view, sample);
    put_words(view, sample);
}

struct layout_input sample_input(const struct sample *sample, int width_px, int height_px,
                                 enum layout_mode mode) {
    return (struct layout_input){
        .width_px = width_px,
        .height_px = height_px,
        .mode = mode,
        .layers = sample->layers,
        .prompt_tokens = sample->prompt_tokens,
        .columns = sample->prompt_tokens + sample->answer_limit - 1,
        .answer_limit = sample->answer_limit,
        .readouts = 6,
    };
}
