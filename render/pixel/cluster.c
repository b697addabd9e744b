// See cluster.h. Everything is a look-up in short range tables; the marks listed are
// those of the scripts a vocabulary is likely to hold, from the Unicode blocks.
#include "render/pixel/cluster.h"

struct range {
    uint32_t first, last;
};

// Combining marks, joiners, variation selectors, emoji modifiers.
static const struct range extenders[] = {
    {0x0300, 0x036F},   {0x0483, 0x0489}, {0x0591, 0x05BD}, {0x05BF, 0x05BF},   {0x05C1, 0x05C2},
    {0x05C4, 0x05C5},   {0x05C7, 0x05C7}, {0x0610, 0x061A}, {0x064B, 0x065F},   {0x0670, 0x0670},
    {0x06D6, 0x06DC},   {0x06DF, 0x06E4}, {0x06E7, 0x06E8}, {0x06EA, 0x06ED},   {0x0711, 0x0711},
    {0x0730, 0x074A},   {0x07A6, 0x07B0}, {0x07EB, 0x07F3}, {0x0816, 0x082D},   {0x08D3, 0x0903},
    {0x093A, 0x093C},   {0x093E, 0x094F}, {0x0951, 0x0957}, {0x0962, 0x0963},   {0x0981, 0x0983},
    {0x09BC, 0x09BC},   {0x09BE, 0x09CD}, {0x09D7, 0x09D7}, {0x0A01, 0x0A03},   {0x0A3C, 0x0A4D},
    {0x0A70, 0x0A71},   {0x0A81, 0x0A83}, {0x0ABC, 0x0ABC}, {0x0ABE, 0x0ACD},   {0x0B01, 0x0B03},
    {0x0B3C, 0x0B3C},   {0x0B3E, 0x0B57}, {0x0B82, 0x0B82}, {0x0BBE, 0x0BCD},   {0x0BD7, 0x0BD7},
    {0x0C00, 0x0C04},   {0x0C3E, 0x0C56}, {0x0C81, 0x0C83}, {0x0CBC, 0x0CBC},   {0x0CBE, 0x0CD6},
    {0x0D00, 0x0D03},   {0x0D3B, 0x0D3C}, {0x0D3E, 0x0D4D}, {0x0D57, 0x0D57},   {0x0D81, 0x0D83},
    {0x0DCA, 0x0DDF},   {0x0E31, 0x0E31}, {0x0E34, 0x0E3A}, {0x0E47, 0x0E4E},   {0x0EB1, 0x0EB1},
    {0x0EB4, 0x0EBC},   {0x0EC8, 0x0ECD}, {0x0F18, 0x0F19}, {0x0F35, 0x0F39},   {0x0F71, 0x0F84},
    {0x0F8D, 0x0FBC},   {0x102B, 0x103E}, {0x1056, 0x1059}, {0x135D, 0x135F},   {0x17B4, 0x17D3},
    {0x1AB0, 0x1AFF},   {0x1DC0, 0x1DFF}, {0x200C, 0x200D}, {0x20D0, 0x20F0},   {0x302A, 0x302F},
    {0x3099, 0x309A},   {0xFE00, 0xFE0F}, {0xFE20, 0xFE2F}, {0x1F3FB, 0x1F3FF}, {0xE0020, 0xE007F},
    {0xE0100, 0xE01EF},
};

// Format characters that show nothing and could turn the text around.
static const struct range invisibles[] = {
    {0x00AD, 0x00AD}, {0x061C, 0x061C}, {0x180E, 0x180E}, {0x200B, 0x200B}, {0x200E, 0x200F},
    {0x202A, 0x202E}, {0x2060, 0x206F}, {0xFEFF, 0xFEFF}, {0xFFF9, 0xFFFB}, {0xE0001, 0xE0001},
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

static bool in_ranges(const struct range *ranges, size_t count, uint32_t character) {
    size_t low = 0, high = count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (character > ranges[middle].last)
            low = middle + 1;
        else
            high = middle;
    }
    return low < count && character >= ranges[low].first;
}

static bool is_extender(uint32_t character) {
    return character >= extenders[0].first &&
           in_ranges(extenders, sizeof extenders / sizeof *extenders, character);
}

static bool is_invisible(uint32_t character) {
    return character >= invisibles[0].first &&
           in_ranges(invisibles, sizeof invisibles / sizeof *invisibles, character);
}

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

// One character; U+FFFD and one byte for what is no UTF-8 (stray or missing
// continuation, overlong, surrogate, beyond U+10FFFF).
static size_t decode(uint32_t *out, const char *utf8, size_t bytes) {
    static const uint32_t smallest[] = {0, 0, 0x80, 0x800, 0x10000};
    const unsigned char *s = (const unsigned char *)utf8;
    *out = s[0];
    if (s[0] < 0x80)
        return 1;
    size_t need = s[0] >= 0xF0 ? 4 : s[0] >= 0xE0 ? 3 : 2;
    uint32_t value = s[0] & (0x7Fu >> need);
    *out = 0xFFFD;
    if (s[0] < 0xC2 || s[0] > 0xF4 || need > bytes)
        return 1;
    for (size_t i = 1; i < need; i++) {
        if ((s[i] & 0xC0) != 0x80)
            return 1;
        value = value << 6 | (s[i] & 0x3F);
    }
    if (value < smallest[need] || value > 0x10FFFF || (value >= 0xD800 && value <= 0xDFFF))
        return 1;
    *out = value;
    return need;
}

bool cluster_is_control(uint32_t character) {
    return character < 0x20 || (character >= 0x7F && character < 0xA0);
}

// Signs that fonts have for the white space that would break a line.
static uint32_t to_visible(uint32_t character) {
    if (character == '\n' || character == 0x2028 || character == 0x2029)
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
    if (is_invisible(character))
        return used;
    out->chars[out->count++] = to_visible(character);
    out->script = find_script(character);
    while (used < bytes && out->count < CLUSTER_MAX) {
        size_t more = decode(&character, utf8 + used, bytes - used);
        if (!is_extender(character))
            break;
        out->chars[out->count++] = character;
        used += more;
    }
    return used;
}

size_t cluster_encode(char out[4], uint32_t character) {
    if (character < 0x80) {
        out[0] = (char)character;
        return 1;
    }
    size_t count = character < 0x800 ? 2 : character < 0x10000 ? 3 : 4;
    for (size_t i = count - 1; i > 0; i--) {
        out[i] = (char)(0x80 | (character & 0x3F));
        character >>= 6;
    }
    static const unsigned char lead[] = {0, 0, 0xC0, 0xE0, 0xF0};
    out[0] = (char)(lead[count] | character);
    return count;
}

size_t cluster_cut(const char *utf8, size_t bytes, size_t limit) {
    if (bytes <= limit)
        return bytes;
    size_t cut = limit;
    // At most three bytes of a cut character lie before the limit.
    for (int i = 0; i < 3 && cut > 0 && ((unsigned char)utf8[cut] & 0xC0) == 0x80; i++)
        cut--;
    return cut;
}
