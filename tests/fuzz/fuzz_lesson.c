// Fuzz target for lesson files: whatever is accepted must give pages and words of whole
// UTF-8 with closed marks for a run in both countings; whatever is not, a reason of one
// line. Seeds: lessons as files. Input that begins with "!" is no file but changes to a
// small lesson, {two bytes of place, one byte} each, so that without seeds, too, more
// than the outermost braces is reached.
#include "app/lesson/load/load.h"
#include "compute/base/why.h"
#include "compute/file/schedule.h"
#include "tests/app/lesson/small_lesson.h"
#include "tests/compute/base/text_fault.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

// libFuzzer reports an abort as a finding, with the input that led to it.
static void must(bool holds) {
    if (!holds)
        abort();
}

static void check_text(const char *text) {
    must(!text_fault(text, "\n\x0E\x0F"));
}

static struct run *small_run(enum run_counting counting) {
    static char unit_name[] = "u";
    struct schedule schedule = {.unit_ns = 1000,
                                .layers = 2,
                                .prefill_per_token = 3,
                                .step = 5,
                                .prompt_tokens = 3,
                                .answer_tokens = 3};
    struct run *run = NULL;
    struct why why;
    memcpy(schedule.unit, unit_name, sizeof unit_name);
    must(schedule_run(&run, &schedule, counting, 0, 0, &why));
    return run;
}

static void check_pages(const struct lesson *lesson, const struct run *run) {
    struct lesson_place place = {0, 0};
    struct lesson_page page;
    do {
        lesson_page(&page, lesson, place, run, lesson_step_ns(lesson, place, run));
        check_text(page.title);
        check_text(page.summary);
        check_text(page.takeaway);
        for (int i = 0; i < page.block_count; i++)
            check_text(page.blocks[i].text);
    } while (lesson_move(lesson, &place, 1, run));
}

static void check_words(const struct lesson *lesson, const struct run *run) {
    static const char *const words[] = {"heading.what", "slider.tokens", "bar.wait", "why.rest"};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        char text[160];
        lesson_say(text, sizeof text, lesson, words[i],
                   &(struct lesson_facts){run, 7000, NULL, false});
        check_text(text);
    }
}

static void check_file(const char *text, size_t bytes) {
    struct why why;
    struct lesson *lesson = lesson_parse("fuzz", text, bytes, &why);
    if (!lesson) {
        must(strncmp(why.text, "fuzz:", 5) == 0 && !strchr(why.text, '\n'));
        return;
    }
    for (int counting = RUN_ENGINE; counting <= RUN_CHARGED; counting++) {
        struct run *run = small_run((enum run_counting)counting);
        check_pages(lesson, run);
        check_words(lesson, run);
        run_destroy(run);
    }
    lesson_destroy(lesson);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size == 0 || data[0] != '!') {
        check_file((const char *)data, size);
        return 0;
    }
    char *text = small_lesson();
    size_t bytes = strlen(text);
    for (size_t i = 1; i + 3 <= size; i += 3)
        text[(size_t)(data[i] << 8 | data[i + 1]) % bytes] = (char)data[i + 2];
    check_file(text, bytes);
    free(text);
    return 0;
}
