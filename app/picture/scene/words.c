// Every word and number of a frame: captions, stamps, clock labels, read-outs.
// Each number says where it comes from through the origin stamp; what is not known
// yet is an em dash, never 0.
#include "app/picture/scene/parts.h"

#include <stdio.h>
#include <string.h>

static const char DASH[] = "\xE2\x80\x94";
static const char DOT[] = " \xC2\xB7 ";
static const char TIMES[] = "\xC3\x97";
static const char MINUS[] = "\xE2\x88\x92";

// A lesson counts in something that is no time ("units"); "ms" lessons read as time.
static bool counts_units(const struct run_info *info) {
    return info->origin == RUN_LESSON && strcmp(info->unit, "ms") != 0;
}

void scene_format_time(char *out, size_t bytes, const struct run_info *info, int64_t value_ns,
                       int64_t scale_ns) {
    static const struct {
        int64_t from_ns, unit_ns;
        int decimals;
        const char *unit;
    } forms[] = {
        {100000000000, 1000000000, 1, "s"}, {1000000000, 1000000000, 2, "s"},
        {100000000, 1000000, 0, "ms"},      {10000000, 1000000, 1, "ms"},
        {1000000, 1000000, 2, "ms"},        {100000, 1000, 0, "\xC2\xB5s"},
        {10000, 1000, 1, "\xC2\xB5s"},      {0, 1000, 2, "\xC2\xB5s"},
    };
    if (value_ns < 0) {
        snprintf(out, bytes, "%s", DASH);
        return;
    }
    if (counts_units(info)) {
        double units = (double)value_ns / (double)info->unit_ns;
        bool is_whole = scale_ns >= 10 * info->unit_ns || value_ns % info->unit_ns == 0;
        snprintf(out, bytes, "%.*f %s", is_whole ? 0 : 1, units, info->unit);
        return;
    }
    size_t form = 0;
    while (scale_ns < forms[form].from_ns && form + 1 < sizeof forms / sizeof forms[0])
        form++;
    snprintf(out, bytes, "%.*f %s", forms[form].decimals,
             (double)value_ns / (double)forms[form].unit_ns, forms[form].unit);
}

void scene_format_bytes(char *out, size_t bytes, int64_t value) {
    static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
    double scaled = (double)value;
    int unit = 0;
    while (scaled >= 1024 && unit < 4) {
        scaled /= 1024;
        unit++;
    }
    int decimals = unit == 0 || scaled >= 100 ? 0 : scaled >= 10 ? 1 : 2;
    bool is_whole = scaled - (double)(int64_t)scaled < 0.005;
    snprintf(out, bytes, "%.*f %s", is_whole ? 0 : decimals, scaled, units[unit]);
}

// A figure that stands still is shown with the decimals of its own size.
static void put_figure(char *out, size_t bytes, const struct run_info *info, int64_t value_ns) {
    scene_format_time(out, bytes, info, value_ns, value_ns);
}

static int64_t prefill_end_ns(const struct run_moment *now) {
    return now->prefill_done ? run_prefill_ns(now->run) : -1;
}

static int64_t last_answer_ns(const struct run_moment *now) {
    return now->answers > 0 ? run_answer_ns(now->run, now->answers - 1) : -1;
}

static const char *plural(int count) {
    return count == 1 ? "" : "s";
}

