// See figures.h. Rounding decides the unit before it is chosen: 999.5 and more has one
// digit too many for three.
#include "compute/base/figures.h"

#include "compute/base/num.h"
#include "compute/base/words.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

struct scale {
    double size;
    const char *unit;
};

// Adds to the end; what does not fit is cut.
static void append(struct figure *out, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static void append(struct figure *out, const char *format, ...) {
    size_t used = strlen(out->text);
    va_list args;
    va_start(args, format);
    vsnprintf(out->text + used, sizeof out->text - used, format, args);
    va_end(args);
}

// Adds a number, formatted as printf does, with the language's signs: its decimal sign, and
// the one between thousands if `is_grouped`.
static void append_digits(struct figure *out, bool is_grouped, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static void append_digits(struct figure *out, bool is_grouped, const char *format, ...) {
    char plain[FIGURE_BYTES];
    va_list args;
    va_start(args, format);
    vsnprintf(plain, sizeof plain, format, args);
    va_end(args);
    size_t sign = plain[0] == '-', digits = strspn(plain + sign, "0123456789");
    for (size_t i = 0; plain[i] != '\0'; i++) {
        if (is_grouped && i > sign && i < sign + digits && (sign + digits - i) % 3 == 0)
            append(out, "%s", words_thousands());
        if (plain[i] == '.')
            append(out, "%s", words_decimal());
        else
            append(out, "%c", plain[i]);
    }
}

static void append_number(struct figure *out, int decimals, double value) {
    append_digits(out, false, "%.*f", decimals, value);
}

// --- Digits ---

// Decimals that give three digits.
static int decimals_of(double value) {
    double size = fabs(value);
    return size >= 99.95 || size == 0 ? 0 : size >= 9.995 ? 1 : 2;
}

// Decimals that show the first `digits` digits of an error > 0.
static int decimals_of_error(double error, int digits, int most) {
    // The slack keeps an error of exactly 0.1 or 0.01 from one decimal more.
    return clamp_int((int)ceil(-log10(error) - 1e-9) + digits - 1, 0, most);
}

// The largest unit of which `value` has at least one, counted after rounding.
static struct scale scale_of(double value, const struct scale *scales, int count) {
    int i = 0;
    while (i + 1 < count && fabs(value) >= 999.5 * scales[i].size)
        i++;
    return scales[i];
}

static struct figure dash(void) {
    return (struct figure){SIGN_DASH};
}

// --- Time ---

struct figure figure_time(int64_t ns, int64_t scale_ns) {
    static const struct {
        int64_t from_ns, unit_ns;
        int decimals;
        const char *unit;
    } forms[] = {
        {100000000000, 1000000000, 1, "s"}, {1000000000, 1000000000, 2, "s"},
        {100000000, 1000000, 0, "ms"},      {10000000, 1000000, 1, "ms"},
        {1000000, 1000000, 2, "ms"},        {100000, 1000, 0, SIGN_MICRO "s"},
        {10000, 1000, 1, SIGN_MICRO "s"},   {INT64_MIN, 1000, 2, SIGN_MICRO "s"},
    };
    struct figure out = {""};
    size_t form = 0;
    if (ns < 0)
        return dash();
    if (ns == 0 && scale_ns == 0)
        return (struct figure){"0 ms"};
    while (scale_ns < forms[form].from_ns)
        form++;
    append_number(&out, forms[form].decimals, (double)ns / (double)forms[form].unit_ns);
    append(&out, " %s", forms[form].unit);
    return out;
}

struct figure figure_units(int64_t ns, int64_t scale_ns, int64_t unit_ns, const char *unit) {
    struct figure out = {""};
    if (ns < 0)
        return dash();
    bool is_whole = scale_ns / 10 >= unit_ns || ns % unit_ns == 0;
    append_number(&out, is_whole ? 0 : 1, (double)ns / (double)unit_ns);
    append(&out, " %s", unit);
    return out;
}

// --- What a fit found ---

struct figure figure_estimate(double ns, double error_ns) {
    static const struct scale scales[] = {
        {1, "ns"}, {1e3, SIGN_MICRO "s"}, {1e6, "ms"}, {1e9, "s"}};
    struct figure out = {""};
    struct scale scale = scale_of(fmax(fabs(ns), error_ns), scales, 4);
    double value = ns / scale.size, error = error_ns / scale.size;
    int decimals = error > 0 ? decimals_of_error(error, 1, 4) : decimals_of(value);
    append(&out, "%s", value < 0 ? SIGN_MINUS : "");
    append_number(&out, decimals, fabs(value));
    if (error_ns >= 0) {
        append(&out, SIGN_HELD_SPACE SIGN_PLUS_MINUS SIGN_HELD_SPACE);
        append_number(&out, decimals, error);
    }
    append(&out, SIGN_HELD_SPACE "%s", scale.unit);
    return out;
}

struct figure figure_count_estimate(double count, double error) {
    static const char between[] = SIGN_HELD_SPACE SIGN_PLUS_MINUS SIGN_HELD_SPACE;
    struct figure out = {""};
    if (error >= 1 || count >= 1000) {
        append(&out, "%s%s%s", figure_count(llround(count), true).text, between,
               figure_count(llround(fmax(error, 1)), true).text);
        return out;
    }
    append_number(&out, 1, count);
    append(&out, "%s", between);
    append_number(&out, 1, error);
    return out;
}

struct figure figure_with_error(double value, double error) {
    struct figure out = {""};
    int decimals = error > 0 ? decimals_of_error(error, 2, 6) : 0;
    append(&out, "%.*f +- %.*f", decimals, value, decimals, error);
    return out;
}

// --- Sizes and rates ---

struct figure figure_bytes(int64_t bytes) {
    static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
    struct figure out = {""};
    double scaled = (double)bytes;
    int unit = 0;
    if (bytes < 0)
        return dash();
    while (scaled >= 1024 && unit < 4) {
        scaled /= 1024;
        unit++;
    }
    bool is_whole = scaled - floor(scaled) < 0.005;
    int decimals = is_whole || scaled >= 100 ? 0 : scaled >= 10 ? 1 : 2;
    append_number(&out, decimals, scaled);
    append(&out, " %s", units[unit]);
    return out;
}

struct figure figure_si(double value, const char *unit) {
    static const struct scale scales[] = {{1, ""},     {1e3, "k"},  {1e6, "M"}, {1e9, "G"},
                                          {1e12, "T"}, {1e15, "P"}, {1e18, "E"}};
    struct figure out = {""};
    struct scale scale = scale_of(value, scales, sizeof scales / sizeof scales[0]);
    double scaled = value / scale.size;
    append_number(&out, scale.size > 1 ? decimals_of(scaled) : 0, scaled);
    append(&out, " %s%s", scale.unit, unit);
    return out;
}

// --- Counts ---

struct figure figure_count(int64_t count, bool is_grouped) {
    struct figure out = {""};
    append_digits(&out, is_grouped, "%" PRId64, count);
    return out;
}

struct figure figure_counted(int64_t count, bool is_grouped, const char *noun) {
    struct figure out = figure_count(count, is_grouped);
    append(&out, " %s%s", noun, figure_plural(count));
    return out;
}

struct figure figure_number(double value) {
    struct figure out = {""};
    double size = fabs(value);
    append_digits(&out, true, size >= 1e5 && size < 1e12 ? "%.0f" : "%.6g", value);
    return out;
}

struct figure figure_factor(double times) {
    struct figure out = {""};
    if (times >= 10000)
        return figure_count((int64_t)times, true);
    append_digits(&out, false, "%.4g", times);
    return out;
}

const char *figure_plural(int64_t count) {
    return count == 1 ? "" : "s";
}

// --- Parts ---

struct figure figure_percent(double percent) {
    struct figure out = {""};
    append(&out, "%.0f %%", percent);
    return out;
}

// By millionths, so that a share and its millionths are one text.
static struct figure share_of(double share, bool is_rest) {
    int64_t ppm = llround(share * WHOLE_PPM);
    int64_t percent = (ppm + WHOLE_PPM / 200) / (WHOLE_PPM / 100);
    struct figure out = figure_percent((double)(is_rest ? 100 - percent : percent));
    if (percent == (is_rest ? 100 : 0) && share != (double)percent / 100)
        WORDS_SAY(out.text, "figure.share_least");
    else if (percent == (is_rest ? 0 : 100) && share != (double)percent / 100)
        WORDS_SAY(out.text, "figure.share_most");
    return out;
}

struct figure figure_share(double share) {
    return share_of(share, false);
}

struct figure figure_rest(double share) {
    return share_of(share, true);
}

struct figure figure_held(struct figure figure) {
    struct figure out = {""};
    const char *from = figure.text, *digit = strpbrk(from, "0123456789");
    for (const char *space = digit; space && (space = strchr(space, ' ')); from = ++space)
        append(&out, "%.*s%s", (int)(space - from), from, SIGN_HELD_SPACE);
    append(&out, "%s", from);
    return out;
}
