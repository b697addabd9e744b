// In place of sink_av.c where FFmpeg's libraries were not found at build time:
// knows the same endings and refuses them with a line that says what is missing
// and what can be recorded without it.
#include "compute/base/why.h"
#include "render/film/sink.h"

static const char *const endings[] = {".mp4", ".webm", ".gif"};
enum { ENDING_COUNT = sizeof endings / sizeof endings[0] };

static const char missing[] = "libavcodec, libavfilter, libavformat and libavutil";

static bool handles(const char *path) {
    for (int i = 0; i < ENDING_COUNT; i++) {
        if (sink_has_ending(path, endings[i]))
            return true;
    }
    return false;
}

static bool refuse(void *state, const char *path, const struct sink_opts *opts, struct why *why) {
    (void)state;
    (void)opts;
    return why_set(why,
                   "'%.60s' needs %s, which this build lacks: install their -dev packages and "
                   "build again, or record .y4m or a folder of stills",
                   path, missing);
}

static void describe(char *out, int bytes) {
    for (int i = 0; i < ENDING_COUNT; i++)
        sink_append(out, bytes, "%-5s not here: built without %s\n", endings[i] + 1, missing);
}

const struct sink_driver sink_driver_av = {
    .handles = handles,
    .open = refuse,
    .describe = describe,
};
