// See fonts.h. A face has a chain of files, its own first. Beyond the chain, a
// character is asked of the files already found for others, then of fontconfig, and
// the answer is kept, "none" as well: a vocabulary repeats its characters.
#include "render/pixel/fonts.h"

#include "compute/base/utf8.h"
#include "compute/base/why.h"

#include <fontconfig/fontconfig.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    CHAIN_MAX = 3,
    ANSWERS = 2048, // remembered characters; a power of two
    PLACES_BYTES = 140,
};

struct file {
    char *path;
    int index; // of the face in the file
    FcCharSet *charset;
    bool is_broken;
};

struct open_font {
    int file, px;
    TTF_Font *ttf; // NULL: free
    uint64_t used; // tick of the last use
};

struct answer {
    uint32_t character; // 0: free
    int file;
};

struct fonts {
    FcConfig *config;
    bool has_ttf; // TTF_Init was done
    struct file files[FONTS_MAX_FILES];
    int file_count;
    int chains[FACE_COUNT][CHAIN_MAX];
    int chain_lengths[FACE_COUNT];
    struct open_font open[FONTS_MAX_OPEN];
    uint64_t tick;
    struct answer answers[ANSWERS];
    char note[160];
};

// What each face wants, in order; after these comes DejaVu Sans.
struct want {
    const char *family;
    int weight;
};

static const struct want wants[FACE_COUNT] = {
    [FACE_WORDS] = {"Inter", FC_WEIGHT_MEDIUM},
    [FACE_STRONG] = {"Inter", FC_WEIGHT_BOLD},
    [FACE_DIGITS] = {"DejaVu Sans", FC_WEIGHT_BOLD},
    [FACE_TOKEN] = {"DejaVu Sans", FC_WEIGHT_REGULAR},
    [FACE_MONO] = {"DejaVu Sans Mono", FC_WEIGHT_REGULAR},
};

// ---- finding files ----

static FcPattern *make_pattern(const struct want *want, const FcCharSet *charset) {
    FcPattern *pattern = FcPatternCreate();
    if (!pattern)
        return NULL;
    if (want->family)
        FcPatternAddString(pattern, FC_FAMILY, (const FcChar8 *)want->family);
    if (charset)
        FcPatternAddCharSet(pattern, FC_CHARSET, charset);
    FcPatternAddInteger(pattern, FC_WEIGHT, want->weight);
    FcPatternAddInteger(pattern, FC_SLANT, FC_SLANT_ROMAN);
    FcPatternAddBool(pattern, FC_SCALABLE, FcTrue);
    FcPatternAddBool(pattern, FC_OUTLINE, FcTrue);
    FcPatternAddBool(pattern, FC_COLOR, FcFalse); // coverage has no place for colours
    FcPatternAddBool(pattern, FC_VARIABLE, FcFalse);
    return pattern;
}

static FcPattern *match(const struct fonts *fonts, const struct want *want,
                        const FcCharSet *charset) {
    FcPattern *pattern = make_pattern(want, charset);
    if (!pattern)
        return NULL;
    FcConfigSubstitute(fonts->config, pattern, FcMatchPattern);
    FcDefaultSubstitute(pattern);
    FcResult result;
    FcPattern *found = FcFontMatch(fonts->config, pattern, &result);
    FcPatternDestroy(pattern);
    return found;
}

// True if the font has the family asked for: fontconfig always answers something.
static bool has_family(const FcPattern *font, const char *family) {
    FcChar8 *name;
    for (int i = 0; FcPatternGetString(font, FC_FAMILY, i, &name) == FcResultMatch; i++)
        if (FcStrCmpIgnoreCase(name, (const FcChar8 *)family) == 0)
            return true;
    return false;
}

static bool is_usable(const FcPattern *font, uint32_t character) {
    FcCharSet *charset;
    FcBool scalable = FcFalse, color = FcFalse;
    FcPatternGetBool(font, FC_SCALABLE, 0, &scalable);
    FcPatternGetBool(font, FC_COLOR, 0, &color);
    return scalable && !color &&
           FcPatternGetCharSet(font, FC_CHARSET, 0, &charset) == FcResultMatch &&
           FcCharSetHasChar(charset, character);
}

