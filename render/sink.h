// Where recorded frames go: a video file, a Y4M stream, numbered stills. The
// recorder is synchronous: a frame is done when sink_put returned true. Nothing
// half-written ever bears the final name.
#ifndef RENDER_SINK_H
#define RENDER_SINK_H

#include <stdbool.h>
#include <stdint.h>

enum { SINK_MIN_PX = 64, SINK_MAX_PX = 8192 };

struct sink_opts {
    int width_px, height_px; // both even for video; sink_check says what to do
    int fps_num, fps_den;    // exact rate: 60/1, 30000/1001
    int64_t frame_count;     // frames to come, for checks; 0 = unknown
    bool overwrite;          // an existing file may be replaced
    int encoder_threads;     // 0 = 2
};

struct sink_frame {
    const uint8_t *bgra; // rows pitch_bytes apart, alpha ignored
    int pitch_bytes;
    int64_t index;    // 0, 1, 2 ...: its time is index * fps_den / fps_num
    const char *name; // stills: a word for the file name, or NULL
};

struct sink;

// A table of these, one a kind of output: sink_av.c (mp4, webm, gif),
// sink_y4m.c (y4m file or "-"), sink_png.c (a folder, a single .png).
struct sink_driver {
    const char *name;
    bool (*handles)(const char *path);
    bool (*open)(void **state, const char *path, const struct sink_opts *opts, char why[256]);
    bool (*put)(void *state, const struct sink_frame *frame, char why[256]);
    // keep false: throw away what was written. Called exactly once.
    bool (*close)(void *state, bool keep, char why[256]);
};

extern const struct sink_driver sink_driver_av, sink_driver_y4m, sink_driver_png;

// What can be recorded here, one line a format ("mp4 H.264 (libx264)"), or why not.
void sink_describe(char *out, int bytes);

// True if `path` asks for stills (a folder) rather than a film.
bool sink_wants_stills(const char *path);

// Opens by the path's ending. Everything that can be refused is refused here,
// before the first frame: unknown ending, missing encoder (with what is there
// instead), size out of range or odd, an existing file without `overwrite`, a
// folder that can't be written, a terminal as Y4M target.
bool sink_open(struct sink **out, const char *path, const struct sink_opts *opts, char why[256]);
bool sink_put(struct sink *sink, const struct sink_frame *frame, char why[256]);
bool sink_close(struct sink *sink, bool keep, char why[256]); // frees in any case

#endif
