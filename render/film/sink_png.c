// Frames as PNG stills: "stills/0001-prefill.png" and so on, or one "still.png".
// A new folder grows as "stills.part" and is renamed whole; into a folder that is
// there, the stills go through a part folder inside it and move in at the end; with
// `overwrite` they replace an older set: stills of the same name, and all others that the
// text in them says are this program's. Removes nothing else.
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "compute/base/partfile.h"
#include "compute/base/spoken.h"
#include "compute/base/why.h"
#include "render/film/sink.h"
#include "render/pixel/png.h"

enum { NAME_BYTES = 64, WORD_BYTES = 40 };

struct stills {
    bool single;     // one file, not a folder
    bool new_folder; // the folder is ours: the part folder becomes it
    struct sink_opts opts;
    struct partfile part; // the part's path; its fd is unused
    char path[PARTFILE_PATH_BYTES];
    int64_t count;
};

static bool handles(const char *path) {
    return sink_wants_stills(path) || sink_has_ending(path, ".png");
}

static void describe(char *out, int bytes) {
    sink_append(out, bytes, "png   numbered stills (name a folder), or one still\n");
}

// "0012.png" or "0012-word.png": what this sink calls its files.
static bool is_still_name(const char *name) {
    size_t digits = strspn(name, "0123456789");
    if (digits < 4 || (name[digits] != '-' && name[digits] != '.'))
        return false;
    return sink_has_ending(name, ".png");
}

// Calls `visit` for each still in a folder, in order, until it returns false. The
// names are collected first: visiting may move or remove the files.
typedef bool visit_still(void *context, const char *name, struct why *why);

static int keep_stills(const struct dirent *entry) {
    return is_still_name(entry->d_name);
}

static bool for_each_still(const char *folder, visit_still *visit, void *context, struct why *why) {
    struct dirent **entries = NULL;
    int count = scandir(folder, &entries, keep_stills, alphasort);
    if (count < 0)
        return why_set(why, "can't read the folder '%.120s': %s", folder, strerror(errno));
    bool ok = true;
    for (int i = 0; i < count; i++) {
        ok = ok && visit(context, entries[i]->d_name, why);
        free(entries[i]);
    }
    free(entries);
    return ok;
}

static bool join(char out[PARTFILE_PATH_BYTES], const char *folder, const char *name) {
    int bytes = snprintf(out, PARTFILE_PATH_BYTES, "%s/%s", folder, name);
    return bytes > 0 && bytes < PARTFILE_PATH_BYTES;
}

static bool refuse_still(void *context, const char *name, struct why *why) {
    return why_set(why,
                   "'%.90s' holds stills already (%.60s): name another folder or allow it "
                   "with --overwrite",
                   (const char *)context, name);
}

static bool check_still(void *context, const char *name, struct why *why) {
    const struct stills *stills = context;
    char path[PARTFILE_PATH_BYTES];
    return join(path, stills->path, name) && partfile_check_taken(path, stills->opts.taken, why);
}

static bool open_existing_folder(struct stills *stills, struct why *why) {
    if (!stills->opts.overwrite && !for_each_still(stills->path, refuse_still, stills->path, why))
        return false;
    if (!for_each_still(stills->path, check_still, stills, why))
        return false;
    if (access(stills->path, W_OK | X_OK) != 0)
        return why_set(why, "can't write in the folder '%.120s': %s", stills->path,
                       strerror(errno));
    char inside[PARTFILE_PATH_BYTES];
    if (!join(inside, stills->path, "stills"))
        return why_set(why, "the folder name is too long");
    return partfile_create_folder(&stills->part, inside, "part", why);
}

static bool open_folder(struct stills *stills, struct why *why) {
    size_t bytes = strlen(stills->path);
    while (bytes > 1 && stills->path[bytes - 1] == '/')
        stills->path[--bytes] = '\0';
    struct stat st;
    if (stat(stills->path, &st) == 0 && S_ISDIR(st.st_mode))
        return open_existing_folder(stills, why);
    if (lstat(stills->path, &st) == 0)
        return why_set(why, "'%.120s' is there and is no folder: choose another name",
                       stills->path);
    if (!partfile_check_target(stills->path, false, stills->opts.taken, why))
        return false;
    stills->new_folder = true;
    return partfile_create_folder(&stills->part, stills->path, "part", why);
}

static bool open_single(struct stills *stills, struct why *why) {
    if (!partfile_check_target(stills->path, stills->opts.overwrite, stills->opts.taken, why) ||
        !partfile_create(&stills->part, stills->path, (struct partfile_name){"part", ".png"}, why))
        return false;
    partfile_keep(&stills->part); // reserves the name; png_write replaces the file
    return true;
}

static bool stills_open(void *state, const char *path, const struct sink_opts *opts,
                        struct why *why) {
    struct stills *stills = state;
    stills->opts = *opts;
    stills->single = !sink_wants_stills(path);
    int bytes = snprintf(stills->path, sizeof stills->path, "%s", path);
    if (bytes + NAME_BYTES + 32 >= PARTFILE_PATH_BYTES)
        return why_set(why, "the name is too long (%d bytes)", bytes);
    return stills->single ? open_single(stills, why) : open_folder(stills, why);
}

