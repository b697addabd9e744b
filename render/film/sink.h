// Where recorded frames go: a video file, a Y4M stream, numbered stills. No queue:
// a frame's pixels are no longer needed when sink_put returns; a film encodes one frame
// behind, so its error may be reported by the next call, at the latest by the close. A
// half-written file never has the final name: a film grows in NAME.part.mp4 beside it,
// which plays even after a kill, and is renamed at the end. A sink belongs to one
// thread. Knows no clock, no renderer, no scene; the app ignores SIGPIPE and
// SIGXFSZ, so that a closed pipe and a size limit arrive here as errors.
#ifndef RENDER_FILM_SINK_H
#define RENDER_FILM_SINK_H

#include "compute/base/why.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { SINK_MIN_PX = 64, SINK_MAX_PX = 8192 };

struct sink_opts {
    int width_px, height_px;  // both even for .mp4, .webm and Y4M
    int fps_num, fps_den;     // exact rate: 60/1, 30000/1001; stills ignore it
    bool overwrite;           // an existing file may be replaced
    const char *const *taken; // sink_open: files it must not be (partfile.h), or NULL
};

struct sink_frame {
    const uint8_t *bgra; // rows pitch_bytes apart, alpha ignored
    int pitch_bytes;
    int64_t index;    // 0, 1, 2 ...: its time is index * fps_den / fps_num
    const char *name; // stills: a word for the file name, or NULL
};

struct sink;

// How a sink ends.
enum sink_end {
    SINK_PUBLISH, // finish, give it its final name
    SINK_DISCARD, // remove what was written
    SINK_RESCUE,  // a frame failed: leave the part file, say in `why` where it is
};

// One for each kind of output: sink_av.c (mp4, webm, gif),
// sink_y4m.c (y4m file or "-"), sink_png.c (a folder, a single .png).
struct sink_driver {
    size_t state_bytes; // of what `open` gets as zeros; the sink frees it
    bool (*handles)(const char *path);
    // On true, `why` is "" or a line for the user: which encoder replaces which.
    bool (*open)(void *state, const char *path, const struct sink_opts *opts, struct why *why);
    // Called only after `open` was true; NULL where it never is.
    bool (*put)(void *state, const struct sink_frame *frame, struct why *why);
    // Called exactly once. False after SINK_PUBLISH: the part stayed.
    bool (*close)(void *state, enum sink_end end, struct why *why);
    // Appends a line for each format to `out`, each ending in a newline.
    void (*describe)(char *out, int bytes);
};

extern const struct sink_driver sink_driver_av, sink_driver_y4m, sink_driver_png;

// One line for each format: what can be recorded ("mp4   H.264 (libx264)"), or why not.
void sink_describe(char *out, int bytes);

// True if `path` asks for stills (a folder) rather than a film: it ends in "/", is
// an existing folder, or is nothing yet and has no ending.
bool sink_wants_stills(const char *path);

// Opens by the path's ending. Everything that can be refused is refused here,
// before the first frame: unknown ending, missing encoder (with what is there
// instead), size out of range or odd, an existing file without `overwrite`, a
// folder that can't be written, a terminal as Y4M target.
bool sink_open(struct sink **out, const char *path, const struct sink_opts *opts, struct why *why);

// "" or a line for the user: "mpeg4 stands in for libx264 ...".
const char *sink_note(const struct sink *sink);

// After a failure every later call fails with the same reason.
bool sink_put(struct sink *sink, const struct sink_frame *frame, struct why *why);

// Ends the output and frees the sink in any case; NULL is fine.
// keep true: finishes, gives it its final name. If that fails, or a frame failed
// before, the result is false and what was recorded stays under the part name,
// which `why` tells. keep false: removes what this sink wrote and nothing else.
bool sink_close(struct sink *sink, bool keep, struct why *why);

// For drivers. True if `path` ends in `ending` (".mp4"), whatever the case.
bool sink_has_ending(const char *path, const char *ending);

// For drivers: refuses odd sizes and rates outside 1 .. 240 frames a second.
bool sink_check_video(const struct sink_opts *opts, struct why *why);
bool sink_check_rate(const struct sink_opts *opts, struct why *why);

// For drivers. printf at the end of what `out` holds, cut at `bytes`.
void sink_append(char *out, int bytes, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