// The index of the font's file in the list, which may be new there; -1: no room.
static int add_file(struct fonts *fonts, const FcPattern *font) {
    FcChar8 *path;
    FcCharSet *charset;
    int index = 0;
    if (FcPatternGetString(font, FC_FILE, 0, &path) != FcResultMatch ||
        FcPatternGetCharSet(font, FC_CHARSET, 0, &charset) != FcResultMatch)
        return -1;
    FcPatternGetInteger(font, FC_INDEX, 0, &index);
    for (int i = 0; i < fonts->file_count; i++)
        if (fonts->files[i].index == index && strcmp(fonts->files[i].path, (char *)path) == 0)
            return i;
    if (fonts->file_count == FONTS_MAX_FILES)
        return -1;
    char *copy = strdup((char *)path);
    if (!copy)
        return -1;
    fonts->files[fonts->file_count] =
        (struct file){.path = copy, .index = index, .charset = FcCharSetCopy(charset)};
    return fonts->file_count++;
}

// A file of the wanted family; family NULL: of any that has Latin letters. -1: none.
static int find_file(struct fonts *fonts, const struct want *want) {
    FcPattern *font = match(fonts, want, NULL);
    if (!font)
        return -1;
    bool right = is_usable(font, 'g') && (!want->family || has_family(font, want->family));
    int file = right ? add_file(fonts, font) : -1;
    FcPatternDestroy(font);
    return file;
}

static void chain_add(struct fonts *fonts, enum text_face face, int file) {
    int *length = &fonts->chain_lengths[face];
    for (int i = 0; i < *length; i++)
        if (fonts->chains[face][i] == file)
            return;
    if (file >= 0 && *length < CHAIN_MAX)
        fonts->chains[face][(*length)++] = file;
}

// "/usr/share/fonts, /home/me/.fonts": where fontconfig looks. Those that do not fit are counted.
static void list_places(char *out, size_t bytes, FcConfig *config) {
    FcStrList *folders = FcConfigGetFontDirs(config);
    size_t used = 0;
    int left_out = 0;
    snprintf(out, bytes, "-");
    for (const FcChar8 *folder; folders && (folder = FcStrListNext(folders));) {
        if (used + strlen((const char *)folder) + sizeof ", +999" > bytes)
            left_out++;
        else
            used += (size_t)snprintf(out + used, bytes - used, "%s%s", used ? ", " : "",
                                     (const char *)folder);
    }
    if (left_out > 0)
        snprintf(out + used, bytes - used, "%s+%d", used ? ", " : "", left_out);
    if (folders)
        FcStrListDone(folders);
}

static bool refuse(const struct fonts *fonts, struct why *why) {
    char places[PLACES_BYTES];
    list_places(places, sizeof places, fonts->config);
    return why_set(why,
                   "no font with Latin letters in the folders searched (%s): "
                   "apt-get install fonts-dejavu-core fonts-inter",
                   places);
}

static bool find_chains(struct fonts *fonts, struct why *why) {
    int plain = find_file(fonts, &wants[FACE_TOKEN]);
    bool has_dejavu = plain >= 0;
    if (!has_dejavu)
        plain = find_file(fonts, &(struct want){NULL, FC_WEIGHT_REGULAR});
    if (plain < 0)
        return refuse(fonts, why);
    bool has_inter = true;
    for (int face = 0; face < FACE_COUNT; face++) {
        int file = find_file(fonts, &wants[face]);
        if (file < 0 && strcmp(wants[face].family, "Inter") == 0) {
            has_inter = false;
            file = find_file(fonts, &(struct want){"DejaVu Sans", wants[face].weight});
        }
        chain_add(fonts, (enum text_face)face, file);
        chain_add(fonts, (enum text_face)face, plain);
    }
    const char *stand_in = strrchr(fonts->files[plain].path, '/');
    if (!has_dejavu)
        snprintf(fonts->note, sizeof fonts->note,
                 "DejaVu Sans is missing, %.60s stands in (install fonts-dejavu-core)",
                 stand_in ? stand_in + 1 : fonts->files[plain].path);
    else if (!has_inter)
        snprintf(fonts->note, sizeof fonts->note,
                 "Inter is missing, DejaVu Sans stands in (install fonts-inter)");
    return true;
}

bool fonts_create(struct fonts **out, struct why *why) {
    struct fonts *fonts = *out = calloc(1, sizeof *fonts);
    if (!fonts)
        return why_set(why, "out of memory for the fonts");
    bool ok = TTF_Init() == 0;
    fonts->has_ttf = ok;
    if (!ok)
        why_set(why, "can't start SDL_ttf: %.200s", TTF_GetError());
    if (ok && !(fonts->config = FcInitLoadConfigAndFonts())) {
        why_set(why, "can't read the font configuration; install the package fontconfig");
        ok = false;
    }
    if (ok && find_chains(fonts, why))
        return true;
    fonts_destroy(fonts);
    *out = NULL;
    return false;
}