// Letters, digits and dashes; everything else becomes one dash.
static void plain_word(char out[WORD_BYTES], const char *name) {
    size_t used = 0;
    for (; *name && used + 1 < WORD_BYTES; name++) {
        unsigned char c = (unsigned char)*name;
        bool is_upper = c >= 'A' && c <= 'Z';
        bool is_plain = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || is_upper;
        if (is_plain)
            out[used++] = (char)(is_upper ? c + ('a' - 'A') : c);
        else if (used > 0 && out[used - 1] != '-')
            out[used++] = '-';
    }
    while (used > 0 && out[used - 1] == '-')
        used--;
    out[used] = '\0';
}

static bool put_into_folder(struct stills *stills, const struct sink_frame *frame,
                            struct why *why) {
    char word[WORD_BYTES], name[NAME_BYTES], path[PARTFILE_PATH_BYTES];
    plain_word(word, frame->name ? frame->name : "");
    snprintf(name, sizeof name, "%04" PRId64 "%s%s.png", frame->index + 1, *word ? "-" : "", word);
    if (!join(path, stills->part.path, name))
        return why_set(why, "the folder name is too long");
    return png_write(path, frame->bgra, frame->pitch_bytes, stills->opts.width_px,
                     stills->opts.height_px, false, why);
}

static bool stills_put(void *state, const struct sink_frame *frame, struct why *why) {
    struct stills *stills = state;
    if (stills->single && stills->count > 0)
        return why_set(why, "a single still takes one frame: name a folder for more");
    bool ok = stills->single ? png_write(stills->part.path, frame->bgra, frame->pitch_bytes,
                                         stills->opts.width_px, stills->opts.height_px, true, why)
                             : put_into_folder(stills, frame, why);
    if (ok)
        stills->count++;
    return ok;
}

static bool check_free(void *context, const char *name, struct why *why) {
    const struct stills *stills = context;
    char to[PARTFILE_PATH_BYTES];
    struct stat st;
    if (join(to, stills->path, name) && lstat(to, &st) != 0)
        return true;
    return why_set(why, "'%.120s' has appeared meanwhile", to);
}

// Of an older set, what the new one doesn't replace.
static bool remove_old(void *context, const char *name, struct why *why) {
    const struct stills *stills = context;
    char old[PARTFILE_PATH_BYTES], new[PARTFILE_PATH_BYTES];
    struct stat st;
    if (!join(old, stills->path, name) || !join(new, stills->part.path, name) ||
        lstat(new, &st) == 0 || !png_is_ours(old) || unlink(old) == 0)
        return true;
    return why_set(why, "can't remove the older still '%.120s': %s", old, strerror(errno));
}

static bool move_in(void *context, const char *name, struct why *why) {
    const struct stills *stills = context;
    char from[PARTFILE_PATH_BYTES], to[PARTFILE_PATH_BYTES];
    return join(from, stills->part.path, name) && join(to, stills->path, name) &&
           partfile_rename(from, to, stills->opts.overwrite, why);
}

static bool publish(struct stills *stills, struct why *why) {
    if (stills->single || stills->new_folder)
        return partfile_rename(stills->part.path, stills->path,
                               stills->single && stills->opts.overwrite, why);
    if (!stills->opts.overwrite && !for_each_still(stills->part.path, check_free, stills, why))
        return false;
    if (stills->opts.overwrite && !for_each_still(stills->path, remove_old, stills, why))
        return false;
    if (!for_each_still(stills->part.path, move_in, stills, why))
        return false;
    rmdir(stills->part.path);
    return true;
}

static bool remove_still(void *context, const char *name, struct why *why) {
    const struct stills *stills = context;
    char path[PARTFILE_PATH_BYTES];
    (void)why; // best effort: a file that stays is seen and harmless
    if (join(path, stills->part.path, name))
        unlink(path);
    return true;
}

static void discard(struct stills *stills) {
    if (stills->single) {
        unlink(stills->part.path);
        return;
    }
    struct why ignored;
    for_each_still(stills->part.path, remove_still, stills, &ignored);
    rmdir(stills->part.path);
}

static bool stills_close(void *state, enum sink_end end, struct why *why) {
    struct stills *stills = state;
    bool ok = true;
    if (end == SINK_DISCARD)
        discard(stills);
    else if (end == SINK_RESCUE)
        why_set(why, "the stills before it are in '%s'", stills->part.path);
    else
        ok = publish(stills, why);
    if (!ok)
        sink_append(why->text, WHY_BYTES, why_spoken("; the stills are in '%.90s'"),
                    stills->part.path);
    return ok;
}

const struct sink_driver sink_driver_png = {
    .state_bytes = sizeof(struct stills),
    .handles = handles,
    .open = stills_open,
    .put = stills_put,
    .close = stills_close,
    .describe = describe,
};
