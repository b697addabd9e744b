// See wrap.h. Words are measured one by one and added up, since the same words come
// again in other lines, sizes and frames and are then known; the line as a whole is
// measured once, because shaping may make it wider than its words.
#include "render/paint/wrap.h"

#include "compute/base/figures.h"
#include "render/data/panel.h"
#include "render/pixel/cluster.h"

#include <string.h>

// Of a line: a character more still fits into WRAP_LINE_BYTES.
enum { MOST_BYTES = WRAP_LINE_BYTES - 64 };

static bool is_mark(char byte) {
    return byte == PANEL_TERM_BEGIN || byte == PANEL_TERM_END;
}

int wrap_copy(char *out, const char *utf8, int from, int to) {
    int count = 0;
    for (int i = from; i < to && count < WRAP_LINE_BYTES; i++)
        if (!is_mark(utf8[i]))
            out[count++] = utf8[i];
    out[count] = '\0';
    return count;
}

int wrap_width_px(struct text *text, const struct wrap_style *style, const char *utf8, int from,
                  int to) {
    char plain[WRAP_LINE_BYTES + 1];
    wrap_copy(plain, utf8, from, to);
    return text_width_px(text, style->face, style->px, plain);
}

// The width that breaks are decided by.
static int steady_width(struct text *text, const struct wrap_style *style, const char *utf8,
                        int from, int to) {
    char plain[WRAP_LINE_BYTES + 1];
    int count = wrap_copy(plain, utf8, from, to);
    for (int i = 0; i < count; i++)
        if (plain[i] >= '0' && plain[i] <= '9')
            plain[i] = '0';
    return text_width_px(text, style->face, style->px, plain);
}

static bool is_digit(char byte) {
    return byte >= '0' && byte <= '9';
}

// True for the space between a number and what it counts, or between an operator and its
// number: no line ends there.
static bool is_held(const char *utf8, int from, int at) {
    static const char *const operators[] = {SIGN_MINUS, SIGN_TIMES, SIGN_PLUS_MINUS, SIGN_OVER};
    char next = utf8[at + 1];
    if (at <= from || next == ' ' || next == '\n' || next == '\0')
        return false;
    if (is_digit(utf8[at - 1]))
        return !is_digit(next) && next != '(';
    for (size_t i = 0; i < sizeof operators / sizeof operators[0]; i++) {
        int bytes = (int)strlen(operators[i]);
        if (is_digit(next) && at - from >= bytes &&
            memcmp(utf8 + at - bytes, operators[i], (size_t)bytes) == 0)
            return true;
    }
    return false;
}

// The end of the word at `from`: before a space or a new line, behind a hyphen.
static int word_end(const char *utf8, int from) {
    int at = from;
    while (utf8[at] != '\0' && utf8[at] != '\n' && (utf8[at] != ' ' || is_held(utf8, from, at))) {
        at++;
        bool is_hyphen = utf8[at - 1] == '-' && utf8[at] >= 'A';
        if (is_hyphen)
            return at;
    }
    return at;
}

static int skip_spaces(const char *utf8, int at) {
    while (utf8[at] == ' ')
        at++;
    return at;
}

// The most characters of a long word that fit, one at least. Marks before the end are
// taken along.
static int break_word(struct text *text, const struct wrap_style *style, const char *utf8, int from,
                      int end) {
    uint16_t ends[WRAP_LINE_BYTES];
    int count = 0;
    struct cluster cluster;
    for (int at = from; at < end && at - from < MOST_BYTES && count < WRAP_LINE_BYTES;) {
        at += (int)cluster_next(&cluster, utf8 + at, (size_t)(end - at));
        ends[count++] = (uint16_t)(at - from);
    }
    int low = 0, high = count; // ends[low] fits or is the first; ends[high] does not
    while (high - low > 1) {
        int middle = (low + high) / 2;
        if (steady_width(text, style, utf8, from, from + ends[middle]) <= style->width_px)
            low = middle;
        else
            high = middle;
    }
    return count > 0 ? from + ends[low] : end;
}

// The end of the last word that ends before `end`; `from`: there is none.
static int word_before(const char *utf8, int from, int end) {
    int last = from;
    for (int at = from; at < end;) {
        int stop = word_end(utf8, skip_spaces(utf8, at));
        if (stop >= end)
            return last;
        last = at = stop;
    }
    return last;
}

// The end of the line by the widths of its words; at least one word.
static int line_end(struct text *text, const struct wrap_style *style, const char *utf8, int from) {
    int space = text_width_px(text, style->face, style->px, " "), end = from, width = 0;
    while (utf8[end] != '\0' && utf8[end] != '\n') {
        int begin = skip_spaces(utf8, end), stop = word_end(utf8, begin);
        width += space * (begin - end) + steady_width(text, style, utf8, begin, stop);
        bool is_over = width > style->width_px || stop - from > MOST_BYTES;
        if (is_over && begin > from)
            return end > from ? end : stop;
        end = stop;
        if (is_over)
            return end;
    }
    return end;
}

bool wrap_next(struct wrap_line *out, struct text *text, const struct wrap_style *style,
               const char *utf8, int from) {
    if (utf8[from] == '\0')
        return false;
    int end = line_end(text, style, utf8, from);
    while (end - from > MOST_BYTES ||
           (end > from && steady_width(text, style, utf8, from, end) > style->width_px)) {
        int before = word_before(utf8, from, end);
        if (before == from) {
            end = break_word(text, style, utf8, from, end);
            break;
        }
        end = before;
    }
    int next = skip_spaces(utf8, end);
    if (utf8[next] == '\n')
        next++;
    int bytes = end - from;
    while (bytes > 0 && utf8[from + bytes - 1] == ' ')
        bytes--;
    *out = (struct wrap_line){from, bytes, next > from ? next : from + 1};
    return true;
}

int wrap_count(struct text *text, const struct wrap_style *style, const char *utf8, int most) {
    struct wrap_line line;
    int count = 0;
    for (int at = 0; count < most && wrap_next(&line, text, style, utf8, at); at = line.next)
        count++;
    return count;
}
