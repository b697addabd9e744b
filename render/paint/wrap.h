// Running text in lines of a given width: where each line begins and ends. Breaks at
// spaces, after hyphens and at "\n", never between a number and its unit or its operator;
// a word longer than a line is broken between its characters. PANEL_TERM_BEGIN and PANEL_TERM_END take no room.
//
// Every digit counts as a zero: a number that changes but not its length breaks the
// text at the same places.
#ifndef RENDER_PAINT_WRAP_H
#define RENDER_PAINT_WRAP_H

#include "render/pixel/text.h"

struct wrap_style {
    enum text_face face;
    int px;
    int width_px;
};

struct wrap_line {
    int from, bytes; // without the spaces at its end; bytes <= WRAP_LINE_BYTES
    int next;        // byte where the next line begins
};

enum { WRAP_LINE_BYTES = 480 };

// The line that begins at byte `from`. False: the text has ended. An empty text has no
// line, an empty paragraph one without bytes. Even the narrowest line holds at least one
// character.
bool wrap_next(struct wrap_line *out, struct text *text, const struct wrap_style *style,
               const char *utf8, int from);

// Lines of the whole text, at most `most`.
int wrap_count(struct text *text, const struct wrap_style *style, const char *utf8, int most);

// Copies bytes [from, to) without the marks of terms; returns the bytes written. `out`
// holds WRAP_LINE_BYTES + 1.
int wrap_copy(char *out, const char *utf8, int from, int to);

// Width in px of bytes [from, to) as they are drawn, without the marks.
int wrap_width_px(struct text *text, const struct wrap_style *style, const char *utf8, int from,
                  int to);

#endif
