// See cluster.h.
#include "render/pixel/cluster.h"

#include "compute/base/utf8.h"

struct range {
    uint32_t first, last;
};

// Scripts whose letters change with their neighbours or run from right to left.
static const struct {
    struct range range;
    struct cluster_script script;
} scripts[] = {
    {{0, 0}, {"Zzzz", false}},           {{0x0590, 0x05FF}, {"Hebr", true}},
    {{0x0600, 0x06FF}, {"Arab", true}},  {{0x0700, 0x074F}, {"Syrc", true}},
    {{0x0750, 0x077F}, {"Arab", true}},  {{0x0780, 0x07BF}, {"Thaa", true}},
    {{0x07C0, 0x07FF}, {"Nkoo", true}},  {{0x08A0, 0x08FF}, {"Arab", true}},
    {{0x0900, 0x097F}, {"Deva", false}}, {{0x0980, 0x09FF}, {"Beng", false}},
    {{0x0A00, 0x0A7F}, {"Guru", false}}, {{0x0A80, 0x0AFF}, {"Gujr", false}},
    {{0x0B00, 0x0B7F}, {"Orya", false}}, {{0x0B80, 0x0BFF}, {"Taml", false}},
    {{0x0C00, 0x0C7F}, {"Telu", false}}, {{0x0C80, 0x0CFF}, {"Knda", false}},
    {{0x0D00, 0x0D7F}, {"Mlym", false}}, {{0x0D80, 0x0DFF}, {"Sinh", false}},
    {{0x0E00, 0x0E7F}, {"Thai", false}}, {{0x0E80, 0x0EFF}, {"Laoo", false}},
    {{0x0F00, 0x0FFF}, {"Tibt", false}}, {{0x1000, 0x109F}, {"Mymr", false}},
    {{0x1100, 0x11FF}, {"Hang", false}}, {{0x1780, 0x17FF}, {"Khmr", false}},
    {{0xFB1D, 0xFB4F}, {"Hebr", true}},  {{0xFB50, 0xFDFF}, {"Arab", true}},
    {{0xFE70, 0xFEFC}, {"Arab", true}},
};

enum { SCRIPT_COUNT = sizeof scripts / sizeof *scripts };

bool cluster_is_joiner(uint32_t character) {
    return character == 0x200C || character == 0x200D ||
           (character >= 0xFE00 && character <= 0xFE0F) ||
           (character >= 0xE0020 && character <= 0xE01EF);
}

static uint8_t find_script(uint32_t character) {
    if (character < scripts[1].range.first)
        return 0;
    for (int i = 1; i < SCRIPT_COUNT; i++)
        if (character >= scripts[i].range.first && character <= scripts[i].range.last)
            return (uint8_t)i;
    return 0;
}

const struct cluster_script *cluster_script(uint8_t script) {
    return &scripts[script < SCRIPT_COUNT ? script : 0].script;
}

// One character; U+FFFD and one byte for what is no UTF-8.
static size_t decode(uint32_t *out, const char *utf8, size_t bytes) {
    size_t length = utf8_next(utf8, bytes, out);
    if (length > 0)
        return length;
    *out = UTF8_REPLACEMENT;
    return 1;
}

// Signs that fonts have for the white space that would break a line.
static uint32_t to_visible(uint32_t character) {
    if (character == '\n' || utf8_is_line_end(character))
        return 0x23CE;                             // return key
    return character == '\t' ? 0x21E5 : character; // arrow to a bar
}

size_t cluster_next(struct cluster *out, const char *utf8, size_t bytes) {
    out->count = 0;
    out->script = 0;
    if (bytes == 0)
        return 0;
    uint32_t character;
    size_t used = decode(&character, utf8, bytes);
    if (utf8_is_invisible(character))
        return used;
    out->chars[out->count++] = to_visible(character);
    out->script = find_script(character);
    int32_t state = 0;
    while (used < bytes && out->count < CLUSTER_MAX) {
        uint32_t before = character;
        size_t more = decode(&character, utf8 + used, bytes - used);
        if (!utf8_joins(before, character, &state))
            break;
        out->chars[out->count++] = character;
        used += more;
    }
    return used;
}
