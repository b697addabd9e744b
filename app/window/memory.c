// See memory.h. Choices are stored by their names on the command line, so inserting one
// keeps old files valid.
#include "app/window/memory.h"

#include "app/state/actions.h"
#include "compute/base/json_in.h"
#include "compute/base/json_out.h"
#include "compute/base/why.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    VERSION = 1,
    MAX_BYTES = 64 * 1024,
    NAME_BYTES = 32, // of a choice
};

// --- Where it is ---

static const char *absolute(const char *variable) {
    const char *value = getenv(variable);
    return value && value[0] == '/' ? value : NULL;
}

bool memory_path(char out[PARTFILE_PATH_BYTES]) {
    const char *state = absolute("XDG_STATE_HOME"), *home = absolute("HOME");
    int bytes = -1;
    if (state)
        bytes = snprintf(out, PARTFILE_PATH_BYTES, "%s/tokendrip/state.json", state);
    else if (home)
        bytes = snprintf(out, PARTFILE_PATH_BYTES, "%s/.local/state/tokendrip/state.json", home);
    return bytes > 0 && bytes < PARTFILE_PATH_BYTES;
}

// --- Fields ---

static void print_choice(struct jsonout *out, const char *name, int value) {
    const struct option_row *row = argparse_row(&options_table, name);
    const char *choice = row->choices[value - (int)row->min];
    jsonout_text(out, name, choice, strlen(choice));
}

static int read_choice(const struct jsonin *at, const char *name) {
    const struct option_row *row = argparse_row(&options_table, name);
    char text[NAME_BYTES];
    for (int i = 0; jsonin_text(at, name, text, sizeof text) && row->choices[i]; i++) {
        if (strcmp(text, row->choices[i]) == 0)
            return (int)row->min + i;
    }
    return 0;
}

// 0 where it is missing or out of range.
static int read_int(const struct jsonin *at, const char *key, int64_t least, int64_t most) {
    int64_t value = 0;
    if (!jsonin_int(at, key, (struct jsonin_range){least, most}, &value))
        return 0;
    return (int)value;
}

static struct memory read_fields(const struct jsonin *at) {
    const struct option_row *size = argparse_row(&options_table, "size");
    struct memory memory = {
        .mode = (enum mode_choice)read_choice(at, "mode"),
        .theme = (enum theme_id)read_choice(at, "theme"),
        .clock = (enum clock_choice)read_choice(at, "clock"),
        .text_step = read_int(at, "text_step", TEXT_STEP_MIN, TEXT_STEP_MAX),
        .place.chapter = read_int(at, "chapter", 0, LESSON_MAX_CHAPTERS - 1),
        .place.step = read_int(at, "step", 0, RUN_MAX_TOKENS),
        .width_px = read_int(at, "width_px", size->min, size->max),
        .height_px = read_int(at, "height_px", size->min, size->max),
    };
    // A width without a height is ignored.
    if (memory.width_px == 0 || memory.height_px == 0)
        memory.width_px = memory.height_px = 0;
    if (!jsonin_bool(at, "is_calm", &memory.is_calm))
        memory.is_calm = false;
    return memory;
}

bool memory_parse(struct memory *out, const char *json, size_t bytes) {
    json_t *root = jsonin_parse("state", json, bytes, 1, NULL);
    bool is_object = json_is_object(root);
    if (is_object)
        *out = read_fields(&(struct jsonin){.name = "state", .json = root});
    json_decref(root);
    return is_object;
}

char *memory_print(const struct memory *memory, size_t *bytes, struct why *why) {
    struct jsonout out = {.max_bytes = MAX_BYTES};
    jsonout_open(&out, NULL, '{');
    jsonout_int(&out, "version", VERSION);
    print_choice(&out, "mode", (int)memory->mode);
    print_choice(&out, "theme", (int)memory->theme);
    jsonout_int(&out, "text_step", memory->text_step);
    print_choice(&out, "clock", (int)memory->clock);
    jsonout_int(&out, "chapter", memory->place.chapter);
    jsonout_int(&out, "step", memory->place.step);
    jsonout_int(&out, "width_px", memory->width_px);
    jsonout_int(&out, "height_px", memory->height_px);
    jsonout_bool(&out, "is_calm", memory->is_calm);
    jsonout_close(&out, '}');
    jsonout_line(&out);
    return jsonout_take(&out, bytes, why);
}

// --- Files ---

bool memory_load(struct memory *out, const char *path) {
    struct stat st;
    char *text = NULL;
    size_t bytes = 0;
    // A pipe of that name would make the window wait.
    if (stat(path, &st) != 0 || !S_ISREG(st.st_mode))
        return false;
    bool ok = jsonin_read(&text, &bytes, path, MAX_BYTES, NULL) && memory_parse(out, text, bytes);
    free(text);
    return ok;
}

// Makes the folders that `path` lies in, where they are missing.
static bool make_folders(const char *path, struct why *why) {
    char folder[PARTFILE_PATH_BYTES];
    snprintf(folder, sizeof folder, "%s", path);
    for (char *slash = strchr(folder + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        if (mkdir(folder, 0700) != 0 && errno != EEXIST)
            return why_set(why, "the settings are not remembered: no folder %.120s: %s", folder,
                           strerror(errno));
        *slash = '/';
    }
    return true;
}

// partfile_write would give a reason that speaks of a recording, so only its error is used.
static bool write_part(struct partfile *part, const char *text, size_t bytes, struct why *why) {
    int error = partfile_write_fd(part->fd, text, bytes);
    if (error == 0)
        return true;
    return why_set(why, "the settings are not remembered: %.120s: %s", part->path, strerror(error));
}

static bool write_file(const char *path, const char *text, size_t bytes, struct why *why) {
    struct partfile part = {.fd = -1};
    if (!make_folders(path, why) ||
        !partfile_create(&part, path, (struct partfile_name){"part", ".json"}, why))
        return false;
    if (write_part(&part, text, bytes, why) && partfile_publish(&part, path, true, why))
        return true;
    partfile_discard(&part);
    return false;
}

bool memory_save(const struct memory *memory, const char *path, struct why *why) {
    size_t bytes = 0;
    if (strlen(path) >= PARTFILE_PATH_BYTES)
        return why_set(why, "the settings are not remembered: the path is too long");
    char *text = memory_print(memory, &bytes, why);
    bool ok = text && write_file(path, text, bytes, why);
    free(text);
    return ok;
}
