// Fuzz target for schedules: whatever is accepted must give a valid run in both
// countings, with the figures of the rule. Seeds: assets/schedules/.
#include "compute/base/why.h"
#include "compute/file/schedule.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_TOKENS = 2000 }; // larger runs are right, too, but slow

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

// libFuzzer reports an abort as a finding, with the input that led to it.
static void must(bool holds) {
    if (!holds)
        abort();
}

static void check_run(const struct schedule *schedule, enum run_counting counting) {
    struct run *run = NULL;
    struct why why;
    must(schedule_run(&run, schedule, counting, 0, 0, &why));
    must(run_validate(run, &why) && run->state == RUN_COMPLETE);
    int64_t prefill = schedule->prefill_fixed + schedule->prefill_per_token * run->prompt_count;
    int64_t steps = run->info.answer_limit - (counting == RUN_ENGINE);
    must(run_prefill_ns(run) == prefill * schedule->unit_ns);
    must(run_decode_ns(run) == steps * schedule->step * schedule->unit_ns);
    run_destroy(run);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct schedule schedule;
    struct why why;
    if (!schedule_parse(&schedule, "fuzz", (const char *)data, size, &why)) {
        must(!strchr(why.text, '\n') && !schedule.prompt && !schedule.answer);
        return 0;
    }
    if (schedule.prompt_tokens + schedule.answer_tokens <= MOST_TOKENS) {
        check_run(&schedule, RUN_ENGINE);
        check_run(&schedule, RUN_CHARGED);
    }
    schedule_clear(&schedule);
    return 0;
}
