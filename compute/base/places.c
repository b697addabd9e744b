// See places.h.
#include "compute/base/places.h"

#include "compute/base/figures.h"
#include "compute/base/utf8.h"

#include <stdio.h>
#include <string.h>

enum { VALUE_BYTES = 512 };

// --- Reading ---

static bool broken(struct place *out, const char *problem) {
    out->kind = PLACE_BROKEN;
    out->problem = problem;
    return true;
}

// Reads the inside of a place up to its closing sign and returns what follows that; NULL
// if it is not closed.
static const char *read_parts(struct place *out, const char *text, char close) {
    size_t used = 0;
    out->part_count = 1;
    for (; *text && *text != close; text++) {
        if (strchr("{}[]\n", *text) || (*text == '|' && out->part_count == 3))
            break;
        if (*text == '|') {
            used = 0;
            out->part_count++;
            continue;
        }
        if (used + 1 >= PLACE_PART_BYTES)
            break;
        out->parts[out->part_count - 1][used++] = *text;
    }
    return *text == close ? text + 1 : NULL;
}

bool place_next(struct place *out, const char **text) {
    const char *at = *text;
    *out = (struct place){.kind = PLACE_SIGN};
    if (!*at)
        return false;
    if (strchr("{}[]", *at) && at[1] == *at) {
        out->sign = at;
        out->sign_bytes = 1;
        *text = at + 2;
        return true;
    }
    if (*at == '}' || *at == ']')
        return broken(out, *at == '}' ? "a lone } (write }})" : "a lone ] (write ]])");
    if (*at == '{' || *at == '[') {
        out->kind = *at == '{' ? PLACE_VALUE : PLACE_TERM;
        const char *after = read_parts(out, at + 1, *at == '{' ? '}' : ']');
        if (!after)
            return broken(out, *at == '{' ? "a place that { opens and no } closes"
                                          : "a word that [ opens and no ] closes");
        *text = after;
        return true;
    }
    size_t length = utf8_length(at, strlen(at));
    out->sign = at;
    out->sign_bytes = length ? length : 1;
    *text = at + out->sign_bytes;
    return true;
}

// --- Filling ---

struct writer {
    char *out;
    size_t bytes, used;
    char open_mark; // the mark that ends the glossary word being written, or 0
    bool is_cut;
};

enum { KEPT_BYTES = 5 }; // for an ellipsis, an end mark and the NUL

static void put(struct writer *writer, const char *text, size_t length) {
    for (size_t i = 0; i < length && !writer->is_cut;) {
        size_t sign = utf8_length(text + i, length - i);
        sign = sign ? sign : 1;
        if (writer->used + sign + KEPT_BYTES > writer->bytes) {
            memcpy(writer->out + writer->used, SIGN_ELLIPSIS, 3);
            writer->used += 3;
            writer->is_cut = true;
            if (writer->open_mark)
                writer->out[writer->used++] = writer->open_mark;
            return;
        }
        memcpy(writer->out + writer->used, text + i, sign);
        writer->used += sign;
        i += sign;
    }
}

static void put_value(struct writer *writer, const struct place *place,
                      const struct place_filler *filler) {
    char value[VALUE_BYTES];
    if (!filler->value(value, sizeof value, place->parts[0], filler->context))
        snprintf(value, sizeof value, SIGN_DASH);
    put(writer, value, strlen(value));
    if (place->part_count < 3)
        return;
    const char *form = place->parts[strcmp(value, "1") == 0 ? 1 : 2];
    put(writer, " ", 1);
    put(writer, form, strlen(form));
}

static void put_term(struct writer *writer, const struct place *place,
                     const struct place_filler *filler) {
    const char *name = place->parts[place->part_count > 1 ? 1 : 0];
    bool is_marked =
        filler->term_end && (!filler->has_term || filler->has_term(name, filler->context));
    if (is_marked)
        put(writer, &filler->term_begin, 1);
    writer->open_mark = is_marked && !writer->is_cut ? filler->term_end : 0;
    put(writer, place->parts[0], strlen(place->parts[0]));
    if (writer->open_mark)
        put(writer, &filler->term_end, 1);
    writer->open_mark = 0;
}

void places_fill(char *out, size_t bytes, const char *text, const struct place_filler *filler) {
    struct writer writer = {.out = out, .bytes = bytes, .is_cut = bytes < KEPT_BYTES};
    struct place place;
    if (bytes == 0)
        return;
    while (place_next(&place, &text) && place.kind != PLACE_BROKEN) {
        if (place.kind == PLACE_SIGN)
            put(&writer, place.sign, place.sign_bytes);
        else if (place.kind == PLACE_VALUE)
            put_value(&writer, &place, filler);
        else
            put_term(&writer, &place, filler);
    }
    out[writer.used] = '\0';
}
