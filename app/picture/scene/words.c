// Every word and number of the stage: captions, stamps, clock labels, read-outs. The origin
// stamp says where the numbers come from; what is not known yet is an em dash, never 0.
#include "app/picture/scene/parts.h"

#include "compute/base/num.h"
#include "compute/base/words.h"
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
        WORDS_SAY(view->guess_label, "clock.guess", "time", run_time(info, options->guess_ns).text,
                  "share", figure_share((double)options->guess_decode_ppm / VIEW_PPM).text);
    if (now->prefill_done)
        WORDS_SAY(view->prefill_label, "clock.prefill", "time",
                  run_time(info, now->prefill_ns).text);
    else if (now->t_ns > 0)
        WORDS_SAY(view->prefill_label, "clock.prefill_going");
    if (now->steps_done > 0)
        WORDS_SAY(view->decode_label, "clock.decode", "time", run_time(info, now->step_ns).text);
    else if (view->decode_label_ppm >= 0)
        WORDS_SAY(view->decode_label, "clock.decode_going");
}

static void put_prefill_caption(struct view *view, const struct run_moment *now) {
    int prompt = now->run->info.prompt_tokens;
    view->caption_tone = TONE_PREFILL;
    WORDS_SAY(view->caption, prompt == 1 ? "caption.prefill_one" : "caption.prefill", "count",
              figure_count(prompt, false).text);
}

static void put_decode_caption(struct view *view, const struct run_pass *pass) {
    view->caption_tone = TONE_DECODE;
    if (pass->column_count == 0) {
        WORDS_SAY(view->caption, "caption.charged");
        return;
    }
    WORDS_SAY(view->caption, "caption.decode", "count",
              figure_count(pass->first_column, false).text);
}

// Between two passes: on stills and after a step.
static void put_boundary_caption(struct view *view, const struct run_moment *now) {
    bool is_prefill = now->steps_done == 0;
    view->caption_tone = is_prefill ? TONE_PREFILL : TONE_DECODE;
    if (is_prefill && now->answers == 0)
        WORDS_SAY(view->caption, "caption.no_token", "count",
                  figure_count(now->cache_entries, false).text);
    else if (is_prefill)
        WORDS_SAY(view->caption, "caption.first_token");
    else
        WORDS_SAY(view->caption, "caption.token", "number", figure_count(now->answers, false).text);
}

static void put_done_caption(struct view *view, const struct run_moment *now) {
    view->caption_tone = TONE_INK;
    WORDS_SAY(view->caption, "caption.done", "count", figure_count(now->answers, false).text,
              "steps", figure_count(now->steps_done, false).text);
}

// A step or a still shows an event with all drops landed, and the caption says what has come.
// A film that happens to show exactly that moment keeps the caption of the frame before.
static void put_caption(struct view *view, const struct run_moment *now,
                        const struct scene_options *options) {
    const struct run *run = now->run;
    bool is_settled = options->landed_ns >= now->t_ns;
    int pass = now->running >= 0 ? now->running : now->passes_done - 1;
    if (view->stage == VIEW_PROMPT || pass < 0) {
        view->caption_tone = TONE_QUIET;
        const struct run_chat *chat = &run->info.chat;
        WORDS_SAY(view->caption, chat->name[0] ? "caption.prompt_chat" : "caption.prompt", "count",
                  figure_count(run->info.prompt_tokens, false).text, "own",
                  figure_count(chat->question_tokens + chat->system_tokens, false).text, "format",
                  chat->name);
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
        [VIEW_PROMPT] = "headline.prompt",
        [VIEW_PREFILL] = "headline.prefill",
        [VIEW_DECODE] = "headline.decode",
        [VIEW_DONE] = "headline.done",
    };
    WORDS_SAY(view->title, "headline.title");
    WORDS_SAY(view->headline, headlines[view->stage]);
}

// True for a prompt that waits for its first measurement. The options say so, not the run,
// since a prefix must show what the whole run shows.
static bool is_unmeasured(const struct scene_options *options) {
    return options->scale_ns <= 0;
}

