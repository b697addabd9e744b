// See why.h: the one place where a failing layer writes its reason.
#include "compute/base/why.h"

#include <stdarg.h>
#include <stdio.h>

static const char *(*translate)(const char *english);

void why_speak(const char *(*reason)(const char *english)) {
    translate = reason;
}

bool why_set(struct why *why, const char *format, ...) {
    if (!why)
        return false;
    va_list args;
    va_start(args, format);
    vsnprintf(why->text, sizeof why->text, translate ? translate(format) : format, args);
    va_end(args);
    return false;
}
