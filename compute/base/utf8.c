// See utf8.h. Decoding is our own, since utf8proc takes no text that ends in the middle
// of a sequence; what a character is comes from utf8proc's tables.
#include "compute/base/utf8.h"

#include <string.h>
#include <unistd.h>

#include <utf8proc.h>

size_t utf8_next(const char *text, size_t bytes, uint32_t *code) {
    if (bytes == 0)
        return 0;
    const uint8_t *p = (const uint8_t *)text;
    if (p[0] < 0x80) {
        *code = p[0];
        return 1;
    }
    // C0, C1 and F5 .. FF begin only overlong forms or what lies beyond U+10FFFF.
    size_t length = p[0] >= 0xF0 ? 4 : p[0] >= 0xE0 ? 3 : 2;
    if (p[0] < 0xC2 || p[0] > 0xF4 || length > bytes)
        return 0;
    uint32_t value = p[0] & (0x7Fu >> length);
    for (size_t i = 1; i < length; i++) {
        if (!utf8_continues(text[i]))
            return 0;
        value = value << 6 | (p[i] & 0x3F);
    }
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    if (value < least[length] || value > 0x10FFFF || (value >= 0xD800 && value <= 0xDFFF))
        return 0;
    *code = value;
    return length;
}

size_t utf8_length(const char *text, size_t bytes) {
    uint32_t code;
    return utf8_next(text, bytes, &code);
}

size_t utf8_encode(char out[4], uint32_t code) {
    if (code < 0x80) {
        out[0] = (char)code;
        return 1;
    }
    size_t count = code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    for (size_t i = count - 1; i > 0; i--) {
        out[i] = (char)(0x80 | (code & 0x3F));
        code >>= 6;
    }
    static const unsigned char lead[] = {0, 0, 0xC0, 0xE0, 0xF0};
    out[0] = (char)(lead[count] | code);
    return count;
}

bool utf8_is_valid(const char *text, size_t bytes) {
    for (size_t at = 0; at < bytes;) {
        size_t length = utf8_length(text + at, bytes - at);
        if (length == 0)
            return false;
        at += length;
    }
    return true;
}

int utf8_count(const char *text) {
    int count = 0;
    for (; *text != '\0'; text++)
        count += !utf8_continues(*text);
    return count;
}

size_t utf8_cut(const char *text, size_t bytes, size_t limit) {
    if (bytes <= limit)
        return bytes;
    size_t cut = limit;
    // At most three bytes of a character lie before the limit.
    for (int i = 0; i < 3 && cut > 0 && utf8_continues(text[cut]); i++)
        cut--;
    return utf8_continues(text[cut]) ? limit : cut;
}

size_t utf8_before(const char *text, size_t at) {
    if (at > 0)
        at--;
    while (at > 0 && utf8_continues(text[at]))
        at--;
    return at;
}

// --- From outside ---

const char *utf8_open(const char **text, size_t *bytes) {
    enum { SEEN_BYTES = 1024, MARK_BYTES = 3 };
    const char *start = *text;
    size_t seen = *bytes < SEEN_BYTES ? *bytes / 4 * 4 : SEEN_BYTES, zeros[4] = {0};
    for (size_t i = 0; i < seen; i++)
        zeros[i % 4] += start[i] == '\0';
    // Every code point below U+110000 has a zero byte at its larger end, most have two.
    size_t units = seen / 4;
    if (units > 0 && ((zeros[0] == units && 2 * zeros[1] > units) ||
                      (zeros[3] == units && 2 * zeros[2] > units)))
        return "UTF-32";
    if (*bytes >= 2 && (memcmp(start, "\xFF\xFE", 2) == 0 || memcmp(start, "\xFE\xFF", 2) == 0))
        return "UTF-16";
    // More than half of the pairs have a zero in the one place, and none in the other.
    size_t even = zeros[0] + zeros[2], odd = zeros[1] + zeros[3];
    if ((even == 0 && odd > units) || (odd == 0 && even > units))
        return "UTF-16";
    if (*bytes >= MARK_BYTES && memcmp(start, "\xEF\xBB\xBF", MARK_BYTES) == 0) {
        *text += MARK_BYTES;
        *bytes -= MARK_BYTES;
    }
    return NULL;
}

// --- Classes ---

bool utf8_is_control(uint32_t code) {
    return code < 0x20 || (code >= 0x7F && code < 0xA0);
}

bool utf8_is_line_end(uint32_t code) {
    return code == 0x2028 || code == 0x2029;
}