// Of a device's name with three words or more, `words` of them without the maker's, which
// comes first: "Intel Xeon Platinum 8481C" is "Xeon Platinum 8481C". Cuts it where it is.
static const char *shorten(char *name, int words) {
    char *from = strchr(name, ' '), *at = from;
    if (!from || !strchr(from + 1, ' '))
        return name;
    for (; at && words > 0; words--)
        at = strchr(at + 1, ' ');
    if (at)
        *at = '\0';
    return from + 1;
}

static void put_origin(struct view *view, const struct run_moment *now,
                       const struct scene_options *options) {
    const struct run_info *info = &now->run->info;
    const char *key = is_unmeasured(options)         ? "stamp.unmeasured"
                      : info->origin == RUN_MODELLED ? "stamp.modelled"
                      : info->cold                   ? "stamp.cold"
                                                     : "stamp.measured";
    bool is_measured = info->origin == RUN_MEASURED && !is_unmeasured(options);
    view->origin_tone = is_measured ? TONE_READ : TONE_QUIET;
    bool is_lesson = info->origin == RUN_LESSON;
    const char *made_up = strcmp(info->weights, "synthetic") == 0 ? word("stamp.synthetic") : "";
    const char *model = run_model(info);
    const char *kind = word(is_lesson ? "stamp.lesson" : key);
    const char *file = info->is_loaded ? word("stamp.file") : "";
    struct run_device device = {""}, plain = {""}, three = {""}, two = {""};
    if (!is_lesson) {
        device = run_device(info, true);
        plain = three = two = run_device(info, false);
    }
    const char *const forms[VIEW_ORIGINS][6] = {
        {kind, device.text, file, model, made_up, NULL},
        {kind, device.text, file, made_up, NULL},
        {kind, plain.text, file, made_up, NULL},
        {kind, shorten(three.text, 3), file, made_up, NULL},
        {kind, shorten(two.text, 2), file, made_up, NULL},
    };
    for (int i = 0; i < VIEW_ORIGINS; i++)
        words_join(view->origin[i], sizeof view->origin[i], forms[i]);
}

static void put_rate(struct view *view, const struct run_moment *now,
                     const struct scene_options *options) {
    const struct run_info *info = &now->run->info;
    struct playhead_rate rate = options->rate;
    bool is_lesson = info->origin == RUN_LESSON, is_slower = rate.num < rate.den;
    char text[sizeof view->rate];
    if (is_unmeasured(options))
        return;
    double times = is_slower ? (double)rate.den / rate.num : (double)rate.num / rate.den;
    if (run_counts_units(info))
        WORDS_SAY(text, "rate.units", "count",
                  figure_factor(1e9 * rate.num / rate.den / (double)info->unit_ns).text, "unit",
                  info->unit);
    else if (playhead_rate_is_real_time(rate))
        WORDS_SAY(text, "rate.real_time");
    else if (is_lesson)
        WORDS_SAY(text, is_slower ? "rate.lesson_slower" : "rate.lesson_faster", "times",
                  figure_factor(times).text);
    else
        WORDS_SAY(text, is_slower ? "rate.slower" : "rate.faster", "times",
                  figure_factor(times).text);
    if (options->is_live)
        WORDS_SAY(view->rate, "rate.live", "rate", text);
    else
        snprintf(view->rate, sizeof view->rate, "%s", text);
}

// Shorter beside the words for a disturbed run, with which it shares a row.
static const char *forced_word(const struct run_info *info) {
    return !info->forced_length ? ""
           : info->is_disturbed ? word("note.forced_short")
                                : word("note.forced");
}

static void put_run_note(struct view *view, const struct run_info *info) {
    const char *forced = forced_word(info);
    words_join(view->note, sizeof view->note,
               (const char *const[]){run_disturbed(info).text, forced, NULL});
    if (info->is_disturbed)
        words_join(view->note_short, sizeof view->note_short,
                   (const char *const[]){word("run.disturbed_file"), forced, NULL});
}

static void put_note(struct view *view, const struct run_moment *now,
                     const struct scene_options *options) {
    const struct run *run = now->run;
    if (options->is_measuring)
        WORDS_SAY(view->note, "note.measuring");
    else if (run->state == RUN_FAILED && now->at_end && now->marks > 0)
        WORDS_SAY(view->note, "note.ended_early");
    else
        put_run_note(view, &run->info);
}