static void put_clock_labels(struct view *view, const struct run_moment *now,
                             const struct scene_options *options) {
    const struct run_info *info = &now->run->info;
    char time[32];
    if (options->scale_ns > 0)
        scene_format_time(view->scale_label, sizeof view->scale_label, info, options->scale_ns,
                          options->scale_ns);
    if (view->guess_ppm >= 0) {
        put_figure(time, sizeof time, info, options->guess_ns);
        snprintf(view->guess_label, sizeof view->guess_label, "your guess: %s, decode %d %%", time,
                 (options->guess_decode_ppm + 5000) / 10000);
    }
    int64_t prefill_ns = prefill_end_ns(now);
    if (prefill_ns >= 0) {
        put_figure(time, sizeof time, info, prefill_ns);
        snprintf(view->prefill_label, sizeof view->prefill_label, "prefill %s", time);
    } else if (now->t_ns > 0) {
        snprintf(view->prefill_label, sizeof view->prefill_label, "prefill");
    }
    int steps = now->steps_done;
    if (steps > 0) {
        int64_t steps_ns = run_pass_end_ns(now->run, now->passes_done - 1) - prefill_ns;
        put_figure(time, sizeof time, info, (steps_ns + steps / 2) / steps);
        snprintf(view->decode_label, sizeof view->decode_label, "decode, %s a step", time);
    } else if (view->decode_label_ppm >= 0) {
        snprintf(view->decode_label, sizeof view->decode_label, "decode");
    }
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
             "one token goes down alone; each layer reads what %d token%s saved", saved,
             plural(saved));
}

// Between two passes: on stills and after a step.
static void put_boundary_caption(struct view *view, const struct run_moment *now) {
    bool is_prefill = now->steps_done == 0;
    view->caption_tone = is_prefill ? TONE_PREFILL : TONE_DECODE;
    if (is_prefill && now->answers == 0)
        snprintf(view->caption, sizeof view->caption,
                 "prefill done: the KV cache holds %d token%s, no answer token yet",
                 now->cache_entries, plural(now->cache_entries));
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
    snprintf(view->caption, sizeof view->caption,
             "%d answer token%s: one pass for the prompt, then %d step%s", now->answers,
             plural(now->answers), steps, plural(steps));
}

// A step or a still shows an event settled, with words about what has come; a film
// that happens to hit the boundary says what it said the frame before.
static void put_caption(struct view *view, const struct run_moment *now,
                        const struct scene_options *options) {
    const struct run *run = now->run;
    bool is_settled = options->landed_ns >= now->t_ns;
    int pass = now->running >= 0 ? now->running : now->passes_done - 1;
    if (view->stage == VIEW_PROMPT) {
        view->caption_tone = TONE_QUIET;
        snprintf(view->caption, sizeof view->caption, "the prompt is ready: %d token%s",
                 run->info.prompt_tokens, plural(run->info.prompt_tokens));
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

static void put_device(char *out, size_t bytes, const struct run_info *info) {
    if (strcmp(info->device, "cpu") == 0)
        snprintf(out, bytes, "CPU, %d thread%s", info->threads, plural(info->threads));
    else
        snprintf(out, bytes, "%s", info->device_name[0] ? info->device_name : info->device);
}

// A prompt that waits for its first measurement: there is no time to speak of yet. The
// options say so, not the run: a prefix must show what the whole run shows.
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
                 info->model[0] ? DOT : "", info->model);
        return;
    }
    char device[100];
    put_device(device, sizeof device, info);
    bool is_bundled = strcmp(info->weights, "bundled") == 0;
    bool is_synthetic = strcmp(info->weights, "synthetic") == 0;
    snprintf(view->origin, sizeof view->origin, "%s%s%s%s%s%s", word, DOT, device, DOT,
             is_bundled ? "bundled model" : info->model, is_synthetic ? ", synthetic weights" : "");
}

struct factor {
    char text[24];
};

// "200", "2.5", "50,000".
static struct factor factor(double value) {
    struct factor out;
    int whole = (int)value;
    if (value < 10000)
        snprintf(out.text, sizeof out.text, "%.4g", value);
    else if (whole < 1000000)
        snprintf(out.text, sizeof out.text, "%d,%03d", whole / 1000, whole % 1000);
    else
        snprintf(out.text, sizeof out.text, "%d,%03d,%03d", whole / 1000000, whole / 1000 % 1000,
                 whole % 1000);
    return out;
}

