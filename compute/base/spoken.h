// Parts of reasons (why.h) that stand as an argument in a longer one.
#ifndef COMPUTE_BASE_SPOKEN_H
#define COMPUTE_BASE_SPOKEN_H

// The part in the language of reasons, which has it by its English text.
const char *why_spoken(const char *english) __attribute__((format_arg(1)));

#endif
