// Time to draw one busy frame in memory, and to draw and show it in a window where there
// is a display, as one line of JSON: median and 99th percentile in ms at 1080p and 4K
// (a window is cut to its display). The frame is a full grid like that of a prompt of
// 40 tokens in 16 layers, its texts, a striped clock, drops and a number that changes
// with every frame. Figures are printed, never asserted.
#include "compute/base/why.h"
#include "render/pixel/draw.h"
#include "render/pixel/surface.h"
#include "render/pixel/text.h"
#include "render/pixel/window.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { FRAMES = 200, COLUMNS = 40, LAYERS = 16 };

static double now_ms(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

static void add_text(struct cmdlist *list, enum text_face face, int px, struct rect at,
                     const char *utf8) {
    struct cmd text = {
        .face = (uint8_t)face, .stroke = (uint16_t)px, .color = 0xEAF0F6FF, .rect = at};
    cmdlist_text(list, &text, utf8);
}

static void add_grid(struct cmdlist *list, int w, int h, int frame) {
    static const char *const words[] = {"You", "are", "a", "support", "agent", ".", "parcel"};
    int unit = h / 100, cell_w = w * 8 / 10 / COLUMNS, cell_h = h * 45 / 100 / LAYERS;
    for (int column = 0; column < COLUMNS; column++) {
        int x = w / 10 + column * cell_w;
        struct rect header = {x + 1, 10 * unit, cell_w - 2, 5 * unit};
        cmdlist_ring(list, header, unit / 2, unit / 4 + 1, 0x56B4E9FF);
        add_text(list, FACE_TOKEN, 2 * unit, (struct rect){x + 4, 13 * unit, 0, 0},
                 words[column % 7]);
        for (int layer = 0; layer < LAYERS; layer++) {
            struct rect cell = {x + 1, 16 * unit + layer * cell_h, cell_w - 2, cell_h - 2};
            bool is_read = layer == frame % LAYERS;
            cmdlist_round(list, cell, unit / 2, is_read ? 0x56B4E9FF : 0x284E63FF);
            if (is_read)
                cmdlist_ring(list, cell, unit / 2, 2, 0x2CC295FF);
        }
    }
}

static void add_rest(struct cmdlist *list, int w, int h, int frame) {
    int unit = h / 100;
    char line[64];
    for (int layer = 0; layer < LAYERS; layer++) {
        snprintf(line, sizeof line, "layer %d", layer + 1);
        add_text(list, FACE_WORDS, 2 * unit,
                 (struct rect){2 * unit, 20 * unit + layer * h / 36, 0, 0}, line);
    }
    for (int i = 0; i < 24; i++) {
        int width = 2 * unit + (i + frame) % (2 * unit);
        struct rect drop = {w / 10 + i * w / 30, 64 * unit + (i * 7 + frame) % unit, width,
                            width * 27 / 20};
        cmdlist_drop(list, drop, (i + frame) % 4, 0xF0A830FF);
    }
    cmdlist_round(list, (struct rect){2 * unit, 76 * unit, w / 2, 4 * unit}, unit / 2, 0x56B4E9FF);
    cmdlist_stripes(list, (struct rect){w / 2, 76 * unit, w / 3, 4 * unit}, unit, false,
                    0xF0A830FF);
    for (int i = 0; i < 8; i++) {
        snprintf(line, sizeof line, "%d.%d ms", frame * 7 + i * 131, (frame + i) % 10);
        add_text(list, FACE_DIGITS, 4 * unit, (struct rect){2 * unit + i * w / 8, 92 * unit, 0, 0},
                 line);
        add_text(list, FACE_WORDS, 2 * unit, (struct rect){2 * unit + i * w / 8, 87 * unit, 0, 0},
                 "SHARE");
    }
}

static int compare(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void make_frame(struct cmdlist *list, int w, int h, int frame) {
    cmdlist_clear(list);
    cmdlist_fill(list, (struct rect){0, 0, w, h}, 0x0E1116FF);
    add_grid(list, w, h, frame);
    add_rest(list, w, h, frame);
}

static void print_times(double ms[FRAMES]) {
    qsort(ms, FRAMES, sizeof *ms, compare);
    printf("\"median_ms\": %.3f, \"p99_ms\": %.3f}", ms[FRAMES / 2], ms[FRAMES * 99 / 100]);
}

static void fail(const char *why) {
    fprintf(stderr, "bench_draw: %s\n", why);
    exit(1);
}

// The first frame, which fills the caches, apart.
static void measure_surface(const char *name, struct text *text, int w, int h) {
    static struct cmdlist list;
    double ms[FRAMES], first_ms = 0;
    struct why why;
    struct surface *surface;
    if (!surface_create(&surface, w, h, text, &why))
        fail(why.text);
    for (int frame = -1; frame < FRAMES; frame++) {
        make_frame(&list, w, h, frame + 1);
        double start = now_ms();
        surface_draw(surface, &list);
        *(frame < 0 ? &first_ms : &ms[frame]) = now_ms() - start;
    }
    if (getenv("BENCH_DRAW_PNG"))
        surface_save_png(surface, getenv("BENCH_DRAW_PNG"), true, &why);
    surface_destroy(surface);
    printf(", \"%s\": {\"commands\": %d, \"first_ms\": %.2f, ", name, list.count, first_ms);
    print_times(ms);
}

static void measure_window(const char *name, struct text *text, int w, int h) {
    static struct cmdlist list;
    double ms[FRAMES];
    struct why why;
    struct window *window;
    if (!window_open(&window, &(struct window_opts){.width = w, .height = h}, text, &why))
        fail(why.text);
    window_size_px(window, &w, &h);
    for (int frame = -1; frame < FRAMES; frame++) {
        make_frame(&list, w, h, frame + 1);
        double start = now_ms();
        window_show(window, &list, NULL);
        if (frame >= 0)
            ms[frame] = now_ms() - start;
    }
    window_close(window);
    printf(", \"window_%s\": {\"width_px\": %d, \"height_px\": %d, ", name, w, h);
    print_times(ms);
}

int main(void) {
    struct why why;
    struct text *text;
    double start = now_ms();
    if (!text_create(&text, &why))
        fail(why.text);
    printf("{\"bench\": \"draw\", \"text_create_ms\": %.2f", now_ms() - start);
    measure_surface("1080p", text, 1920, 1080);
    measure_surface("4k", text, 3840, 2160);
    if (window_has_display(&why)) {
        measure_window("1080p", text, 1920, 1080);
        measure_window("4k", text, 3840, 2160);
    }
    printf("}\n");
    text_destroy(text);
    return 0;
}
