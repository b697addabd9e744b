// Every word and number of the stage: captions, stamps, clock labels, read-outs. The origin
// stamp says where the numbers come from; what is not known yet is an em dash, never 0.
#include "app/picture/scene/parts.h"

#include "compute/base/num.h"
#include "compute/run/words.h"

#include <stdio.h>
#include <string.h>

static void put_clock_labels(struct view *view, const struct run_moment *now,
                             const struct scene_options *options) {
    const struct run_info *info = &now->run->info;
    if (options->scale_ns > 0)
        snprintf(view->scale_label, sizeof view->scale_label, "%s",
                 run_time(info, options->scale_ns).text);
    if (view->guess_ppm >= 0)
        snprintf(view->guess_label, sizeof view->guess_label, "your guess: %s, decode %s",
                 run_time(info, options->guess_ns).text,
                 figure_percent(percent_of_ppm(options->guess_decode_ppm)).text);
    if (now->prefill_done)
        snprintf(view->prefill_label, sizeof view->prefill_label, "prefill %s",
                 run_time(info, now->prefill_ns).text);
    else if (now->t_ns > 0)
        snprintf(view->prefill_label, sizeof view->prefill_label, "prefill");
    if (now->steps_done > 0)
        snprintf(view->decode_label, sizeof view->decode_label, "decode, %s a step",
                 run_time(info, now->step_ns).text);
    else if (view->decode_label_ppm >= 0)
        snprintf(view->decode_label, sizeof view->decode_label, "decode");
}

static void put_prefill_caption(struct view *view, const struct run_moment *now) {
    int prompt = now->run->info.prompt_tokens;
    view->caption_tone = TONE_PREFILL;
    if (prompt == 1)
        snprintf(view->caption, sizeof view->caption, "1 token, layer after layer: one pass");
    else
        snprintf(view->caption, sizeof view->caption,
                 "%d tokens side by side, layer after layer: one pass", prompt);
}

static void put_decode_caption(struct view *view, const struct run_pass *pass) {
    view->caption_tone = TONE_DECODE;
    if (pass->column_count == 0) {
        snprintf(view->caption, sizeof view->caption,
                 "the lesson charges one step for the first token; engines get it from prefill");
        return;
    }
    int saved = pass->first_column;
    snprintf(view->caption, sizeof view->caption,
             "one token goes down alone; each layer reads what %s saved",
             figure_counted(saved, false, "token").text);
}

// Between two passes: on stills and after a step.
static void put_boundary_caption(struct view *view, const struct run_moment *now) {
    bool is_prefill = now->steps_done == 0;
    view->caption_tone = is_prefill ? TONE_PREFILL : TONE_DECODE;
    if (is_prefill && now->answers == 0)
        snprintf(view->caption, sizeof view->caption,
                 "prefill done: the KV cache holds %s, no answer token yet",
                 figure_counted(now->cache_entries, false, "token").text);
    else if (is_prefill)
        snprintf(view->caption, sizeof view->caption,
                 "prefill done: answer token 1 came out of the last column");
    else
        snprintf(view->caption, sizeof view->caption,
                 "answer token %d is out; it is not in the KV cache until it is fed back",
                 now->answers);
}

static void put_done_caption(struct view *view, const struct run_moment *now) {
    int steps = now->steps_done;
    view->caption_tone = TONE_INK;
    snprintf(view->caption, sizeof view->caption, "%s: one pass for the prompt, then %s",
             figure_counted(now->answers, false, "answer token").text,
             figure_counted(steps, false, "step").text);
}

// A step or a still shows an event with all drops landed, and the caption says what has come.
// A film that happens to show exactly that moment keeps the caption of the frame before.
static void put_caption(struct view *view, const struct run_moment *now,
                        const struct scene_options *options) {
    const struct run *run = now->run;
    bool is_settled = options->landed_ns >= now->t_ns;
    int pass = now->running >= 0 ? now->running : now->passes_done - 1;
    if (view->stage == VIEW_PROMPT) {
        view->caption_tone = TONE_QUIET;
        snprintf(view->caption, sizeof view->caption, "the prompt is ready: %s",
                 figure_counted(run->info.prompt_tokens, false, "token").text);
    } else if (now->at_end) {
        put_done_caption(view, now);
    } else if (now->running < 0 && is_settled) {
        put_boundary_caption(view, now);
    } else if (run->passes[pass].phase == RUN_PREFILL) {
        put_prefill_caption(view, now);
    } else {
        put_decode_caption(view, &run->passes[pass]);
    }
}

static void put_headline(struct view *view) {
    static const char *const headlines[] = {
        [VIEW_PROMPT] = "The prompt is ready",
        [VIEW_PREFILL] = "Prefill: one pass over the prompt",
        [VIEW_DECODE] = "Decode: one token per step",
        [VIEW_DONE] = "The answer is complete",
    };
    snprintf(view->title, sizeof view->title, "Two stages of an answer");
    snprintf(view->headline, sizeof view->headline, "%s", headlines[view->stage]);
}

// True for a prompt that waits for its first measurement. The options say so, not the run,
// since a prefix must show what the whole run shows.
static bool is_unmeasured(const struct scene_options *options) {
    return options->scale_ns <= 0;
}

