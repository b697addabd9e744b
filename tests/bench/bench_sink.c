// What recording costs: milliseconds a frame at 1920x1080 for the conversion alone,
// for the encoder and file alone (pictures converted before), and for the whole sink
// from pixels to the renamed file. Synthetic flat graphics: panels, a grid that
// fills, small soft-edged shapes in place of text, a falling drop. Drawing runs
// beside the encoder where a core is free; its time is taken off. Prints one line of
// JSON, asserts nothing.
//
//     bench_sink [frames] [file.mp4]      240 frames, a temporary file
#include <libavutil/log.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "compute/base/partfile.h"
#include "compute/base/why.h"
#include "render/film/color.h"
#include "render/film/film.h"
#include "render/film/sink.h"

enum {
    WIDTH = 1920,
    HEIGHT = 1080,
    PITCH = WIDTH * 4,
    KEPT = 40, // pictures converted before, played to and fro
    COLUMNS = 24,
    LAYERS = 8,
};

static double read_ms(clockid_t clock) {
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

static double now_ms(void) {
    return read_ms(CLOCK_MONOTONIC);
}

// Of all threads: what a busy machine doesn't blur.
static double cpu_ms(void) {
    return read_ms(CLOCK_PROCESS_CPUTIME_ID);
}

// Milliseconds a frame; wall < 0: it failed.
struct cost {
    double wall, cpu, finish; // finish: the close, in all
};

static void fill(uint8_t *bgra, const int rect[4], uint32_t rgb) {
    for (int y = rect[1]; y < rect[1] + rect[3]; y++) {
        for (int x = rect[0]; x < rect[0] + rect[2]; x++) {
            uint8_t *p = bgra + (size_t)y * PITCH + (size_t)x * 4;
            p[0] = (uint8_t)rgb, p[1] = (uint8_t)(rgb >> 8), p[2] = (uint8_t)(rgb >> 16);
        }
    }
}

// A blot of 12x18 px with soft edges, a different one for each seed: like a letter.
static void letter(uint8_t *bgra, int x0, int y0, uint32_t seed) {
    for (int y = 0; y < 18; y++) {
        for (int x = 0; x < 12; x++) {
            uint32_t cell = seed * 2654435761u >> ((x / 3 + 4 * (y / 5)) & 15);
            uint32_t edge = (uint32_t)((x % 3) * 40 + (y % 5) * 20);
            uint32_t level = cell & 1 ? 240 - edge / 2 : 22;
            int rect[4] = {x0 + x, y0 + y, 1, 1};
            fill(bgra, rect, level << 16 | level << 8 | level);
        }
    }
}

static void draw_still(uint8_t *bgra) {
    fill(bgra, (int[4]){0, 0, WIDTH, HEIGHT}, 0x0E1116);
    fill(bgra, (int[4]){60, 120, 1800, 560}, 0x161C24);
    for (int i = 0; i < 220; i++)
        letter(bgra, 80 + (i % 110) * 16, i < 110 ? 60 : 900, (uint32_t)i);
}

static void draw_frame(uint8_t *bgra, const uint8_t *still, int n) {
    memcpy(bgra, still, (size_t)PITCH * HEIGHT);
    int filled = n * 2;
    for (int i = 0; i < COLUMNS * LAYERS && i <= filled; i++) {
        int part = i == filled ? (n * 7) % 60 : 60;
        fill(bgra, (int[4]){80 + (i % COLUMNS) * 72, 140 + (i / COLUMNS) * 64, part, 52},
             i / COLUMNS < LAYERS / 2 ? 0x56B4E9 : 0xF0A830);
    }
    fill(bgra, (int[4]){80, 960, 1 + (n * 6) % 1760, 24}, 0x2CC295);
    for (int i = 0; i < 16; i++)
        letter(bgra, 80 + i * 100, 1020, (uint32_t)(n / 3 + i * 17));
    int drop_y = 700 + (n * 8) % 160;
    fill(bgra, (int[4]){900, drop_y, 40, 54}, 0xF0A830);
}

static double time_convert(const uint8_t *bgra, AVFrame *frame, int repeats) {
    double start = now_ms();
    for (int i = 0; i < repeats; i++)
        film_bt709.fill(frame, bgra, PITCH);
    return (now_ms() - start) / repeats;
}

static void planes_copy(AVFrame *to, const AVFrame *from) {
    if (av_frame_copy(to, from) < 0)
        fprintf(stderr, "bench_sink: can't copy a frame\n");
}

// The encoder and the part file alone, as sink_av.c sets them up for an .mp4.
static struct cost time_encoder(AVFrame *kept[KEPT], const char *path, int frames) {
    const struct film_spec spec = {
        .container = "mp4",
        .container_options = "movflags=frag_keyframe+empty_moov+default_base_moof",
        .encoders = film_h264,
        .picture = &film_bt709,
        .width_px = WIDTH,
        .height_px = HEIGHT,
        .fps_num = 50,
        .fps_den = 1,
        .threads = 2,
    };
    struct why why;
    struct partfile part;
    struct film *film = NULL;
    if (!partfile_create(&part, path, (struct partfile_name){"bench", ".mp4"}, &why))
        return (struct cost){.wall = -1};
    double start = now_ms(), cpu_start = cpu_ms(), copying = 0;
    bool ok = film_open(&film, &part, &spec, &why);
    for (int n = 0; ok && n < frames; n++) {
        int at = n % (2 * KEPT - 2);
        double copy_start = now_ms();
        AVFrame *frame = film_next(film);
        planes_copy(frame, kept[at < KEPT ? at : 2 * KEPT - 2 - at]);
        copying += now_ms() - copy_start;
        ok = film_put(film, &why);
    }
    ok = ok && film_finish(film, &why);
    struct cost cost = {.wall = (now_ms() - start - copying) / frames,
                        .cpu = (cpu_ms() - cpu_start - copying) / frames};
    film_destroy(film);
    partfile_discard(&part);
    return ok ? cost : (struct cost){.wall = -1};
}

// From pixels to the renamed file; the time for drawing is taken off.
static struct cost time_sink(uint8_t *bgra, const uint8_t *still, const char *path, int frames) {
    const struct sink_opts opts = {
        .width_px = WIDTH, .height_px = HEIGHT, .fps_num = 50, .fps_den = 1, .overwrite = true};
    struct why why;
    struct sink *sink = NULL;
    double start = now_ms(), cpu_start = cpu_ms(), drawing = 0;
    bool ok = sink_open(&sink, path, &opts, &why);
    for (int n = 0; ok && n < frames; n++) {
        int at = n % (2 * KEPT - 2);
        double draw_start = now_ms();
        draw_frame(bgra, still, at < KEPT ? at : 2 * KEPT - 2 - at);
        drawing += now_ms() - draw_start;
        const struct sink_frame frame = {.bgra = bgra, .pitch_bytes = PITCH, .index = n};
        ok = sink_put(sink, &frame, &why);
    }
    double close_start = now_ms();
    if (sink && !sink_close(sink, ok, &why))
        ok = false;
    if (!ok)
        fprintf(stderr, "bench_sink: %s\n", why.text);
    double end = now_ms();
    struct cost cost = {.wall = (end - start - drawing) / frames,
                        .cpu = (cpu_ms() - cpu_start - drawing) / frames,
                        .finish = end - close_start};
    return ok ? cost : (struct cost){.wall = -1};
}

int main(int argc, char **argv) {
    av_log_set_level(AV_LOG_QUIET);
    int frames = argc > 1 ? atoi(argv[1]) : 240;
    char temporary[] = "/tmp/bench_sink_XXXXXX.mp4";
    int fd = argc > 2 ? -1 : mkstemps(temporary, 4);
    if (fd >= 0)
        close(fd);
    const char *path = argc > 2 ? argv[2] : temporary;
    uint8_t *still = calloc((size_t)PITCH, HEIGHT), *bgra = calloc((size_t)PITCH, HEIGHT);
    AVFrame *kept[KEPT];
    if (!still || !bgra || frames < 1)
        return 1;
    draw_still(still);
    for (int i = 0; i < KEPT; i++) {
        kept[i] = av_frame_alloc();
        if (!kept[i])
            return 1;
        kept[i]->format = AV_PIX_FMT_YUV420P;
        kept[i]->width = WIDTH;
        kept[i]->height = HEIGHT;
        if (av_frame_get_buffer(kept[i], 0) < 0)
            return 1;
        draw_frame(bgra, still, i);
        film_bt709.fill(kept[i], bgra, PITCH);
    }
    double convert = time_convert(bgra, kept[KEPT - 1], 30);
    struct cost encode = time_encoder(kept, path, frames);
    struct cost sink = time_sink(bgra, still, path, frames);
    struct stat st = {0};
    if (stat(path, &st) != 0)
        st.st_size = -1;
    printf("{\"bench\": \"sink\", \"width\": %d, \"height\": %d, \"frames\": %d, "
           "\"convert_ms\": %.3f, \"encode_ms\": %.3f, \"encode_cpu_ms\": %.3f, "
           "\"sink_ms\": %.3f, \"sink_cpu_ms\": %.3f, \"finish_ms\": %.1f, \"file_bytes\": %lld}\n",
           WIDTH, HEIGHT, frames, convert, encode.wall, encode.cpu, sink.wall, sink.cpu,
           sink.finish, (long long)st.st_size);
    for (int i = 0; i < KEPT; i++)
        av_frame_free(&kept[i]);
    free(still);
    free(bgra);
    if (fd >= 0)
        unlink(path);
    return encode.wall < 0 || sink.wall < 0;
}
