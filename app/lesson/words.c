// See lesson_words.h. The lengths follow the fields of render/data/panel.h.
#include "app/lesson/words.h"

#include "app/lesson/lesson.h"

#include <string.h>

// The one list: key, most characters, the caller's names, whether it may have terms.
// clang-format off
#define LESSON_WORDS(X) \
    /* Headings of a step's four blocks; titles over the panel. */ \
    X("heading.what", 36, "", false) \
    X("heading.why", 36, "", false) \
    X("heading.changes", 36, "", false) \
    X("heading.next", 36, "", false) \
    X("title.step", 60, "place places title", false) \
    X("title.step_open", 60, "place title", false) \
    X("title.log", 60, "", false) \
    X("title.glossary", 60, "", false) \
    X("title.why", 60, "", false) \
    X("title.prompt", 60, "", false) \
    X("title.predict", 60, "", false) \
    X("title.simple", 60, "", false) \
    /* The two parties. */ \
    X("party.application", 36, "", false) \
    X("party.model", 36, "", false) \
    X("application.ready", 44, "", false) \
    X("application.waits", 44, "", false) \
    X("application.reads", 60, "", false) \
    X("application.done", 44, "", false) \
    X("application.failed", 44, "", false) \
    X("model.waits", 44, "", false) \
    X("model.prefill", 60, "", false) \
    X("model.charged", 44, "", false) \
    X("model.decode", 44, "", false) \
    X("model.done", 44, "", false) \
    X("model.failed", 44, "", false) \
    /* The KV cache and what one entry holds. */ \
    X("cache.entry", 200, "", false) \
    X("cache.unknown", 140, "", false) \
    /* Sliders and the switch of countings. */ \
    X("slider.prompt", 44, "", false) \
    X("slider.answer", 44, "", false) \
    X("slider.tokens", 36, "count", false) \
    X("slider.measuring", 36, "count", false) \
    X("slider.modelled", 36, "count", false) \
    X("slider.to_end", 36, "", false) \
    X("slider.shown", 36, "count", false) \
    X("slider.off", 140, "", false) \
    X("switch.counting", 44, "", false) \
    X("switch.engine", 36, "", false) \
    X("switch.lesson", 36, "", false) \
    /* Bars: wait and total; the parts of one decode step. */ \
    X("bar.wait", 28, "", false) \
    X("bar.total", 28, "", false) \
    X("bar.wait_so_far", 28, "", false) \
    X("bar.total_so_far", 28, "", false) \
    X("bar.change", 44, "change", false) \
    X("bar.same", 44, "", false) \
    X("bar.before", 44, "before", false) \
    X("bar.weights", 28, "", false) \
    X("bar.cache", 28, "", false) \
    X("bar.entry", 28, "", false) \
    X("bar.share", 44, "share", false) \
    X("bar.tiny", 44, "", false) \
    X("bar.step", 28, "", false) \
    X("bar.no_bytes", 140, "", false) \
    X("anatomy.none", 140, "", false) \
    X("anatomy.under_way", 120, "number", false) \
    X("anatomy.took", 120, "number time origin", false) \
    /* Explain it back: the split, and what is revealed. */ \
    X("split.question", 200, "", true) \
    X("split.label", 44, "", false) \
    X("split.value", 36, "prefill decode", false) \
    X("split.button", 44, "", false) \
    X("split.again", 44, "", false) \
    X("split.true", 36, "prefill decode", false) \
    X("split.hint", 150, "", false) \
    X("reveal.heading", 36, "", false) \
    X("reveal.decode", 240, "prefill decode", true) \
    X("reveal.prefill", 240, "prefill decode", true) \
    X("reveal.even", 240, "prefill decode", true) \
    X("reveal.figures", 120, "prefill decode origin", false) \
    X("reveal.close", 120, "guess truth", false) \
    X("reveal.near", 120, "guess truth", false) \
    X("reveal.far", 120, "guess truth", false) \
    X("reveal.none", 160, "", false) \
    /* Predict first. */ \
    X("predict.question", 200, "", true) \
    X("predict.ttft", 44, "", false) \
    X("predict.decode", 44, "", false) \
    X("predict.value", 36, "value", false) \
    X("predict.true", 36, "value", false) \
    X("predict.button", 44, "", false) \
    X("predict.again", 44, "", false) \
    X("predict.hint", 150, "", false) \
    X("predict.set", 150, "ttft_guess decode_guess", false) \
    X("predict.plays", 80, "", false) \
    X("predict.came", 80, "", false) \
    /* The event log: one line each. */ \
    X("log.quoted", 36, "text", false) \
    X("log.request", 90, "count", false) \
    X("log.chunk", 90, "count", false) \
    X("log.prefill", 90, "", false) \
    X("log.prefill_token", 90, "number text", false) \
    X("log.charged", 90, "number text", false) \
    X("log.token", 90, "number text", false) \
    X("log.end", 90, "number text", false) \
    X("log.hint", 150, "", false) \
    X("glossary.hint", 150, "", false) \
    /* Why a phase takes the time it takes. */ \
    X("why.prefill", 36, "", false) \
    X("why.decode", 36, "", false) \
    X("why.floors", 36, "", false) \
    X("why.cause", 36, "", false) \
    X("why.prefill.work", 160, "", true) \
    X("why.decode.work", 160, "cache", true) \
    X("why.under_way", 120, "", false) \
    X("why.took", 80, "time origin", false) \
    X("why.nothing", 160, "", false) \
    X("why.reading", 160, "bytes rate floor", true) \
    X("why.cached", 160, "", false) \
    X("why.arithmetic", 160, "flop rate floor", true) \
    X("why.prefill.read", 240, "floor share", true) \
    X("why.prefill.compute", 240, "floor share", true) \
    X("why.prefill.overhead", 240, "floor share", true) \
    X("why.decode.read", 240, "floor share", true) \
    X("why.decode.compute", 240, "floor share", true) \
    X("why.decode.overhead", 240, "floor share", true) \
    X("why.rest", 240, "floor share", true) \
    X("why.floor", 120, "floor share", false) \
    X("why.unmeasured", 240, "", true) \
    X("why.lesson", 240, "", true) \
    X("why.hint", 150, "", false) \
    X("simple.hint", 150, "", false) \
    /* The prompt's editor. */ \
    X("editor.label", 44, "", false) \
    X("editor.tokens", 60, "count longest", false) \
    X("editor.empty", 120, "", false) \
    X("editor.too_long", 120, "count longest", false) \
    X("editor.no_device", 120, "", false) \
    X("editor.hint", 150, "", false) \
    /* Where a number comes from. */ \
    X("origin.measured", 36, "", false) \
    X("origin.modelled", 36, "", false) \
    X("origin.lesson", 36, "", false) \
    /* The line at the foot. */ \
    X("foot.next", 150, "", false) \
    X("foot.chapter", 150, "title", false) \
    X("foot.end", 150, "", false) \
    X("foot.takeaway", 36, "", false)
// clang-format on

#define RULE(key, most, extra, has_terms) {key, most, extra, has_terms},
#define KEY(key, most, extra, has_terms) key,
static const struct lesson_word_rule rules[] = {LESSON_WORDS(RULE)};
static const char *const keys[] = {LESSON_WORDS(KEY)};
enum { RULES = sizeof rules / sizeof rules[0] };

_Static_assert((int)RULES <= (int)LESSON_MAX_WORDS, "room for every word");

const struct lesson_word_rule *lesson_word_rules(int *count) {
    *count = RULES;
    return rules;
}

const char *const *lesson_word_keys(int *count) {
    *count = RULES;
    return keys;
}

int lesson_word_index(const char *key) {
    for (int i = 0; i < RULES; i++)
        if (strcmp(keys[i], key) == 0)
            return i;
    return -1;
}