static void put_origin(struct view *view, const struct run_moment *now,
                       const struct scene_options *options) {
    const struct run_info *info = &now->run->info;
    const char *word = is_unmeasured(options)         ? "not measured yet"
                       : info->origin == RUN_MODELLED ? "modelled from a measured run"
                       : info->cold                   ? "measured, cold run"
                                                      : "measured";
    bool is_measured = info->origin == RUN_MEASURED && !is_unmeasured(options);
    view->origin_tone = is_measured ? TONE_READ : TONE_QUIET;
    if (info->origin == RUN_LESSON) {
        snprintf(view->origin, sizeof view->origin, "lesson units, not measured%s%s",
                 info->model[0] ? SIGN_DOT : "", info->model);
        return;
    }
    bool is_bundled = strcmp(info->weights, "bundled") == 0;
    bool is_synthetic = strcmp(info->weights, "synthetic") == 0;
    snprintf(view->origin, sizeof view->origin, "%s" SIGN_DOT "%s" SIGN_DOT "%s%s", word,
             run_device(info, true).text, is_bundled ? "bundled model" : info->model,
             is_synthetic ? ", synthetic weights" : "");
}

static void put_rate(struct view *view, const struct run_moment *now,
                     const struct scene_options *options) {
    const struct run_info *info = &now->run->info;
    struct playhead_rate rate = options->rate;
    const char *prefix = options->is_live ? "live, " : "";
    if (is_unmeasured(options))
        return;
    const char *than = info->origin == RUN_LESSON ? "than the lesson's clock" : "than measured";
    if (run_counts_units(info))
        snprintf(view->rate, sizeof view->rate, "%s%.4g %s a second", prefix,
                 1e9 * rate.num / rate.den / (double)info->unit_ns, info->unit);
    else if (playhead_rate_is_real_time(rate))
        snprintf(view->rate, sizeof view->rate, "%sreal time", prefix);
    else if (rate.num < rate.den)
        snprintf(view->rate, sizeof view->rate, "%s%s" SIGN_TIMES " slower %s", prefix,
                 figure_factor((double)rate.den / rate.num).text, than);
    else
        snprintf(view->rate, sizeof view->rate, "%s%s" SIGN_TIMES " faster %s", prefix,
                 figure_factor((double)rate.num / rate.den).text, than);
}

static void put_note(struct view *view, const struct run_moment *now,
                     const struct scene_options *options) {
    const struct run *run = now->run;
    if (options->is_measuring)
        snprintf(view->note, sizeof view->note, "measuring");
    else if (run->state == RUN_FAILED && now->at_end && now->marks > 0)
        snprintf(view->note, sizeof view->note, "the measurement ended early");
    else if (run->info.forced_length)
        snprintf(view->note, sizeof view->note, "length forced past the end token");
}

static struct view_readout readout(const char *label, const char *formula, enum view_tone tone) {
    struct view_readout out = {.tone = (uint8_t)tone};
    snprintf(out.label, sizeof out.label, "%s", label);
    snprintf(out.formula, sizeof out.formula, "%s", formula);
    snprintf(out.value, sizeof out.value, SIGN_DASH);
    return out;
}

static void put_times(struct view *view, const struct run_moment *now,
                      const struct scene_options *options) {
    const struct run_info *info = &now->run->info;
    struct view_readout time = readout("TIME", "time since the request", TONE_INK);
    if (options->scale_ns > 0)
        snprintf(time.value, sizeof time.value, "%s",
                 run_time_on(info, now->shown_ns, options->scale_ns).text);
    view_add_readout(view, &time);

    struct view_readout ttft =
        readout("TTFT", "time to first token: from the request to answer token 1", TONE_PREFILL);
    snprintf(ttft.value, sizeof ttft.value, "%s", run_time(info, now->ttft_ns).text);
    view_add_readout(view, &ttft);

    struct view_readout tpot = readout("TPOT",
                                       "time per output token: (time of token N " SIGN_MINUS
                                       " TTFT) / (N " SIGN_MINUS " 1)",
                                       TONE_DECODE);
    snprintf(tpot.value, sizeof tpot.value, "%s", run_time(info, now->tpot_ns).text);
    view_add_readout(view, &tpot);
}

static void put_cache(struct view *view, const struct run_moment *now) {
    const struct run_info *info = &now->run->info;
    struct view_readout cache =
        readout("KV CACHE",
                "2 " SIGN_TIMES " layers " SIGN_TIMES " KV heads " SIGN_TIMES
                " head size " SIGN_TIMES " bytes " SIGN_TIMES " tokens",
                TONE_READ);
    snprintf(cache.value, sizeof cache.value, "%s",
             figure_counted(now->cache_entries, false, "token").text);
    int64_t entry_bytes = run_cache_entry_bytes(now->run);
    if (info->origin != RUN_LESSON && entry_bytes > 0)
        snprintf(cache.note, sizeof cache.note, "%s",
                 figure_bytes(entry_bytes * now->cache_entries).text);
    view_add_readout(view, &cache);
}

static void put_shares(struct view *view, const struct run_moment *now) {
    struct view_readout share =
        readout("DECODE SHARE", "decode time so far / time so far", TONE_DECODE);
    int64_t decode_ns = now->shown_ns - now->prefill_ns;
    if (now->prefill_done && now->shown_ns > 0)
        snprintf(share.value, sizeof share.value, "%s",
                 figure_percent(100 * (double)decode_ns / (double)now->shown_ns).text);
    view_add_readout(view, &share);

    struct view_readout total =
        readout("TOTAL", "E2E: from the request to the last answer token", TONE_INK);
    if (now->at_end && now->run->state == RUN_COMPLETE)
        snprintf(total.value, sizeof total.value, "%s",
                 run_time(&now->run->info, run_e2e_ns(now->run)).text);
    view_add_readout(view, &total);
}

void scene_put_words(struct view *view, const struct run_moment *now,
                     const struct scene_options *options) {
    put_headline(view);
    put_origin(view, now, options);
    put_rate(view, now, options);
    put_note(view, now, options);
    put_caption(view, now, options);
    put_clock_labels(view, now, options);
    put_times(view, now, options);
    put_cache(view, now);
    put_shares(view, now);
}
