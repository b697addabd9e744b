// The drawing commands of one frame in a fixed buffer: what paint writes and
// draw executes. Integer pixels only, but for slanted lines, which are placed in
// sixteenths; later commands cover earlier ones. A full buffer drops commands and
// counts them.
#ifndef RENDER_DATA_CMDLIST_H
#define RENDER_DATA_CMDLIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    CMDLIST_MAX = 32768,
    CMDLIST_TEXT_BYTES = 1 << 18,
    CMD_MAX_RADIUS_PX = 96,
    CMD_MAX_STROKE_PX = 24,
    CMD_MAX_DROP_PX = 512,
    CMD_DROP_PHASES = 4,
    CMD_MAX_LINE_PX = 96,
    CMD_LINE_UNIT = 16, // parts of a pixel in which lines are placed
};

struct rect {
    int x, y, w, h; // px
};

// True for the pixels that a fill of `rect` covers.
static inline bool rect_has(struct rect rect, int x_px, int y_px) {
    return x_px >= rect.x && x_px < rect.x + rect.w && y_px >= rect.y && y_px < rect.y + rect.h;
}

// The rectangle without a margin at both sides and at top and bottom; negative: with one.
static inline struct rect rect_inset(struct rect rect, int x_px, int y_px) {
    return (struct rect){rect.x + x_px, rect.y + y_px, rect.w - 2 * x_px, rect.h - 2 * y_px};
}

// The square with its middle at a place.
static inline struct rect rect_around(int x_px, int y_px, int size_px) {
    return (struct rect){x_px - size_px / 2, y_px - size_px / 2, size_px, size_px};
}

// 0xRRGGBBAA, not premultiplied.
typedef uint32_t rgba;

enum text_face {
    FACE_WORDS,  // Inter Medium
    FACE_STRONG, // Inter Bold
    FACE_DIGITS, // DejaVu Sans Bold: digits of equal width
    FACE_TOKEN,  // DejaVu Sans: token text, signs, arrows
    FACE_MONO,   // DejaVu Sans Mono: key caps, numbers in columns
    FACE_COUNT
};

enum cmd_kind {
    CMD_FILL,    // a plain rectangle
    CMD_ROUND,   // a filled rectangle with corners of `radius`
    CMD_RING,    // its outline, `stroke` wide, inside the rectangle
    CMD_STRIPES, // diagonal stripes over the rectangle, `stroke` wide and `stroke`
                 // apart along x; they lean like / or, `mirrored`, like \; the pattern
                 // is fixed to the target's corner, so neighbours continue each other
    CMD_DROP,    // a drop, tip at the top, filling the rectangle (best h = 1.35 w);
                 // `phase` 0 .. 3 shifts it down by quarters of a pixel
    CMD_LINE,    // a line of any slope with round ends, from (x, y) to (x + w, y + h),
                 // `stroke` wide, all in sixteenths of a pixel; a place on the corner of
                 // four pixels has whole coordinates. `phase` 1: one shape with the line
                 // before it, joined to it where it begins at its end
    CMD_TEXT,    // text with its left end at x and baseline at y, `px` high
    CMD_CLIP,    // later commands stay inside the rectangle; w = 0: whole target
};

struct cmd {
    uint8_t kind;     // enum cmd_kind
    uint8_t face;     // CMD_TEXT
    uint8_t phase;    // CMD_DROP, CMD_LINE
    uint8_t mirrored; // CMD_STRIPES
    uint16_t radius;  // px, CMD_ROUND, CMD_RING; clamped to half the smaller side
    uint16_t stroke;  // px, CMD_RING, CMD_STRIPES; 1/16 px, CMD_LINE; font px for CMD_TEXT
    rgba color;
    struct rect rect;                 // CMD_TEXT: x, baseline y, width and ascent as measured
                                      // CMD_LINE: 1/16 px, w and h of either sign
    uint32_t text_offset, text_bytes; // CMD_TEXT
};

struct cmdlist {
    int count;
    int dropped;
    size_t text_used;
    struct cmd cmds[CMDLIST_MAX];
    char text[CMDLIST_TEXT_BYTES];
};

void cmdlist_clear(struct cmdlist *list);

// Each adds one command. Nothing is added for what can't be seen: an empty
// rectangle, alpha 0, no stroke, an empty text. Radius, stroke and phase are clamped.
void cmdlist_fill(struct cmdlist *list, struct rect rect, rgba color);
void cmdlist_round(struct cmdlist *list, struct rect rect, int radius_px, rgba color);
void cmdlist_ring(struct cmdlist *list, struct rect rect, int radius_px, int stroke_px, rgba color);
void cmdlist_stripes(struct cmdlist *list, struct rect rect, int stroke_px, bool mirrored,
                     rgba color);
void cmdlist_drop(struct cmdlist *list, struct rect rect, int phase, rgba color);
// From `text`: face, stroke (font px), color, rect. rect.w and rect.h are what the
// fonts say, kept for overlap tests; only x and y place the text. A text that
// doesn't fit is dropped whole.
void cmdlist_text(struct cmdlist *list, const struct cmd *text, const char *utf8);

// A line between two places in 1/16 px. Lines that follow one another in one colour
// and stroke with `is_continued` are one shape: where they meet or cross nothing is
// drawn twice, and a dashed line costs no more than a whole one. Equal ends: a dot.
struct cmd_line {
    int x0, y0, x1, y1; // 1/16 px, within +-2^24
    int stroke;         // 1/16 px, up to CMD_MAX_LINE_PX
    bool is_continued;
};
void cmdlist_line(struct cmdlist *list, const struct cmd_line *line, rgba color);

// rect.w = 0: the whole target again; w < 0 or h <= 0: nothing is drawn.
void cmdlist_clip(struct cmdlist *list, struct rect rect);

// Equal for equal commands and texts, on every machine of one byte order.
uint64_t cmdlist_hash(const struct cmdlist *list);

#endif
