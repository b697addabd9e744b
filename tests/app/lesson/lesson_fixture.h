// The bundled lessons and the runs of the bundled schedules, for the tests of app/. Each
// fails the test with the reason where it cannot be loaded.
#ifndef TESTS_APP_LESSON_LESSON_FIXTURE_H
#define TESTS_APP_LESSON_LESSON_FIXTURE_H

#include "app/lesson/load/load.h"

// "en", "de". Owner: lesson_destroy.
struct lesson *lesson_in(const char *language);

// A schedule's run, "module-7"; 0 tokens: its own. Owner: run_destroy.
struct run *lesson_run(const char *name, enum run_counting counting, int prompt, int answers);

#endif
