#include "tests/compute/run/small_run.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "compute/base/why.h"

#include <string.h>

static struct why why;

struct run_info small_run_info(void) {
    return (struct run_info){.origin = RUN_MEASURED,
                             .layers = SMALL_LAYERS,
                             .kv_heads = 2,
                             .head_dim = 8,
                             .kv_value_bytes = 2,
                             .prompt_tokens = 3,
                             .answer_limit = 3};
}

struct run *small_run_new(enum run_counting counting, int chunks) {
    struct run_info info = small_run_info();
    info.counting = counting;
    struct run *run = NULL;
    assert_true(run_create(&run, &info, chunks, &why));
    return run;
}

void small_run_add_prompt(struct run *run) {
    static const char *texts[] = {"<s>", " my", " parcel"};
    for (int i = 0; i < 3; i++)
        assert_true(run_add_prompt_token(run, i, texts[i], strlen(texts[i]), i == 0, &why));
}

void small_run_add_pass(struct run *run, struct run_pass pass, const char *answer) {
    assert_true(run_begin_pass(run, &pass, &why));
    if (pass.yields >= 0)
        assert_true(run_add_answer_token(run, 7, answer, strlen(answer), false, &why));
    for (int stage = 1; stage <= SMALL_STAGES; stage++)
        assert_true(run_add_mark(run, pass.start_ns + 10 * stage, &why));
}

struct run *small_run(void) {
    struct run *run = small_run_new(RUN_ENGINE, 1);
    small_run_add_prompt(run);
    small_run_add_pass(run, (struct run_pass){RUN_PREFILL, 0, 3, 0, 5}, "a");
    small_run_add_pass(run, (struct run_pass){RUN_DECODE, 3, 1, 1, 50}, "b");
    small_run_add_pass(run, (struct run_pass){RUN_DECODE, 4, 1, 2, 95}, "c");
    return run;
}

bool has_same_body(const struct run *a, const struct run *b) {
    size_t bytes_a = 0, bytes_b = 0;
    if (a->mark_count != b->mark_count || a->prompt_count != b->prompt_count ||
        run_answers_seen(a) != run_answers_seen(b) ||
        memcmp(a->mark_end_ns, b->mark_end_ns, (size_t)a->mark_count * sizeof(int64_t)))
        return false;
    for (int i = 0; i < run_passes_seen(a); i++) {
        const struct run_pass *p = &a->passes[i], *q = &b->passes[i];
        if (p->phase != q->phase || p->first_column != q->first_column ||
            p->column_count != q->column_count || p->yields != q->yields ||
            p->start_ns != q->start_ns)
            return false;
    }
    for (int i = 0; i < a->prompt_count + run_answers_seen(a); i++) {
        const char *text_a = run_token_text(a, i, &bytes_a);
        const char *text_b = run_token_text(b, i, &bytes_b);
        if (bytes_a != bytes_b || memcmp(text_a, text_b, bytes_a) ||
            a->tokens[i].id != b->tokens[i].id || a->tokens[i].kind != b->tokens[i].kind)
            return false;
    }
    return true;
}