static void put_rate(struct view *view, const struct run_moment *now,
                     const struct scene_options *options) {
    const struct run_info *info = &now->run->info;
    struct playhead_rate rate = options->rate;
    const char *prefix = options->is_live ? "live, " : "";
    if (is_unmeasured(options))
        return;
    const char *than = info->origin == RUN_LESSON ? "than the lesson's clock" : "than measured";
    if (counts_units(info))
        snprintf(view->rate, sizeof view->rate, "%s%.4g %s a second", prefix,
                 1e9 * rate.num / rate.den / (double)info->unit_ns, info->unit);
    else if (playhead_rate_is_real_time(rate))
        snprintf(view->rate, sizeof view->rate, "%sreal time", prefix);
    else if (rate.num < rate.den)
        snprintf(view->rate, sizeof view->rate, "%s%s%s slower %s", prefix,
                 factor((double)rate.den / rate.num).text, TIMES, than);
    else
        snprintf(view->rate, sizeof view->rate, "%s%s%s faster %s", prefix,
                 factor((double)rate.num / rate.den).text, TIMES, than);
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
    snprintf(out.value, sizeof out.value, "%s", DASH);
    return out;
}

static void put_times(struct view *view, const struct run_moment *now,
                      const struct scene_options *options) {
    const struct run *run = now->run;
    const struct run_info *info = &run->info;
    struct view_readout time = readout("TIME", "time since the request", TONE_INK);
    if (options->scale_ns > 0)
        scene_format_time(time.value, sizeof time.value, info, now->shown_ns, options->scale_ns);
    view_add_readout(view, &time);

    struct view_readout ttft =
        readout("TTFT", "time to first token: from the request to answer token 1", TONE_PREFILL);
    if (now->answers > 0)
        put_figure(ttft.value, sizeof ttft.value, info, run_ttft_ns(run));
    view_add_readout(view, &ttft);

    struct view_readout tpot = readout("TPOT", "", TONE_DECODE);
    snprintf(tpot.formula, sizeof tpot.formula,
             "time per output token: (time of token N %s TTFT) / (N %s 1)", MINUS, MINUS);
    if (now->answers > 1) {
        int gaps = now->answers - 1;
        int64_t gaps_ns = last_answer_ns(now) - run_ttft_ns(run);
        put_figure(tpot.value, sizeof tpot.value, info, (gaps_ns + gaps / 2) / gaps);
    }
    view_add_readout(view, &tpot);
}

static void put_cache(struct view *view, const struct run_moment *now) {
    const struct run_info *info = &now->run->info;
    struct view_readout cache = readout("KV CACHE", "", TONE_READ);
    snprintf(cache.formula, sizeof cache.formula,
             "2 %s layers %s KV heads %s head size %s bytes %s tokens", TIMES, TIMES, TIMES, TIMES,
             TIMES);
    snprintf(cache.value, sizeof cache.value, "%d token%s", now->cache_entries,
             plural(now->cache_entries));
    int64_t entry_bytes = run_cache_entry_bytes(now->run);
    if (info->origin != RUN_LESSON && entry_bytes > 0)
        scene_format_bytes(cache.note, sizeof cache.note, entry_bytes * now->cache_entries);
    view_add_readout(view, &cache);
}

static void put_shares(struct view *view, const struct run_moment *now) {
    struct view_readout share =
        readout("DECODE SHARE", "decode time so far / time so far", TONE_DECODE);
    int64_t prefill_ns = prefill_end_ns(now);
    if (prefill_ns >= 0 && now->shown_ns > 0)
        snprintf(share.value, sizeof share.value, "%.0f %%",
                 100 * (double)(now->shown_ns - prefill_ns) / (double)now->shown_ns);
    view_add_readout(view, &share);

    struct view_readout total =
        readout("TOTAL", "E2E: from the request to the last answer token", TONE_INK);
    if (now->at_end && now->run->state == RUN_COMPLETE)
        put_figure(total.value, sizeof total.value, &now->run->info, run_e2e_ns(now->run));
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
