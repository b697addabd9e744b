// Every figure a user reads is written here, so that one quantity looks the same in the
// picture, in the panel and on the terminal. Each function returns the text by value:
// figure_bytes(n).text can be used in place, until the end of the statement.
// A figure and its unit stand one space apart, unless said otherwise. Decimal signs and
// those between thousands are those of the language chosen (words.h); the examples are
// English.
#ifndef COMPUTE_BASE_FIGURES_H
#define COMPUTE_BASE_FIGURES_H

#include <stdbool.h>
#include <stdint.h>

// Signs outside ASCII, as string literals that join their neighbours.
#define SIGN_DASH "\xE2\x80\x94"       // em dash: not known
#define SIGN_MINUS "\xE2\x88\x92"      // as wide as a plus
#define SIGN_OVER "\xC3\xB7"           // divided by
#define SIGN_TIMES "\xC3\x97"          // multiplied by
#define SIGN_PLUS_MINUS "\xC2\xB1"     // before an error
#define SIGN_MICRO "\xC2\xB5"          // of microseconds
#define SIGN_DOT " \xC2\xB7 "          // between the parts of a line
#define SIGN_ELLIPSIS "\xE2\x80\xA6"   // something was cut
#define SIGN_HELD_SPACE "\xC2\xA0"     // no line ends here
#define SIGN_WORD_SPACE "\xE2\x96\x81" // U+2581, SentencePiece's space
#define SIGN_LEFT "\xE2\x86\x90"
#define SIGN_UP "\xE2\x86\x91"
#define SIGN_RIGHT "\xE2\x86\x92"
#define SIGN_DOWN "\xE2\x86\x93"

enum { FIGURE_BYTES = 64 };

struct figure {
    char text[FIGURE_BYTES];
};

// "9.60 ms", "1.30 s": with the unit and the decimals that suit `scale_ns`, so that a
// running value keeps its form. Give the value itself as scale where it stands alone.
// 0 on a scale of 0 is "0 ms"; a negative time is a dash.
struct figure figure_time(int64_t ns, int64_t scale_ns);

// "97 units": time counted in units of `unit_ns` > 0 nanoseconds. Whole units when the
// scale is ten units or longer, else one decimal where needed. Negative: a dash.
struct figure figure_units(int64_t ns, int64_t scale_ns, int64_t unit_ns, const char *unit);

// "1.20 ± 0.03 µs": a fitted time and its standard error, both with the decimals that
// show the error's first digit, 4 at most. Without an error (0) the value's three digits
// decide; with a negative one the value stands alone: "1.20 µs". Held spaces.
struct figure figure_estimate(double ns, double error_ns);

// "210 ± 30", "84.2 ± 0.6": a fitted count. Below 1 an error is shown with one decimal
// if the count is below 1,000, else as 1. Held spaces.
struct figure figure_count_estimate(double count, double error);

// "0.412 +- 0.013": plain ASCII for terminals, with the decimals that show the first two
// digits of the error, 6 at most.
struct figure figure_with_error(double value, double error);

// "1.25 MiB", in powers of 1,024. Negative: a dash.
struct figure figure_bytes(int64_t bytes);

// "12.3 GB/s", "1.25 TFLOP": three digits with a decimal prefix; below 1,000 whole.
struct figure figure_si(double value, const char *unit);

// "1,024" if `is_grouped`, else "1024".
struct figure figure_count(int64_t count, bool is_grouped);

// "1 token", "1,024 tokens": a count, as above, and an English noun with a plural in -s.
struct figure figure_counted(int64_t count, bool is_grouped, const char *noun);

// "0.25", "12,500", "1e+15": up to six digits, commas between thousands. Below 1e12
// large numbers are written out.
struct figure figure_number(double value);

// "2.5", "200", "50,000": how many times. Four digits; from 10,000 on rounded down.
struct figure figure_factor(double times);

// "13 %", rounded to whole per cent.
struct figure figure_percent(double percent);

// "98 %" of a share 0 .. 1, halves rounded up, but "less than 1 %" and "more than 99 %"
// where rounding would say nothing or all. The second is what the first leaves: together
// always 100.
struct figure figure_share(double share);
struct figure figure_rest(double share);

// The same figure with every space behind its first digit held.
struct figure figure_held(struct figure figure);

// "" for one, else "s".
const char *figure_plural(int64_t count);

#endif