bool utf8_is_space(uint32_t code) {
    return utf8proc_category((utf8proc_int32_t)code) == UTF8PROC_CATEGORY_ZS;
}

bool utf8_is_invisible(uint32_t code) {
    if (code < 0xAD)
        return false;
    // The others of this category go with a character or show one, as Arabic signs do.
    const utf8proc_property_t *of = utf8proc_get_property((utf8proc_int32_t)code);
    return of->category == UTF8PROC_CATEGORY_CF && of->boundclass == UTF8PROC_BOUNDCLASS_CONTROL;
}

enum utf8_class utf8_class(uint32_t code) {
    switch (utf8proc_category((utf8proc_int32_t)code)) {
    case UTF8PROC_CATEGORY_LU:
    case UTF8PROC_CATEGORY_LT:
        return UTF8_UPPER;
    case UTF8PROC_CATEGORY_LL:
        return UTF8_LOWER;
    case UTF8PROC_CATEGORY_LM:
    case UTF8PROC_CATEGORY_LO:
        return UTF8_LETTER;
    case UTF8PROC_CATEGORY_MN:
    case UTF8PROC_CATEGORY_MC:
    case UTF8PROC_CATEGORY_ME:
        return UTF8_MARK;
    case UTF8PROC_CATEGORY_ND:
    case UTF8PROC_CATEGORY_NL:
    case UTF8PROC_CATEGORY_NO:
        return UTF8_NUMBER;
    case UTF8PROC_CATEGORY_ZS:
    case UTF8PROC_CATEGORY_ZL:
    case UTF8PROC_CATEGORY_ZP:
        return UTF8_SPACE;
    default:
        return (code >= '\t' && code <= '\r') || code == 0x85 ? UTF8_SPACE : UTF8_OTHER;
    }
}

bool utf8_joins(uint32_t before, uint32_t after, int32_t *state) {
    enum { FIRST_MARK = 0x300 };
    if (before < FIRST_MARK && after < FIRST_MARK)
        return false;
    return !utf8proc_grapheme_break_stateful((utf8proc_int32_t)before, (utf8proc_int32_t)after,
                                             state);
}

// --- Texts for people ---

// Shows as itself and leaves the rest of the line alone. Joiners are bytes that nobody
// sees in a name.
static bool is_plain(uint32_t code) {
    bool is_joiner = code == 0x200C || code == 0x200D;
    return code != '\\' && !is_joiner && !utf8_is_control(code) && !utf8_is_line_end(code) &&
           !utf8_is_invisible(code);
}

void utf8_printable(char *out, size_t out_bytes, const char *text, size_t text_bytes) {
    if (out_bytes == 0)
        return;
    size_t used = 0, whole = 0; // whole: how much may stay when "..." has to follow
    size_t at = 0;
    while (at < text_bytes) {
        uint32_t code = 0;
        size_t length = utf8_next(text + at, text_bytes - at, &code);
        bool plain = length > 0 && is_plain(code);
        if (length == 0)
            length = 1;
        size_t need = plain ? length : 4 * length;
        if (need >= out_bytes - used)
            break;
        if (plain) {
            memcpy(out + used, text + at, length);
        } else {
            for (size_t i = 0; i < length; i++)
                snprintf(out + used + 4 * i, 5, "\\x%02x", (unsigned char)text[at + i]);
        }
        used += need;
        at += length;
        if (used + 4 <= out_bytes)
            whole = used;
    }
    out[used] = '\0';
    if (at < text_bytes)
        snprintf(out + whole, out_bytes - whole, "...");
}

// A terminal shows it, or a line end or a tab, and obeys nothing else in it.
static bool is_harmless(uint32_t code) {
    bool is_joiner = code == 0x200C || code == 0x200D;
    return code == '\n' || code == '\t' || code == '\\' || is_joiner || is_plain(code);
}

void utf8_print(FILE *out, const char *text, size_t bytes) {
    bool is_terminal = isatty(fileno(out));
    if (!is_terminal)
        fwrite(text, 1, bytes, out);
    for (size_t at = 0; is_terminal && at < bytes;) {
        uint32_t code = 0;
        size_t length = utf8_next(text + at, bytes - at, &code);
        if (length > 0 && is_harmless(code)) {
            fwrite(text + at, 1, length, out);
            at += length;
            continue;
        }
        for (size_t end = at + (length ? length : 1); at < end; at++)
            fprintf(out, "\\x%02x", (unsigned char)text[at]);
    }
}
