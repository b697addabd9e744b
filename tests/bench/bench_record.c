// What drawing adds to a recording. Three seconds of the lesson at 1080p60 around the
// first decode step are drawn into memory; then the same frames are encoded from
// memory, and drawn and encoded as `tokendrip record` does. One line of JSON:
// record_over_encoder is the wall time of the last ÷ the wall time of the encoder
// alone, both in this run.
#include "app/picture/scene/scene.h"
#include "compute/base/stopwatch.h"
#include "compute/base/why.h"
#include "compute/file/schedule.h"
#include "render/film/sink.h"
#include "render/paint/layout.h"
#include "render/paint/paint.h"
#include "render/pixel/surface.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { WIDTH_PX = 1920, HEIGHT_PX = 1080, FRAMES = 180, FPS = 60 };

struct stage {
    struct text *text;
    struct surface *surface;
    struct run *run;
    struct layout layout;
    struct scene_options options;
    struct view view;
    struct cmdlist list;
};

static const uint8_t *draw(struct stage *stage, int frame, int *pitch_bytes) {
    int64_t t_ns =
        playhead_frame_ns(stage->options.rate, run_prefill_ns(stage->run) / 2, frame, FPS, 1);
    scene_at(&stage->view, stage->run, t_ns, &stage->options);
    struct paint paint = {&stage->view, &stage->layout, theme_find(THEME_DARK), stage->text};
    cmdlist_clear(&stage->list);
    paint_scene(&stage->list, &paint);
    surface_draw(stage->surface, &stage->list);
    return surface_pixels(stage->surface, pitch_bytes);
}

static bool make_stage(struct stage *stage, struct why *why) {
    struct schedule schedule;
    if (!schedule_load(&schedule, TOKENDRIP_SOURCE_DIR "/assets/schedules/module-7.json", why) ||
        !schedule_run(&stage->run, &schedule, RUN_ENGINE, 0, 0, why) ||
        !text_create(&stage->text, why) ||
        !surface_create(&stage->surface, WIDTH_PX, HEIGHT_PX, stage->text, why))
        return false;
    schedule_clear(&schedule);
    stage->options = scene_options_for(stage->run, playhead_rate_for(run_end_ns(stage->run)));
    scene_at(&stage->view, stage->run, 0, &stage->options);
    struct layout_input input = {
        .width_px = WIDTH_PX,
        .height_px = HEIGHT_PX,
        .layers = stage->view.layers,
        .prompt_tokens = stage->view.prompt_tokens,
        .columns = stage->view.columns,
        .answer_limit = stage->view.answer_limit,
        .readouts = stage->view.readout_count,
    };
    return layout_make(&stage->layout, &input);
}

// Encodes all frames; `frames` NULL: draws each one first.
static int64_t encode_ns(struct stage *stage, const uint8_t *frames, size_t frame_bytes,
                         struct why *why) {
    char path[64];
    snprintf(path, sizeof path, "/tmp/bench-record-%d.mp4", (int)getpid());
    struct sink_opts opts = {.width_px = WIDTH_PX,
                             .height_px = HEIGHT_PX,
                             .fps_num = FPS,
                             .fps_den = 1,
                             .overwrite = true};
    struct sink *sink = NULL;
    int64_t start_ns = stopwatch_now_ns();
    bool ok = sink_open(&sink, path, &opts, why);
    for (int i = 0; ok && i < FRAMES; i++) {
        struct sink_frame frame = {.index = i, .pitch_bytes = WIDTH_PX * 4};
        frame.bgra = frames ? frames + (size_t)i * frame_bytes : draw(stage, i, &frame.pitch_bytes);
        ok = sink_put(sink, &frame, why);
    }
    ok = sink && sink_close(sink, ok, why) && ok;
    int64_t end_ns = stopwatch_now_ns();
    unlink(path);
    return ok ? end_ns - start_ns : -1;
}

static int compare(const void *a, const void *b) {
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

int main(void) {
    struct why why = {0};
    struct stage *stage = calloc(1, sizeof *stage);
    size_t frame_bytes = (size_t)WIDTH_PX * 4 * HEIGHT_PX;
    uint8_t *frames = malloc(frame_bytes * FRAMES);
    static int64_t draw_ns[FRAMES];
    if (!stage || !frames || !make_stage(stage, &why)) {
        fprintf(stderr, "bench_record: %s\n", why.text);
        return 1;
    }
    for (int i = 0; i < FRAMES; i++) {
        int pitch_bytes = 0;
        int64_t start_ns = stopwatch_now_ns();
        const uint8_t *pixels = draw(stage, i, &pitch_bytes);
        draw_ns[i] = stopwatch_now_ns() - start_ns;
        for (int y = 0; y < HEIGHT_PX; y++)
            memcpy(frames + (size_t)i * frame_bytes + (size_t)y * WIDTH_PX * 4,
                   pixels + (size_t)y * (size_t)pitch_bytes, (size_t)WIDTH_PX * 4);
    }
    qsort(draw_ns, FRAMES, sizeof draw_ns[0], compare);
    int64_t alone_ns = encode_ns(stage, frames, frame_bytes, &why);
    int64_t record_ns = encode_ns(stage, NULL, 0, &why);
    if (alone_ns < 0 || record_ns < 0) {
        fprintf(stderr, "bench_record: %s\n", why.text);
        return 1;
    }
    printf("{\"bench\":\"record\",\"frames\":%d,\"frame_median_ms\":%.2f,\"frame_p99_ms\":%.2f,"
           "\"encoder_alone_s\":%.3f,\"record_s\":%.3f,\"record_over_encoder\":%.3f}\n",
           FRAMES, (double)draw_ns[FRAMES / 2] / 1e6, (double)draw_ns[FRAMES * 99 / 100] / 1e6,
           (double)alone_ns / 1e9, (double)record_ns / 1e9, (double)record_ns / (double)alone_ns);
    run_destroy(stage->run);
    surface_destroy(stage->surface);
    text_destroy(stage->text);
    free(frames);
    free(stage);
    return 0;
}
