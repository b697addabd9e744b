// See why.h: the one place where a failing layer writes its reason.
#include "compute/base/why.h"

#include "compute/base/spoken.h"

#include <stdio.h>

static const char *(*translate)(const char *english);

void why_speak(const char *(*reason)(const char *english)) {
    translate = reason;
}

const char *why_spoken(const char *english) {
    return translate ? translate(english) : english;
}

bool why_set(struct why *why, const char *format, ...) {
    if (!why)
        return false;
    va_list args;
    va_start(args, format);
    vsnprintf(why->text, sizeof why->text, why_spoken(format), args);
    va_end(args);
    return false;
}

bool why_about(struct why *why, const char *name, const char *format, va_list args) {
    char text[WHY_BYTES];
    vsnprintf(text, sizeof text, why_spoken(format), args);
    if (why)
        snprintf(why->text, sizeof why->text, "%.96s: %.400s", name, text);
    return false;
}
