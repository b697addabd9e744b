// Frames as a YUV4MPEG2 stream: a text header, then each frame raw. Needs no
// library and any encoder reads it. The header holds standard tags only: more
// breaks readers. It has no place for the matrix, and readers take BT.601 for what is not
// named: FFmpeg at every size, players at small ones. So the samples are BT.601. A player
// that guesses BT.709 for large pictures must be told; so must an encoder, in order to pass
// it on (`ffmpeg -i - -colorspace smpte170m film.mkv`). On stdout nothing but the stream
// is written.
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "compute/base/partfile.h"
#include "compute/base/why.h"
#include "render/film/color.h"
#include "render/film/sink.h"

static const char frame_header[] = "FRAME\n";
enum { FRAME_HEADER_BYTES = sizeof frame_header - 1 };

struct y4m {
    bool to_stdout;
    struct sink_opts opts;
    struct partfile part; // where not to_stdout
    char path[PARTFILE_PATH_BYTES];
    int64_t frames;
    uint8_t *buffer; // FRAME_HEADER_BYTES, then the planes: one write a frame
    size_t buffer_bytes;
};

static bool handles(const char *path) {
    return strcmp(path, "-") == 0 || sink_has_ending(path, ".y4m");
}

static void describe(char *out, int bytes) {
    sink_append(out, bytes, "y4m   raw frames, 4:2:0 BT.601 (also - for stdout)\n");
}

static bool write_bytes(struct y4m *y4m, const void *data, size_t bytes, struct why *why) {
    if (!y4m->to_stdout)
        return partfile_write(&y4m->part, data, bytes, why);
    int error = partfile_write_fd(STDOUT_FILENO, data, bytes);
    if (error == 0)
        return true;
    if (error == EPIPE)
        return why_set(why, "the reader of standard output went away after %" PRId64 " frames",
                       y4m->frames);
    return why_set(why, "can't write to standard output: %s", strerror(error));
}

// With the first frame, not before: a recording that ends without one leaves
// nothing in the pipe.
static bool write_header(struct y4m *y4m, struct why *why) {
    const struct sink_opts *opts = &y4m->opts;
    char header[128];
    int bytes = snprintf(header, sizeof header,
                         "YUV4MPEG2 W%d H%d F%d:%d Ip A1:1 C420mpeg2 XCOLORRANGE=LIMITED\n",
                         opts->width_px, opts->height_px, opts->fps_num, opts->fps_den);
    return write_bytes(y4m, header, (size_t)bytes, why);
}

static bool check_stdout(struct why *why) {
    struct stat st;
    if (fstat(STDOUT_FILENO, &st) != 0)
        return why_set(why, "standard output is closed: pipe it into an encoder or a file");
    if (isatty(STDOUT_FILENO))
        return why_set(why, "standard output is a terminal: pipe it into an encoder, or name a "
                            "file such as film.y4m");
    return true;
}

static bool open_target(struct y4m *y4m, const char *path, struct why *why) {
    if (y4m->to_stdout)
        return check_stdout(why);
    return partfile_check_target(path, y4m->opts.overwrite, y4m->opts.taken, why) &&
           partfile_create(&y4m->part, path, (struct partfile_name){"part", ".y4m"}, why);
}

static bool y4m_open(void *state, const char *path, const struct sink_opts *opts, struct why *why) {
    if (!sink_check_video(opts, why))
        return false;
    struct y4m *y4m = state;
    size_t luma_bytes = (size_t)opts->width_px * (size_t)opts->height_px;
    y4m->to_stdout = strcmp(path, "-") == 0;
    y4m->opts = *opts;
    y4m->part.fd = -1;
    snprintf(y4m->path, sizeof y4m->path, "%s", path);
    y4m->buffer_bytes = FRAME_HEADER_BYTES + luma_bytes + luma_bytes / 2;
    y4m->buffer = malloc(y4m->buffer_bytes);
    if (!y4m->buffer)
        return why_set(why, "no memory for a frame of %dx%d", opts->width_px, opts->height_px);
    memcpy(y4m->buffer, frame_header, FRAME_HEADER_BYTES);
    if (open_target(y4m, path, why))
        return true;
    free(y4m->buffer);
    return false;
}

static bool y4m_put(void *state, const struct sink_frame *frame, struct why *why) {
    struct y4m *y4m = state;
    int width = y4m->opts.width_px, height = y4m->opts.height_px;
    size_t luma_bytes = (size_t)width * (size_t)height;
    uint8_t *luma = y4m->buffer + FRAME_HEADER_BYTES;
    const struct color_planes planes = {
        .y = luma,
        .cb = luma + luma_bytes,
        .cr = luma + luma_bytes + luma_bytes / 4,
        .y_pitch_bytes = width,
        .cb_pitch_bytes = width / 2,
        .cr_pitch_bytes = width / 2,
    };
    if (y4m->frames == 0 && !write_header(y4m, why))
        return false;
    color_to_yuv420(&planes, COLOR_BT601, frame->bgra, frame->pitch_bytes, width, height);
    if (!write_bytes(y4m, y4m->buffer, y4m->buffer_bytes, why))
        return false;
    y4m->frames++;
    return true;
}

// A stream can't be taken back, so on stdout all three ends are the same.
static bool end_file(struct y4m *y4m, enum sink_end end, struct why *why) {
    switch (end) {
    case SINK_PUBLISH:
        return partfile_publish(&y4m->part, y4m->path, y4m->opts.overwrite, why);
    case SINK_RESCUE:
        partfile_keep(&y4m->part);
        why_set(why, "what there is of it plays from '%s'", y4m->part.path);
        return true;
    case SINK_DISCARD:
        break;
    }
    partfile_discard(&y4m->part);
    return true;
}

static bool y4m_close(void *state, enum sink_end end, struct why *why) {
    struct y4m *y4m = state;
    bool ok = true;
    if (!y4m->to_stdout)
        ok = end_file(y4m, end, why);
    else if (end == SINK_RESCUE)
        why_set(why, "%" PRId64 " whole frames were written", y4m->frames);
    free(y4m->buffer);
    return ok;
}

const struct sink_driver sink_driver_y4m = {
    .state_bytes = sizeof(struct y4m),
    .handles = handles,
    .open = y4m_open,
    .put = y4m_put,
    .close = y4m_close,
    .describe = describe,
};
