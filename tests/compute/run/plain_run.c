// See plain_run.h.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/compute/run/plain_run.h"

#include "compute/base/why.h"

#include <string.h>

static const char *text_at(const char *const *texts, int index) {
    int count = 0;
    while (texts[count])
        count++;
    return texts[index % count];
}

struct run *plain_run(const struct plain_run *of) {
    static const char *const p[] = {"p", NULL}, *const a[] = {"a", NULL};
    struct run *run = NULL;
    struct why why;
    int prompt = of->info.prompt_tokens;
    assert_true(run_create(&run, &of->info, 1, &why));
    for (int i = 0; i < prompt; i++) {
        const char *text = text_at(of->prompt ? of->prompt : p, i);
        assert_true(run_add_prompt_token(run, i, text, strlen(text), text[0] == '<', &why));
    }
    for (int n = 0; n < of->info.answer_limit; n++) {
        const char *text = text_at(of->answer ? of->answer : a, n);
        struct run_pass pass = {.phase = n ? RUN_DECODE : RUN_PREFILL,
                                .first_column = n ? prompt + n - 1 : 0,
                                .column_count = n ? 1 : prompt,
                                .yields = n,
                                .start_ns = run_end_ns(run) + (n ? of->gap_ns : 0)};
        int64_t length_ns = n ? of->step_ns : of->prefill_ns;
        assert_true(run_begin_pass(run, &pass, &why));
        assert_true(run_add_answer_token(run, 100 + n, text, strlen(text), text[0] == '<', &why));
        for (int stage = 1; stage <= run_stages(run); stage++)
            assert_true(
                run_add_mark(run, pass.start_ns + length_ns * stage / run_stages(run), &why));
    }
    run_close(run, RUN_COMPLETE);
    return run;
}
