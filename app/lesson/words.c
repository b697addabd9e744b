// See words.h. The lengths fit the fields of render/data/panel.h.
#include "app/lesson/words.h"

#include <string.h>

static const struct lesson_word_rule rules[] = {
    // Headings of a step's four blocks; titles over the panel.
    {"heading.what", 36, "", false},
    {"heading.why", 36, "", false},
    {"heading.changes", 36, "", false},
    {"heading.next", 36, "", false},
    {"title.step", 60, "place places title", false},
    {"title.step_open", 60, "place title", false},
    {"title.log", 60, "", false},
    {"title.glossary", 60, "", false},
    {"title.why", 60, "", false},
    {"title.prompt", 60, "", false},
    {"title.predict", 60, "", false},
    {"title.simple", 60, "", false},
    // The two parties.
    {"party.application", 36, "", false},
    {"party.model", 36, "", false},
    {"application.ready", 44, "", false},
    {"application.waits", 44, "", false},
    {"application.reads", 60, "", false},
    {"application.done", 44, "", false},
    {"application.failed", 44, "", false},
    {"model.waits", 44, "", false},
    {"model.prefill", 60, "", false},
    {"model.charged", 44, "", false},
    {"model.decode", 44, "", false},
    {"model.done", 44, "", false},
    {"model.failed", 44, "", false},
    // The KV cache and what one entry holds.
    {"cache.entry", 200, "", false},
    {"cache.unknown", 140, "", false},
    // Sliders and the switch of countings.
    {"slider.prompt", 44, "", false},
    {"slider.answer", 44, "", false},
    {"slider.tokens", 36, "count", false},
    {"slider.measuring", 36, "count", false},
    {"slider.modelled", 36, "count", false},
    {"slider.to_end", 36, "", false},
    {"slider.shown", 36, "count", false},
    {"slider.off", 140, "", false},
    {"switch.counting", 44, "", false},
    {"switch.engine", 36, "", false},
    {"switch.lesson", 36, "", false},
    // Bars: wait and total; the parts of one decode step.
    {"bar.wait", 28, "", false},
    {"bar.total", 28, "", false},
    {"bar.wait_so_far", 28, "", false},
    {"bar.total_so_far", 28, "", false},
    {"bar.change", 44, "change", false},
    {"bar.same", 44, "", false},
    {"bar.before", 44, "before", false},
    {"bar.weights", 28, "", false},
    {"bar.cache", 28, "", false},
    {"bar.entry", 28, "", false},
    {"bar.share", 44, "share", false},
    {"bar.tiny", 44, "", false},
    {"bar.step", 28, "", false},
    {"bar.no_bytes", 140, "", false},
    {"anatomy.none", 140, "", false},
    {"anatomy.under_way", 120, "number", false},
    {"anatomy.took", 120, "number time origin", false},
    // Explain it back: the split, and what is revealed.
    {"split.label", 44, "", false},
    {"split.value", 36, "prefill decode", false},
    {"split.button", 44, "", false},
    {"split.again", 44, "", false},
    {"split.true", 36, "prefill decode", false},
    {"split.hint", 150, "", false},
    {"reveal.heading", 36, "", false},
    {"reveal.decode", 240, "prefill decode", true},
    {"reveal.prefill", 240, "prefill decode", true},
    {"reveal.even", 240, "prefill decode", true},
    {"reveal.figures", 120, "prefill decode origin", false},
    {"reveal.close", 120, "guess truth", false},
    {"reveal.near", 120, "guess truth", false},
    {"reveal.far", 120, "guess truth", false},
    {"reveal.none", 160, "", false},
    // Predict first.
    {"predict.question", 200, "", true},
    {"predict.ttft", 44, "", false},
    {"predict.decode", 44, "", false},
    {"predict.value", 36, "value", false},
    {"predict.true", 36, "value", false},
    {"predict.button", 44, "", false},
    {"predict.again", 44, "", false},
    {"predict.hint", 150, "", false},
    {"predict.set", 150, "ttft_guess decode_guess", false},
    {"predict.plays", 80, "", false},
    {"predict.came", 80, "", false},
    // The event log: one line each.
    {"log.quoted", 36, "text", false},
    {"log.request", 90, "count", false},
    {"log.chunk", 90, "count", false},
    {"log.prefill", 90, "", false},
    {"log.prefill_token", 90, "number text", false},
    {"log.charged", 90, "number text", false},
    {"log.token", 90, "number text", false},
    {"log.end", 90, "number text", false},
    {"log.hint", 150, "", false},
    {"glossary.hint", 150, "", false},
    // Why a phase takes the time it takes.
    {"why.prefill", 36, "", false},
    {"why.decode", 36, "", false},
    {"why.floors", 36, "", false},
    {"why.cause", 36, "", false},
    {"why.prefill.work", 160, "", true},
    {"why.decode.work", 160, "cache", true},
    {"why.under_way", 120, "", false},
    {"why.took", 80, "time origin", false},
    {"why.nothing", 160, "", false},
    {"why.reading", 160, "bytes rate floor", true},
    {"why.cached", 160, "", false},
    {"why.arithmetic", 160, "flop rate floor", true},
    {"why.prefill.read", 240, "floor share", true},
    {"why.prefill.compute", 240, "floor share", true},
    {"why.prefill.overhead", 240, "floor share", true},
    {"why.decode.read", 240, "floor share", true},
    {"why.decode.compute", 240, "floor share", true},
    {"why.decode.overhead", 240, "floor share", true},
    {"why.rest", 240, "floor share", true},
    {"why.floor", 120, "floor share", false},
    {"why.unmeasured", 240, "", true},
    {"why.lesson", 240, "", true},
    {"why.hint", 150, "", false},
    {"simple.hint", 150, "", false},
    // The prompt's editor.
    {"editor.label", 44, "", false},
    {"editor.tokens", 60, "count longest", false},
    {"editor.empty", 120, "", false},
    {"editor.too_long", 120, "count longest", false},
    {"editor.no_device", 120, "", false},
    {"editor.hint", 150, "", false},
    // Where a number comes from.
    {"origin.measured", 36, "", false},
    {"origin.modelled", 36, "", false},
    {"origin.lesson", 36, "", false},
    // The line at the foot.
    {"foot.next", 150, "", false},
    {"foot.chapter", 150, "title", false},
    {"foot.end", 150, "", false},
    {"foot.takeaway", 36, "", false},
};

enum { RULES = sizeof rules / sizeof rules[0] };
_Static_assert((int)RULES <= (int)LESSON_MAX_WORDS, "room for every word");

const struct lesson_word_rule *lesson_word_rules(int *count) {
    *count = RULES;
    return rules;
}

int lesson_word_index(const char *key) {
    for (int i = 0; i < RULES; i++)
        if (strcmp(rules[i].key, key) == 0)
            return i;
    return -1;
}