static struct view_readout readout(const char *label_key, const char *formula_key,
                                   enum view_tone tone) {
    struct view_readout out = {.tone = (uint8_t)tone};
    WORDS_SAY(out.label, label_key);
    WORDS_SAY(out.formula, formula_key);
    return out;
}

static void put_readout(struct view *view, const char *label_key, const char *formula_key,
                        enum view_tone tone, struct figure value) {
    struct view_readout out = readout(label_key, formula_key, tone);
    snprintf(out.value, sizeof out.value, "%s", value.text);
    view_add_readout(view, &out);
}

// Below the read-out added last, once it has a value (`ns` >= 0): what the repeats gave.
static void put_range(struct view *view, const struct run_info *info, int64_t ns,
                      const struct run_range *range) {
    char *note = view->readouts[view->readout_count - 1].note;
    if (ns >= 0)
        snprintf(note, sizeof view->readouts[0].note, "%s", run_range(info, range).text);
}

static void put_times(struct view *view, const struct run_moment *now,
                      const struct scene_options *options) {
    const struct run_info *info = &now->run->info;
    struct figure time = {SIGN_DASH};
    if (options->scale_ns > 0)
        time = run_time_on(info, now->shown_ns, options->scale_ns);
    put_readout(view, "readout.time", "readout.time_is", TONE_INK, time);
    if (info->ttft.p90_ns > 0) // names what stands below the next two
        snprintf(view->readouts[view->readout_count - 1].note, sizeof view->readouts[0].note, "%s",
                 word("run.ranges"));
    put_readout(view, "readout.ttft", "readout.ttft_is", TONE_PREFILL,
                run_time(info, now->ttft_ns));
    put_range(view, info, now->ttft_ns, &info->ttft);
    put_readout(view, "readout.tpot", "readout.tpot_is", TONE_DECODE, run_time(info, now->tpot_ns));
    put_range(view, info, now->tpot_ns, &info->tpot);
}

// The bytes are those of every cell that is filled. While the first columns of all fill
// together, layers are counted, not tokens: none is whole yet.
static void put_cache(struct view *view, const struct run_moment *now) {
    const struct run_info *info = &now->run->info;
    struct view_readout cache = readout("readout.cache", "readout.cache_is", TONE_READ);
    int64_t bytes = run_cache_bytes(now->run, now->cache_entries);
    int layers = 0;
    if (now->running >= 0 && !info->recomputes) {
        layers = clamp_int(now->marks % run_stages(now->run) - 1, 0, info->layers);
        int after = now->cache_entries + now->run->passes[now->running].column_count;
        bytes += (run_cache_bytes(now->run, after) - bytes) / info->layers * layers;
    }
    if (now->running >= 0 && now->cache_entries == 0 && !info->recomputes)
        WORDS_SAY(cache.value, "readout.layers", "count", figure_count(layers, false).text,
                  "layers", figure_count(info->layers, false).text);
    else
        WORDS_SAY(cache.value, "readout.tokens", "count",
                  figure_count(now->cache_entries, false).text);
    if (info->origin != RUN_LESSON && run_cache_entry_bytes(now->run) > 0)
        snprintf(cache.note, sizeof cache.note, "%s", figure_bytes(bytes).text);
    view_add_readout(view, &cache);
}

static void put_decode(struct view *view, const struct run_moment *now) {
    const struct run_info *info = &now->run->info;
    struct figure total = {SIGN_DASH};
    if (now->at_end && now->run->state == RUN_COMPLETE)
        total = run_time(info, run_e2e_ns(now->run));
    put_readout(view, "readout.decode", "readout.decode_is", TONE_DECODE,
                run_decode_time(info, now->prefill_ns, now->shown_ns));
    put_readout(view, "readout.share", "readout.share_is", TONE_DECODE,
                run_decode_share(now->prefill_ns, now->shown_ns));
    put_readout(view, "readout.total", "readout.total_is", TONE_INK, total);
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
    put_decode(view, now);
}
