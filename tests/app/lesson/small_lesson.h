// A small lesson file that holds all there is: every word, two terms, a chapter that
// follows the run, one with steps of its own, values, words explained, cases.
#ifndef TESTS_APP_LESSON_SMALL_LESSON_H
#define TESTS_APP_LESSON_SMALL_LESSON_H

// Owner: the caller, free().
char *small_lesson(void);

#endif
