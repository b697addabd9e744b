// UTF-8 and Unicode properties: decoding, cutting between characters, texts made safe to
// print, classes of characters, and the boundaries of user-perceived characters (UAX #29,
// from utf8proc). Texts may contain any bytes, NUL included; nothing is read past
// `bytes`.
#ifndef COMPUTE_BASE_UTF8_H
#define COMPUTE_BASE_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

// Replaces bytes that are not UTF-8.
enum { UTF8_REPLACEMENT = 0xFFFD };

// Bytes of the well-formed sequence at the start of `text`, 1 to 4, and its code
// point; 0 when there is none (stray, cut or overlong bytes, a surrogate, beyond
// U+10FFFF) or `bytes` is 0; then *code is unchanged.
size_t utf8_next(const char *text, size_t bytes, uint32_t *code);

// The same where the code point doesn't matter.
size_t utf8_length(const char *text, size_t bytes);

// Writes one code point up to U+10FFFF without a NUL after it; returns its bytes.
size_t utf8_encode(char out[4], uint32_t code);

// True if all of it is well-formed; an empty text is.
bool utf8_is_valid(const char *text, size_t bytes);

// Begins reading a text from outside: moves *text behind a byte order mark (EF BB BF), if
// it has one. NULL if it may be UTF-8; else the name of the encoding that it is in, "UTF-16"
// or "UTF-32", which its mark shows, or its zero bytes: Latin text has one in each unit.
const char *utf8_open(const char **text, size_t *bytes);

// True for a byte in the middle of a sequence.
static inline bool utf8_continues(char byte) {
    return ((unsigned char)byte & 0xC0) == 0x80;
}

// Code points of a well-formed, NUL-terminated text.
int utf8_count(const char *text);

// The longest length up to `bytes` and `limit` that does not end inside a character.
size_t utf8_cut(const char *text, size_t bytes, size_t limit);

// The start of the character that ends at `at`; 0 for 0. Well-formed text only.
size_t utf8_before(const char *text, size_t at);

// `text` for a message or a listing: control characters, bytes that are not UTF-8,
// characters that show nothing or turn the direction of the line, and the backslash
// become \xNN; what does not fit in `out_bytes` is cut between characters and ends in
// "...". Always NUL-terminated.
void utf8_printable(char *out, size_t out_bytes, const char *text, size_t text_bytes);

// Writes text that the program did not make. Where `out` is a terminal, what it would obey
// becomes \xNN: control characters but tab and line feed, bytes that are not UTF-8, and
// characters that show nothing or turn the direction of the line. Else all bytes as they are.
void utf8_print(FILE *out, const char *text, size_t bytes);

// U+0000 .. U+001F and U+007F .. U+009F: no font draws them, terminals obey them.
bool utf8_is_control(uint32_t code);

// U+2028 and U+2029: they end a line or a paragraph without being a control character.
bool utf8_is_line_end(uint32_t code);

// Spaces of any width and script, but neither tabs nor line ends.
bool utf8_is_space(uint32_t code);

// Format characters: invisible, and some change the text direction (U+00AD, U+200B,
// U+202E, U+FEFF). Not the joiners and selectors that belong to a character.
bool utf8_is_invisible(uint32_t code);

// What a code point is for a rule that cuts text into words, by its general category: Lu and
// Lt, Ll, Lm and Lo, M, N, the property White_Space, and everything else.
enum utf8_class {
    UTF8_UPPER,
    UTF8_LOWER,
    UTF8_LETTER,
    UTF8_MARK,
    UTF8_NUMBER,
    UTF8_SPACE,
    UTF8_OTHER,
};
enum utf8_class utf8_class(uint32_t code);

// True if `after`, which follows `before`, belongs to the same character for a reader:
// a letter's marks, a syllable, a joined emoji, a flag. *state is 0 at a character's
// first code point and is handed on until the first false. CR and LF stay two.
bool utf8_joins(uint32_t before, uint32_t after, int32_t *state);

#endif