void fonts_destroy(struct fonts *fonts) {
    if (!fonts)
        return;
    for (int i = 0; i < FONTS_MAX_OPEN; i++)
        if (fonts->open[i].ttf)
            TTF_CloseFont(fonts->open[i].ttf);
    for (int i = 0; i < fonts->file_count; i++) {
        free(fonts->files[i].path);
        FcCharSetDestroy(fonts->files[i].charset);
    }
    if (fonts->config)
        FcConfigDestroy(fonts->config);
    if (fonts->has_ttf)
        TTF_Quit();
    free(fonts);
}

const char *fonts_note(const struct fonts *fonts) {
    return fonts->note;
}

// ---- open fonts ----

TTF_Font *fonts_open(struct fonts *fonts, int file, int px) {
    struct open_font *oldest = &fonts->open[0];
    for (int i = 0; i < FONTS_MAX_OPEN; i++) {
        struct open_font *font = &fonts->open[i];
        if (font->ttf && font->file == file && font->px == px) {
            font->used = ++fonts->tick;
            return font->ttf;
        }
        if (font->used < oldest->used)
            oldest = font;
    }
    if (fonts->files[file].is_broken)
        return NULL;
    TTF_Font *ttf = TTF_OpenFontIndex(fonts->files[file].path, px, fonts->files[file].index);
    if (!ttf) {
        fonts->files[file].is_broken = true;
        return NULL;
    }
    TTF_SetFontHinting(ttf, TTF_HINTING_LIGHT);
    if (oldest->ttf)
        TTF_CloseFont(oldest->ttf);
    *oldest = (struct open_font){file, px, ttf, ++fonts->tick};
    return ttf;
}

// ---- choosing ----

int fonts_primary(const struct fonts *fonts, enum text_face face) {
    return fonts->chains[face][0];
}

bool fonts_has(struct fonts *fonts, int file, int px, uint32_t character) {
    TTF_Font *ttf = fonts_open(fonts, file, px);
    return ttf && TTF_GlyphIsProvided32(ttf, character);
}

// The open font knows best; marks may be missing only if they are joiners.
static bool can_draw(struct fonts *fonts, int file, int px, const struct cluster *cluster) {
    for (int i = 0; i < cluster->count; i++)
        if ((i == 0 || !cluster_is_joiner(cluster->chars[i])) &&
            !fonts_has(fonts, file, px, cluster->chars[i]))
            return false;
    return true;
}

static int ask_fontconfig(struct fonts *fonts, uint32_t character) {
    for (int i = 0; i < fonts->file_count; i++)
        if (!fonts->files[i].is_broken && FcCharSetHasChar(fonts->files[i].charset, character))
            return i;
    FcCharSet *charset = FcCharSetCreate();
    if (!charset)
        return -1;
    FcCharSetAddChar(charset, character);
    FcPattern *font = match(fonts, &(struct want){NULL, FC_WEIGHT_REGULAR}, charset);
    FcCharSetDestroy(charset);
    int file = font && is_usable(font, character) ? add_file(fonts, font) : -1;
    if (font)
        FcPatternDestroy(font);
    return file;
}

static int find_anywhere(struct fonts *fonts, uint32_t character) {
    struct answer *answer = &fonts->answers[character * 0x9E3779B1u >> 21];
    if (answer->character != character) {
        answer->file = ask_fontconfig(fonts, character);
        answer->character = character;
    }
    return answer->file;
}

// The first of the chain that can draw the cluster, -1: none can.
static int pick_from_chain(struct fonts *fonts, enum text_face face, int px,
                           const struct cluster *cluster) {
    for (int i = 0; i < fonts->chain_lengths[face]; i++)
        if (can_draw(fonts, fonts->chains[face][i], px, cluster))
            return fonts->chains[face][i];
    return -1;
}

int fonts_pick(struct fonts *fonts, enum text_face face, int px, const struct cluster *cluster) {
    if (utf8_is_control(cluster->chars[0]))
        return -1;
    int file = pick_from_chain(fonts, face, px, cluster);
    // Of a letter with marks, the last mark is likely the rarest.
    if (file < 0) {
        file = find_anywhere(fonts, cluster->chars[cluster->count - 1]);
        if (file >= 0 && !can_draw(fonts, file, px, cluster))
            file = -1;
    }
    if (file >= 0 || cluster->count == 1)
        return file;
    // A mark that no font has must not take its letter with it.
    return fonts_pick(fonts, face, px, &(struct cluster){.chars = {cluster->chars[0]}, .count = 1});
}
