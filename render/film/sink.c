// See sink.h. Picks the driver, checks what is common to all of them, and keeps
// the promises that hold for every output: frames in order, one reason after a
// failure, exactly one close. Writes no file itself.
#include "render/film/sink.h"

#include "compute/base/why.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

static const struct sink_driver *const drivers[] = {
    &sink_driver_png, // first: an existing folder may be called anything
    &sink_driver_y4m,
    &sink_driver_av,
};
enum { DRIVER_COUNT = sizeof drivers / sizeof drivers[0] };

struct sink {
    const struct sink_driver *driver;
    struct sink_opts opts;
    int64_t frames; // put so far
    bool failed;
    struct why why;       // the first failure
    char note[WHY_BYTES]; // what the driver had to say at the start
    max_align_t state[];  // the driver's
};

void sink_append(char *out, int bytes, const char *format, ...) {
    int used = (int)strlen(out);
    va_list args;
    va_start(args, format);
    vsnprintf(out + used, (size_t)(bytes - used), format, args);
    va_end(args);
}

bool sink_has_ending(const char *path, const char *ending) {
    size_t path_bytes = strlen(path), ending_bytes = strlen(ending);
    return path_bytes > ending_bytes && strcasecmp(path + path_bytes - ending_bytes, ending) == 0;
}

bool sink_wants_stills(const char *path) {
    size_t bytes = strlen(path);
    if (bytes == 0 || strcmp(path, "-") == 0)
        return false;
    if (path[bytes - 1] == '/')
        return true;
    struct stat st;
    if (stat(path, &st) == 0)
        return S_ISDIR(st.st_mode);
    const char *slash = strrchr(path, '/');
    const char *name = slash ? slash + 1 : path;
    // A leading dot hides a name; it begins no ending.
    return *name == '\0' || strchr(name + 1, '.') == NULL;
}

void sink_describe(char *out, int bytes) {
    out[0] = '\0';
    for (int i = DRIVER_COUNT - 1; i >= 0; i--)
        drivers[i]->describe(out, bytes);
    size_t used = strlen(out);
    if (used > 0 && out[used - 1] == '\n')
        out[used - 1] = '\0';
}

static int even_size(int px) {
    return px + (px & 1) <= SINK_MAX_PX ? px + (px & 1) : px - 1;
}

bool sink_check_rate(const struct sink_opts *opts, struct why *why) {
    int64_t num = opts->fps_num, den = opts->fps_den;
    bool in_range = den > 0 && num >= den && num <= 240 * den;
    // Containers keep both numbers in 32 bits, MPEG-4 Part 2 in 16.
    if (in_range && num <= 65535 && den <= 65535)
        return true;
    return why_set(why,
                   "%d/%d frames a second can't be recorded: use 1 to 240, for example "
                   "--fps 60 or 30000/1001",
                   opts->fps_num, opts->fps_den);
}

bool sink_check_video(const struct sink_opts *opts, struct why *why) {
    int width = opts->width_px, height = opts->height_px;
    if (width % 2 != 0 || height % 2 != 0)
        return why_set(why, "%dx%d is odd and video needs even sizes: use --size %dx%d", width,
                       height, even_size(width), even_size(height));
    return sink_check_rate(opts, why);
}

static bool check_opts(const struct sink_opts *opts, struct why *why) {
    int width = opts->width_px, height = opts->height_px;
    if (width < SINK_MIN_PX || width > SINK_MAX_PX || height < SINK_MIN_PX || height > SINK_MAX_PX)
        return why_set(why,
                       "%dx%d can't be recorded: each side is %d to %d px, for example "
                       "--size 1920x1080",
                       width, height, SINK_MIN_PX, SINK_MAX_PX);
    return true;
}

static const struct sink_driver *driver_for(const char *path) {
    for (int i = 0; i < DRIVER_COUNT; i++) {
        if (drivers[i]->handles(path))
            return drivers[i];
    }
    return NULL;
}

bool sink_open(struct sink **out, const char *path, const struct sink_opts *opts, struct why *why) {
    *out = NULL;
    why->text[0] = '\0';
    const struct sink_driver *driver = driver_for(path);
    if (!driver)
        return why_set(why,
                       "can't tell what to record into '%.100s': end it in .mp4, .webm, .gif, "
                       ".y4m or .png, or name a folder for stills, or - for Y4M on stdout",
                       path);
    if (!check_opts(opts, why))
        return false;
    struct sink *sink = calloc(1, sizeof *sink + driver->state_bytes);
    if (!sink)
        return why_set(why, "no memory for the recorder");
    sink->driver = driver;
    sink->opts = *opts;
    if (!driver->open(sink->state, path, &sink->opts, why)) {
        free(sink);
        return false;
    }
    memcpy(sink->note, why->text, sizeof sink->note);
    why->text[0] = '\0';
    *out = sink;
    return true;
}

const char *sink_note(const struct sink *sink) {
    return sink->note;
}

static bool check_frame(const struct sink *sink, const struct sink_frame *frame, struct why *why) {
    if (!frame->bgra || frame->pitch_bytes < sink->opts.width_px * 4)
        return why_set(why, "frame %" PRId64 " holds no picture of %d px width", frame->index,
                       sink->opts.width_px);
    if (frame->index != sink->frames)
        return why_set(why, "frame %" PRId64 " came where %" PRId64 " was due", frame->index,
                       sink->frames);
    return true;
}

bool sink_put(struct sink *sink, const struct sink_frame *frame, struct why *why) {
    if (!sink->failed) {
        sink->failed = !check_frame(sink, frame, &sink->why) ||
                       !sink->driver->put(sink->state, frame, &sink->why);
    }
    if (sink->failed)
        return why_set(why, "%s", sink->why.text);
    sink->frames++;
    return true;
}

bool sink_close(struct sink *sink, bool keep, struct why *why) {
    why->text[0] = '\0';
    if (!sink)
        return true;
    enum sink_end end = SINK_PUBLISH;
    if (!keep || sink->frames == 0)
        end = SINK_DISCARD;
    else if (sink->failed)
        end = SINK_RESCUE;
    struct why said = {0};
    bool ok = sink->driver->close(sink->state, end, &said);
    if (keep && end == SINK_DISCARD)
        ok = why_set(why, "%s",
                     sink->failed ? sink->why.text : "no frame was recorded: nothing to save");
    else if (end == SINK_RESCUE)
        ok = why_set(why, "%.150s; %.100s", sink->why.text, said.text);
    else if (!ok)
        why_set(why, "%s", said.text);
    free(sink);
    return ok;
}
