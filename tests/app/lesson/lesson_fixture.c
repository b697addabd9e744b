// See lesson_fixture.h.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/app/lesson/lesson_fixture.h"

#include "compute/base/why.h"
#include "compute/base/words.h"
#include "compute/file/schedule.h"

#include <stdio.h>
#include <string.h>

struct lesson *lesson_in(const char *language) {
    struct why why;
    struct lesson *lesson = NULL;
    if (!words_choose(language, &why) || !lesson_load_own(&lesson, &why))
        fail_msg("%s", why.text);
    return lesson;
}

struct run *lesson_run(const char *name, enum run_counting counting, int prompt, int answers) {
    char path[512];
    struct why why;
    struct schedule schedule;
    struct run *run = NULL;
    snprintf(path, sizeof path, "%s/assets/schedules/%s.json", TOKENDRIP_SOURCE_DIR, name);
    if (!schedule_load(&schedule, path, &why) ||
        !schedule_run(&run, &schedule, counting, prompt, answers, &why))
        fail_msg("%s", why.text);
    schedule_clear(&schedule);
    return run;
}
