// Films through FFmpeg, read back with FFmpeg: every frame, its time, its colours
// and the tags; the boxes of an MP4; what a kill, a full disk and a missing encoder
// leave behind.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "compute/base/why.h"
#include "render/film/sink.h"
#include "tests/render/film/sink_fixture.h"

#include <dlfcn.h>
#include <errno.h>
#include <libavcodec/avcodec.h>
#include <libavfilter/avfilter.h>
#include <libavformat/avformat.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum { WIDTH = 160, HEIGHT = 96, TILE = 32, MAX_FRAMES = 200 };

// --- Encoders and filters that a test takes away. ---

static const char *hidden = ""; // names between spaces

static bool is_hidden(const char *name) {
    char listed[64];
    snprintf(listed, sizeof listed, " %s ", name);
    return strstr(hidden, listed) != NULL;
}

// Both are found before the library's own: what is on the list isn't there.
const AVFilter *avfilter_get_by_name(const char *name);
const AVFilter *avfilter_get_by_name(const char *name) {
    if (is_hidden(name))
        return NULL;
    const AVFilter *(*real)(const char *);
    void *symbol = dlsym(RTLD_NEXT, "avfilter_get_by_name");
    assert_non_null(symbol);
    memcpy(&real, &symbol, sizeof real);
    return real(name);
}

const AVCodec *avcodec_find_encoder_by_name(const char *name);
const AVCodec *avcodec_find_encoder_by_name(const char *name) {
    if (is_hidden(name))
        return NULL;
    const AVCodec *(*real)(const char *);
    void *symbol = dlsym(RTLD_NEXT, "avcodec_find_encoder_by_name");
    assert_non_null(symbol);
    memcpy(&real, &symbol, sizeof real);
    return real(name);
}

// --- What is recorded. ---

static const uint32_t ground = 0x0E1116;
static const uint32_t tiles[] = {0xFF0000, 0x00FF00, 0x0000FF, 0xEAF0F6, 0x56B4E9,
                                 0xF0A830, 0x2CC295, 0xFFFFFF, 0x9DA9B7};
enum { TILES = sizeof tiles / sizeof tiles[0] };

// Its grey tells the number of a frame.
static uint32_t grey_of(int64_t n) {
    return (uint32_t)(20 + n * 2 % 220) * 0x010101u;
}

// Tiles that stay in two rows, a bar that moves, and the numbered tile bottom left.
static struct picture picture_of(int64_t n) {
    struct picture picture = picture_make(WIDTH, HEIGHT, ground);
    for (int i = 0; i < TILES; i++)
        picture_fill(&picture, (int[4]){i % 5 * TILE, i / 5 * TILE, TILE, TILE}, tiles[i]);
    picture_fill(&picture, (int[4]){0, 2 * TILE, TILE, TILE}, grey_of(n));
    picture_fill(&picture, (int[4]){48 + (int)(n % 26) * 4, 70, 8, 20}, 0xF0A830);
    return picture;
}

static struct sink_opts opts_of(int fps_num, int fps_den) {
    return (struct sink_opts){
        .width_px = WIDTH, .height_px = HEIGHT, .fps_num = fps_num, .fps_den = fps_den};
}

static bool put(struct sink *sink, int64_t n, struct why *why) {
    struct picture picture = picture_of(n);
    const struct sink_frame frame = {
        .bgra = picture.bgra, .pitch_bytes = picture.pitch_bytes, .index = n};
    bool ok = sink_put(sink, &frame, why);
    free(picture.bgra);
    return ok;
}

static void record(const char *path, const struct sink_opts *opts, int frames) {
    struct sink *sink = NULL;
    struct why why;
    if (!sink_open(&sink, path, opts, &why))
        fail_msg("%s", why.text);
    for (int n = 0; n < frames; n++) {
        if (!put(sink, n, &why))
            fail_msg("%s", why.text);
    }
    if (!sink_close(sink, true, &why))
        fail_msg("%s", why.text);
}

// --- What is read back. ---

struct seen {
    int packets, key_frames, frames;
    int64_t pts[MAX_FRAMES]; // of packets, in file order
    int64_t durations[MAX_FRAMES];
    AVRational time_base, average_rate, real_rate;
    int64_t container_us;
    AVCodecParameters *codec; // owned; freed by seen_free
    enum AVPixelFormat format;
    enum AVColorRange range; // the decoder's, from the stream itself
    enum AVColorSpace matrix;
    uint8_t tile[MAX_FRAMES][TILES][3]; // R G B in the middle of each tile
    uint8_t grey[MAX_FRAMES][3];
};

static uint8_t clip(double value) {
    return (uint8_t)lround(fmin(fmax(value, 0), 255));
}

// R G B of a decoded pixel. Where it is Y Cb Cr: by the formulas of BT.709, or of BT.601
// where the file names none, as FFmpeg's own conversions take it.
static void pixel_rgb(uint8_t out[3], const AVFrame *frame, int x, int y) {
    if (frame->format == AV_PIX_FMT_RGB24) {
        memcpy(out, frame->data[0] + y * frame->linesize[0] + 3 * x, 3);
        return;
    }
    if (frame->format == AV_PIX_FMT_BGRA) {
        const uint8_t *p = frame->data[0] + y * frame->linesize[0] + 4 * x;
        out[0] = p[2], out[1] = p[1], out[2] = p[0];
        return;
    }
    assert_int_equal(frame->format, AV_PIX_FMT_YUV420P);
    double luma = (frame->data[0][y * frame->linesize[0] + x] - 16) * 255 / 219.0;
    double cb = (frame->data[1][y / 2 * frame->linesize[1] + x / 2] - 128) * 255 / 224.0;
    double cr = (frame->data[2][y / 2 * frame->linesize[2] + x / 2] - 128) * 255 / 224.0;
    bool is_named = frame->colorspace == AVCOL_SPC_BT709;
    out[0] = clip(luma + (is_named ? 1.5748 : 1.402) * cr);
    out[1] = clip(luma - (is_named ? 0.1873 : 0.3441) * cb - (is_named ? 0.4681 : 0.7141) * cr);
    out[2] = clip(luma + (is_named ? 1.8556 : 1.772) * cb);
}

static void see_frame(struct seen *seen, const AVFrame *frame) {
    int n = seen->frames++;
    assert_in_range(n, 0, MAX_FRAMES - 1);
    assert_int_equal(frame->width, WIDTH);
    assert_int_equal(frame->height, HEIGHT);
    seen->format = (enum AVPixelFormat)frame->format;
    seen->range = frame->color_range;
    seen->matrix = frame->colorspace;
    for (int i = 0; i < TILES; i++)
        pixel_rgb(seen->tile[n][i], frame, i % 5 * TILE + TILE / 2, i / 5 * TILE + TILE / 2);
    pixel_rgb(seen->grey[n], frame, TILE / 2, 2 * TILE + TILE / 2);
}

static void see_packet(struct seen *seen, const AVPacket *packet) {
    int n = seen->packets++;
    assert_in_range(n, 0, MAX_FRAMES - 1);
    seen->pts[n] = packet->pts;
    seen->durations[n] = packet->duration;
    if (packet->flags & AV_PKT_FLAG_KEY)
        seen->key_frames++;
}

static void decode(struct seen *seen, AVCodecContext *codec, const AVPacket *packet) {
    AVFrame *frame = av_frame_alloc();
    assert_non_null(frame);
    assert_true(avcodec_send_packet(codec, packet) >= 0);
    while (avcodec_receive_frame(codec, frame) >= 0)
        see_frame(seen, frame);
    av_frame_free(&frame);
}

static void see_film(struct seen *seen, const char *path) {
    memset(seen, 0, sizeof *seen);
    AVFormatContext *format = NULL;
    if (avformat_open_input(&format, path, NULL, NULL) < 0)
        fail_msg("'%s' can't be opened", path);
    assert_true(avformat_find_stream_info(format, NULL) >= 0);
    assert_int_equal(format->nb_streams, 1);
    const AVStream *stream = format->streams[0];
    seen->time_base = stream->time_base;
    seen->average_rate = stream->avg_frame_rate;
    seen->real_rate = stream->r_frame_rate;
    seen->container_us = format->duration;
    seen->codec = avcodec_parameters_alloc();
    assert_non_null(seen->codec);
    assert_true(avcodec_parameters_copy(seen->codec, stream->codecpar) >= 0);
    const AVCodec *decoder = avcodec_find_decoder(stream->codecpar->codec_id);
    assert_non_null(decoder);
    AVCodecContext *codec = avcodec_alloc_context3(decoder);
    AVPacket *packet = av_packet_alloc();
    assert_true(codec && packet);
    assert_true(avcodec_parameters_to_context(codec, stream->codecpar) >= 0);
    codec->thread_count = 1;
    assert_true(avcodec_open2(codec, decoder, NULL) >= 0);
    while (av_read_frame(format, packet) >= 0) {
        see_packet(seen, packet);
        decode(seen, codec, packet);
        av_packet_unref(packet);
    }
    decode(seen, codec, NULL);
    av_packet_free(&packet);
    avcodec_free_context(&codec);
    avformat_close_input(&format);
}

static void seen_free(struct seen *seen) {
    avcodec_parameters_free(&seen->codec);
}

static void expect_rgb(const uint8_t got[3], uint32_t want, int tolerance) {
    for (int c = 0; c < 3; c++) {
        int channel = (int)(want >> (16 - 8 * c) & 255);
        if (abs(got[c] - channel) > tolerance)
            fail_msg("%02x%02x%02x came back as %02x%02x%02x", want >> 16 & 255, want >> 8 & 255,
                     want & 255, got[0], got[1], got[2]);
    }
}

// Frames 0 .. count - 1, in order, in their colours.
static void expect_frames(const struct seen *seen, int count, int tolerance) {
    assert_int_equal(seen->packets, count);
    assert_int_equal(seen->frames, count);
    for (int n = 0; n < count; n++) {
        expect_rgb(seen->grey[n], grey_of(n), tolerance);
        for (int i = 0; i < TILES; i++)
            expect_rgb(seen->tile[n][i], tiles[i], tolerance);
    }
}

static void expect_bt709(const struct seen *seen) {
    assert_int_equal(seen->format, AV_PIX_FMT_YUV420P);
    assert_int_equal(seen->codec->color_range, AVCOL_RANGE_MPEG);
    assert_int_equal(seen->codec->color_space, AVCOL_SPC_BT709);
    assert_int_equal(seen->codec->color_primaries, AVCOL_PRI_BT709);
    assert_int_equal(seen->codec->color_trc, AVCOL_TRC_BT709);
    assert_int_equal(seen->range, AVCOL_RANGE_MPEG);
    assert_int_equal(seen->matrix, AVCOL_SPC_BT709);
}

static int set_up(void **state) {
    struct fixture *fixture = malloc(sizeof *fixture);
    assert_non_null(fixture);
    fixture_open(fixture);
    hidden = "";
    *state = fixture;
    return 0;
}

static int tear_down(void **state) {
    fixture_close(*state);
    free(*state);
    return 0;
}

// --- MP4 ---

static void an_mp4_has_every_frame_at_its_exact_time_in_its_colors(void **state) {
    struct fixture *fixture = *state;
    static const int rates[][2] = {{60, 1}, {25, 1}, {30000, 1001}, {24000, 1001}, {1, 1}};
    for (size_t r = 0; r < sizeof rates / sizeof rates[0]; r++) {
        char name[32];
        snprintf(name, sizeof name, "film%zu.mp4", r);
        const char *path = fixture_path(fixture, name);
        const struct sink_opts opts = opts_of(rates[r][0], rates[r][1]);
        const AVRational rate = {rates[r][0], rates[r][1]}, tick = av_inv_q(rate);
        const int count = 70;
        record(path, &opts, count);
        struct seen seen;
        see_film(&seen, path);
        expect_frames(&seen, count, 3);
        expect_bt709(&seen);
        assert_int_equal(seen.codec->codec_id, AV_CODEC_ID_H264);
        assert_int_equal(seen.codec->profile, 100); // High
        assert_int_equal(av_cmp_q(seen.codec->sample_aspect_ratio, (AVRational){1, 1}), 0);
        assert_int_equal(av_cmp_q(seen.average_rate, rate), 0);
        assert_int_equal(av_cmp_q(seen.real_rate, rate), 0);
        for (int n = 0; n < count; n++) {
            assert_int_equal(av_compare_ts(seen.pts[n], seen.time_base, n, tick), 0);
            assert_int_equal(av_compare_ts(seen.durations[n], seen.time_base, 1, tick), 0);
        }
        int64_t want_us = av_rescale_q(count, tick, AV_TIME_BASE_Q);
        assert_in_range(seen.container_us, want_us - 1000, want_us + 1000);
        seen_free(&seen);
    }
    assert_int_equal(fixture_count(fixture), 5); // no part, no temporary file
}

static void a_film_of_one_frame_lasts_one_frame(void **state) {
    struct fixture *fixture = *state;
    static const char *const names[] = {"film.mp4", "film.webm"};
    for (int i = 0; i < 2; i++) {
        const struct sink_opts opts = opts_of(10, 1);
        record(fixture_path(fixture, names[i]), &opts, 1);
        struct seen seen;
        see_film(&seen, fixture_path(fixture, names[i]));
        expect_frames(&seen, 1, 3);
        assert_in_range(seen.container_us, 99000, 101000);
        seen_free(&seen);
    }
}

static void an_mp4_can_be_searched_every_two_seconds(void **state) {
    struct fixture *fixture = *state;
    const struct sink_opts opts = opts_of(10, 1);
    record(fixture_path(fixture, "film.mp4"), &opts, 61);
    struct seen seen;
    see_film(&seen, fixture_path(fixture, "film.mp4"));
    assert_in_range(seen.key_frames, 4, 10); // 0, 2, 4 and 6 s, perhaps more
    seen_free(&seen);
}

// Where a box of this type begins at the top level, -1 = nowhere.
static int64_t find_box(const uint8_t *data, size_t bytes, const char *type) {
    size_t at = 0;
    while (at + 8 <= bytes) {
        uint64_t size = (uint64_t)data[at] << 24 | (uint64_t)data[at + 1] << 16 |
                        (uint64_t)data[at + 2] << 8 | data[at + 3];
        if (memcmp(data + at + 4, type, 4) == 0)
            return (int64_t)at;
        assert_true(size >= 8);
        at += size;
    }
    assert_int_equal(at, bytes); // the boxes fill the file
    return -1;
}

static void an_mp4_is_plain_with_its_index_in_front(void **state) {
    struct fixture *fixture = *state;
    const struct sink_opts opts = opts_of(25, 1);
    record(fixture_path(fixture, "film.mp4"), &opts, 40);
    size_t bytes;
    uint8_t *data = fixture_read(fixture_path(fixture, "film.mp4"), &bytes);
    int64_t moov = find_box(data, bytes, "moov"), mdat = find_box(data, bytes, "mdat");
    assert_int_equal(find_box(data, bytes, "ftyp"), 0);
    assert_true(moov > 0 && mdat > moov);
    assert_int_equal(find_box(data, bytes, "moof"), -1);
    assert_int_equal(find_box(data, bytes, "mfra"), -1);
    free(data);
}

static void two_recordings_are_the_same_bytes(void **state) {
    struct fixture *fixture = *state;
    static const char *const names[2][3] = {{"a.mp4", "a.webm", "a.gif"},
                                            {"b.mp4", "b.webm", "b.gif"}};
    const struct sink_opts opts = opts_of(25, 1);
    for (int k = 0; k < 2; k++) {
        for (int i = 0; i < 3; i++)
            record(fixture_path(fixture, names[k][i]), &opts, 30);
        if (k == 0)
            usleep(1100000); // another second, for who writes the date
    }
    for (int i = 0; i < 3; i++) {
        if (!fixture_same_file(fixture_path(fixture, names[0][i]),
                               fixture_path(fixture, names[1][i])))
            fail_msg("%s and %s differ", names[0][i], names[1][i]);
    }
}

// --- What an end before the end leaves. ---

static void record_and_die(const char *path, int frames) {
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        struct sink *sink = NULL;
        struct why why;
        const struct sink_opts opts = {
            .width_px = WIDTH, .height_px = HEIGHT, .fps_num = 25, .fps_den = 1, .overwrite = true};
        bool ok = sink_open(&sink, path, &opts, &why);
        for (int n = 0; ok && n < frames; n++)
            ok = put(sink, n, &why);
        if (ok)
            raise(SIGKILL);
        _exit(1);
    }
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
}

static void a_kill_leaves_a_part_that_plays_and_the_old_file(void **state) {
    struct fixture *fixture = *state;
    static const struct {
        const char *name, *part;
        int least; // frames of 150: the encoder's look-ahead and a second are lost
    } cases[] = {{"film.mp4", "film.part.mp4", 110},
                 {"film.webm", "film.part.webm", 90},
                 {"film.gif", "film.part.mov", 120}};
    for (int i = 0; i < 3; i++) {
        const char *path = fixture_path(fixture, cases[i].name);
        fixture_write(path, "the old film");
        record_and_die(path, 150);
        struct seen seen;
        see_film(&seen, fixture_path(fixture, cases[i].part));
        assert_in_range(seen.frames, cases[i].least, 150);
        for (int n = 0; n < seen.frames; n++)
            expect_rgb(seen.grey[n], grey_of(n), 3);
        seen_free(&seen);
        size_t bytes;
        uint8_t *data = fixture_read(path, &bytes);
        assert_string_equal((char *)data, "the old film");
        free(data);
    }
    assert_int_equal(fixture_count(fixture), 6);
}

static void giving_up_leaves_the_old_file_and_nothing_else(void **state) {
    struct fixture *fixture = *state;
    static const char *const names[] = {"film.mp4", "film.webm", "film.gif"};
    for (int i = 0; i < 3; i++) {
        const char *path = fixture_path(fixture, names[i]);
        fixture_write(path, "the old film");
        struct sink_opts opts = opts_of(25, 1);
        opts.overwrite = true;
        struct sink *sink = NULL;
        struct why why;
        assert_true(sink_open(&sink, path, &opts, &why));
        for (int n = 0; n < 30; n++)
            assert_true(put(sink, n, &why));
        assert_true(sink_close(sink, false, &why));
        size_t bytes;
        uint8_t *data = fixture_read(path, &bytes);
        assert_string_equal((char *)data, "the old film");
        free(data);
    }
    assert_int_equal(fixture_count(fixture), 3);
}

static void overwriting_replaces_the_old_file_at_the_end(void **state) {
    struct fixture *fixture = *state;
    const char *path = fixture_path(fixture, "film.mp4");
    fixture_write(path, "the old film");
    struct sink_opts opts = opts_of(25, 1);
    opts.overwrite = true;
    record(path, &opts, 3);
    struct seen seen;
    see_film(&seen, path);
    expect_frames(&seen, 3, 3);
    seen_free(&seen);
    assert_int_equal(fixture_count(fixture), 1);
}

static void a_name_taken_meanwhile_keeps_its_file_and_the_part_plays(void **state) {
    struct fixture *fixture = *state;
    static const struct {
        const char *name, *part;
    } cases[] = {{"film.mp4", "film.part.mp4"},
                 {"film.webm", "film.part.webm"},
                 {"film.gif", "film.part.mov"}};
    for (int i = 0; i < 3; i++) {
        const char *path = fixture_path(fixture, cases[i].name);
        const struct sink_opts opts = opts_of(25, 1);
        struct sink *sink = NULL;
        struct why why;
        assert_true(sink_open(&sink, path, &opts, &why));
        for (int n = 0; n < 5; n++)
            assert_true(put(sink, n, &why));
        fixture_write(path, "somebody else's");
        assert_false(sink_close(sink, true, &why));
        assert_non_null(strstr(why.text, cases[i].part));
        size_t bytes;
        uint8_t *data = fixture_read(path, &bytes);
        assert_string_equal((char *)data, "somebody else's");
        free(data);
        struct seen seen;
        see_film(&seen, fixture_path(fixture, cases[i].part));
        expect_frames(&seen, 5, 3);
        seen_free(&seen);
    }
    assert_int_equal(fixture_count(fixture), 6); // no temporary file
}

static void a_size_limit_is_reported_in_one_line(void **state) {
    struct fixture *fixture = *state;
    signal(SIGXFSZ, SIG_IGN); // as the app does
    static const char *const names[] = {"film.mp4", "film.webm", "film.gif"};
    struct rlimit before;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    const struct rlimit tight = {.rlim_cur = 60000, .rlim_max = before.rlim_max};
    for (int i = 0; i < 3; i++) {
        const struct sink_opts opts = opts_of(25, 1);
        struct sink *sink = NULL;
        struct why why = {0};
        struct why closing = {0};
        assert_true(sink_open(&sink, fixture_path(fixture, names[i]), &opts, &why));
        assert_int_equal(setrlimit(RLIMIT_FSIZE, &tight), 0);
        struct picture picture = picture_make(WIDTH, HEIGHT, 0);
        bool ok = true;
        for (int n = 0; ok && n < 60; n++) {
            picture_noise(&picture, (uint32_t)n); // what no encoder makes small
            const struct sink_frame frame = {
                .bgra = picture.bgra, .pitch_bytes = picture.pitch_bytes, .index = n};
            ok = sink_put(sink, &frame, &why);
        }
        bool closed = sink_close(sink, true, &closing);
        assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
        free(picture.bgra);
        assert_false(ok);
        assert_non_null(strstr(why.text, strerror(EFBIG)));
        assert_false(closed);
        assert_non_null(strstr(closing.text, strerror(EFBIG)));
        assert_non_null(strstr(closing.text, ".part."));
        assert_false(fixture_has(fixture, names[i]));
    }
    assert_int_equal(fixture_count(fixture), 3);
}

// --- WebM and GIF ---

static void a_webm_has_every_frame_in_its_colors(void **state) {
    struct fixture *fixture = *state;
    const char *path = fixture_path(fixture, "film.webm");
    const struct sink_opts opts = opts_of(30000, 1001);
    record(path, &opts, 50);
    struct seen seen;
    see_film(&seen, path);
    expect_frames(&seen, 50, 3);
    expect_bt709(&seen);
    assert_int_equal(seen.codec->codec_id, AV_CODEC_ID_VP9);
    for (int n = 0; n < 50; n++) { // WebM counts in milliseconds
        int64_t ms = av_rescale_q(seen.pts[n], seen.time_base, (AVRational){1, 1000});
        assert_in_range(ms, n * 1001 / 30, n * 1001 / 30 + 1);
    }
    assert_in_range(seen.container_us, 1667000, 1669000);
    seen_free(&seen);
    assert_int_equal(fixture_count(fixture), 1);
}

struct gif_facts {
    int images, later_palettes, loops; // loops: -1 = plays once
    int delay_cs;                      // of all images together
    int least_cs, most_cs;
};

static size_t skip_blocks(const uint8_t *data, size_t bytes, size_t at) {
    while (at < bytes && data[at] != 0)
        at += (size_t)data[at] + 1;
    return at + 1;
}

// GIF89a by its specification, as far as counting needs it.
static struct gif_facts read_gif(const char *path) {
    struct gif_facts facts = {.loops = -1, .least_cs = 1 << 20};
    size_t bytes;
    uint8_t *data = fixture_read(path, &bytes);
    assert_memory_equal(data, "GIF89a", 6);
    assert_true(data[10] & 0x80); // has a global palette
    size_t at = 13 + 3 * ((size_t)2 << (data[10] & 7));
    while (at < bytes && data[at] != 0x3b) {
        if (data[at] == 0x2c) {
            facts.images++;
            // FFmpeg repeats the palette with the first image.
            bool has_palette = data[at + 9] & 0x80;
            facts.later_palettes += has_palette && facts.images > 1;
            size_t palette_bytes = has_palette ? 3 * ((size_t)2 << (data[at + 9] & 7)) : 0;
            at = skip_blocks(data, bytes, at + 11 + palette_bytes);
            continue;
        }
        assert_int_equal(data[at], 0x21);
        if (data[at + 1] == 0xf9) {
            int delay = data[at + 4] | data[at + 5] << 8;
            facts.delay_cs += delay;
            facts.least_cs = delay < facts.least_cs ? delay : facts.least_cs;
            facts.most_cs = delay > facts.most_cs ? delay : facts.most_cs;
        } else if (data[at + 1] == 0xff && memcmp(data + at + 3, "NETSCAPE2.0", 11) == 0) {
            facts.loops = data[at + 16] | data[at + 17] << 8;
        }
        at = skip_blocks(data, bytes, at + 2);
    }
    assert_int_equal(at, bytes - 1); // the trailer is the last byte
    free(data);
    return facts;
}

static void a_gif_has_exact_delays_one_palette_and_loops(void **state) {
    struct fixture *fixture = *state;
    static const int rates[] = {50, 25, 20, 10};
    for (int i = 0; i < 4; i++) {
        char name[32];
        snprintf(name, sizeof name, "film%d.gif", i);
        const char *path = fixture_path(fixture, name);
        const struct sink_opts opts = opts_of(rates[i] * 3, 3);
        record(path, &opts, 33);
        struct gif_facts facts = read_gif(path);
        assert_int_equal(facts.images, 33);
        assert_int_equal(facts.least_cs, 100 / rates[i]);
        assert_int_equal(facts.most_cs, 100 / rates[i]);
        assert_int_equal(facts.delay_cs, 33 * 100 / rates[i]);
        assert_int_equal(facts.later_palettes, 0);
        assert_int_equal(facts.loops, 0); // for ever
        struct seen seen;
        see_film(&seen, path);
        expect_frames(&seen, 33, 0); // few colours: exact
        seen_free(&seen);
    }
    assert_int_equal(fixture_count(fixture), 4);
}

static void a_gif_refuses_rates_it_cannot_hold(void **state) {
    struct fixture *fixture = *state;
    static const int rates[][2] = {{60, 1},  {30, 1}, {24, 1}, {30000, 1001},
                                   {100, 1}, {0, 1},  {50, 0}};
    for (size_t i = 0; i < sizeof rates / sizeof rates[0]; i++) {
        const struct sink_opts opts = opts_of(rates[i][0], rates[i][1]);
        struct sink *sink = NULL;
        struct why why;
        assert_false(sink_open(&sink, fixture_path(fixture, "film.gif"), &opts, &why));
        assert_non_null(strstr(why.text, "50, 25, 20 or 10"));
    }
    assert_int_equal(fixture_count(fixture), 0);
}

enum { GIF_FRAMES = 6 };

static void record_gif(const char *path, struct picture (*draw)(int n)) {
    const struct sink_opts opts = opts_of(25, 1);
    struct sink *sink = NULL;
    struct why why;
    assert_true(sink_open(&sink, path, &opts, &why));
    for (int n = 0; n < GIF_FRAMES; n++) {
        struct picture picture = draw(n);
        const struct sink_frame frame = {
            .bgra = picture.bgra, .pitch_bytes = picture.pitch_bytes, .index = n};
        assert_true(sink_put(sink, &frame, &why));
        free(picture.bgra);
    }
    if (!sink_close(sink, true, &why))
        fail_msg("%s", why.text);
}

// A recorded GIF, every pixel of it.
struct pixels {
    uint8_t rgb[GIF_FRAMES][HEIGHT][WIDTH][3];
};

static struct pixels *read_pixels(const char *path) {
    struct pixels *pixels = calloc(1, sizeof *pixels);
    AVFormatContext *format = NULL;
    assert_non_null(pixels);
    assert_true(avformat_open_input(&format, path, NULL, NULL) >= 0);
    const AVCodec *decoder = avcodec_find_decoder(AV_CODEC_ID_GIF);
    AVCodecContext *codec = avcodec_alloc_context3(decoder);
    AVPacket *packet = av_packet_alloc();
    AVFrame *frame = av_frame_alloc();
    assert_true(codec && packet && frame && avcodec_open2(codec, decoder, NULL) >= 0);
    int n = 0;
    while (av_read_frame(format, packet) >= 0) {
        assert_true(avcodec_send_packet(codec, packet) >= 0);
        av_packet_unref(packet);
        for (; avcodec_receive_frame(codec, frame) >= 0; n++) {
            assert_in_range(n, 0, GIF_FRAMES - 1);
            for (int i = 0; i < HEIGHT * WIDTH; i++)
                pixel_rgb(pixels->rgb[n][i / WIDTH][i % WIDTH], frame, i % WIDTH, i / WIDTH);
        }
    }
    assert_int_equal(n, GIF_FRAMES);
    av_frame_free(&frame);
    av_packet_free(&packet);
    avcodec_free_context(&codec);
    avformat_close_input(&format);
    return pixels;
}

// How far the columns [begin, end) of all frames are from what was drawn, over the
// three channels: root mean square, and the worst.
struct distance {
    double rms;
    int worst;
};

static struct distance distance_to(const struct pixels *pixels, struct picture (*draw)(int n),
                                   int begin, int end) {
    struct distance distance = {0};
    double squares = 0;
    for (int n = 0; n < GIF_FRAMES; n++) {
        struct picture want = draw(n);
        for (int y = 0; y < HEIGHT; y++) {
            for (int i = 3 * begin; i < 3 * end; i++) {
                const uint8_t *bgra = want.bgra + y * want.pitch_bytes + i / 3 * 4;
                int off = abs(pixels->rgb[n][y][i / 3][i % 3] - bgra[2 - i % 3]);
                squares += off * off;
                distance.worst = off > distance.worst ? off : distance.worst;
            }
        }
        free(want.bgra);
    }
    distance.rms = sqrt(squares / (3.0 * GIF_FRAMES * HEIGHT * (end - begin)));
    return distance;
}

static void expect_still_left_half(const struct pixels *pixels) {
    for (int n = 1; n < GIF_FRAMES; n++) {
        for (int y = 0; y < HEIGHT; y++)
            assert_memory_equal(pixels->rgb[n][y], pixels->rgb[0][y], 3 * WIDTH / 2);
    }
}

// The left half is a ramp of thousands of colours that stays, the right changes.
static struct picture ramp_picture(int n) {
    struct picture picture = picture_make(WIDTH, HEIGHT, ground);
    picture_noise(&picture, (uint32_t)n);
    for (int y = 0; y < HEIGHT; y++) {
        for (int x = 0; x < WIDTH / 2; x++)
            picture_fill(&picture, (int[4]){x, y, 1, 1},
                         (uint32_t)(x * 3) << 16 | (uint32_t)(y * 2) << 8 | (uint32_t)(x + y));
    }
    return picture;
}

static void still_areas_of_a_gif_never_change_color(void **state) {
    struct fixture *fixture = *state;
    const char *path = fixture_path(fixture, "film.gif");
    record_gif(path, ramp_picture);
    struct pixels *pixels = read_pixels(path);
    expect_still_left_half(pixels);
    struct distance distance = distance_to(pixels, ramp_picture, 0, WIDTH / 2);
    if (distance.rms > 16) // 255 colours shared with noise over the whole cube
        fail_msg("the ramp is off by %.2f", distance.rms);
    free(pixels);
}

// What a theme fills areas and draws text with.
static const uint32_t flat[] = {0x0E1116, 0x161C24, 0x2B3440, 0xEAF0F6,
                                0x9DA9B7, 0x56B4E9, 0xF0A830, 0x2CC295};
enum { FLATS = sizeof flat / sizeof flat[0], FLAT_WIDTH = WIDTH / 4, FLAT_HEIGHT = HEIGHT / 4 };

static uint32_t blend(uint32_t a, uint32_t b, uint32_t alpha) {
    uint32_t out = 0;
    for (int shift = 16; shift >= 0; shift -= 8)
        out |= ((a >> shift & 255) * (255 - alpha) + (b >> shift & 255) * alpha) / 255 << shift;
    return out;
}

// The left half is flat areas that stay; the right changes and has thousands of
// colours, each of which could be the edge between two of the areas.
static struct picture drawn_picture(int n) {
    struct picture picture = picture_make(WIDTH, HEIGHT, ground);
    uint32_t seed = (uint32_t)n;
    for (int y = 0; y < HEIGHT; y++) {
        for (int x = WIDTH / 2; x < WIDTH; x++) {
            seed = seed * 1664525u + 1013904223u;
            picture_fill(&picture, (int[4]){x, y, 1, 1},
                         blend(flat[seed >> 29], flat[seed >> 26 & 7], seed >> 16 & 255));
        }
    }
    for (int i = 0; i < FLATS; i++)
        picture_fill(&picture,
                     (int[4]){i % 2 * FLAT_WIDTH, i / 2 * FLAT_HEIGHT, FLAT_WIDTH, FLAT_HEIGHT},
                     flat[i]);
    return picture;
}

static void flat_areas_of_a_gif_have_one_color_each(void **state) {
    struct fixture *fixture = *state;
    const char *path = fixture_path(fixture, "film.gif");
    record_gif(path, drawn_picture);
    struct pixels *pixels = read_pixels(path);
    expect_still_left_half(pixels);
    for (int i = 0; i < FLATS; i++) {
        int left = i % 2 * FLAT_WIDTH, top = i / 2 * FLAT_HEIGHT;
        const uint8_t *first = pixels->rgb[0][top][left];
        expect_rgb(first, flat[i], 4);
        for (int k = 0; k < FLAT_WIDTH * FLAT_HEIGHT; k++)
            assert_memory_equal(pixels->rgb[0][top + k / FLAT_WIDTH][left + k % FLAT_WIDTH], first,
                                3);
    }
    struct distance distance = distance_to(pixels, drawn_picture, WIDTH / 2, WIDTH);
    if (distance.rms > 5 || distance.worst > 24)
        fail_msg("the edges are off by %.2f, at worst %d", distance.rms, distance.worst);
    free(pixels);
}

static void a_gif_of_many_colors_is_the_same_bytes_again(void **state) {
    struct fixture *fixture = *state;
    const char *one = fixture_path(fixture, "a.gif"), *two = fixture_path(fixture, "b.gif");
    record_gif(one, drawn_picture);
    record_gif(two, drawn_picture);
    assert_true(fixture_same_file(one, two));
}

static void a_gif_may_have_any_size(void **state) {
    struct fixture *fixture = *state;
    struct sink_opts opts = opts_of(10, 1);
    opts.width_px = 101;
    opts.height_px = 67;
    struct sink *sink = NULL;
    struct why why;
    struct picture picture = picture_make(101, 67, 0xF0A830);
    const struct sink_frame frame = {.bgra = picture.bgra, .pitch_bytes = picture.pitch_bytes};
    assert_true(sink_open(&sink, fixture_path(fixture, "odd.gif"), &opts, &why));
    assert_true(sink_put(sink, &frame, &why));
    if (!sink_close(sink, true, &why))
        fail_msg("%s", why.text);
    struct gif_facts facts = read_gif(fixture_path(fixture, "odd.gif"));
    assert_int_equal(facts.images, 1);
    assert_int_equal(facts.delay_cs, 10);
    free(picture.bgra);
}

// --- Encoders that are missing, and the neighbour format. ---

static void a_missing_encoder_has_a_stand_in_and_a_note(void **state) {
    struct fixture *fixture = *state;
    hidden = " libx264 libopenh264 ";
    const char *path = fixture_path(fixture, "film.mp4");
    const struct sink_opts opts = opts_of(25, 1);
    struct sink *sink = NULL;
    struct why why;
    assert_true(sink_open(&sink, path, &opts, &why));
    assert_string_equal(why.text, "");
    assert_non_null(strstr(sink_note(sink), "MPEG-4 Part 2"));
    for (int n = 0; n < 20; n++)
        assert_true(put(sink, n, &why));
    if (!sink_close(sink, true, &why))
        fail_msg("%s", why.text);
    struct seen seen;
    see_film(&seen, path);
    assert_int_equal(seen.codec->codec_id, AV_CODEC_ID_MPEG4);
    expect_frames(&seen, 20, 6);
    seen_free(&seen);

    hidden = "";
    assert_true(sink_open(&sink, fixture_path(fixture, "other.mp4"), &opts, &why));
    assert_string_equal(sink_note(sink), "");
    assert_true(sink_close(sink, false, &why));
}

static void without_any_encoder_the_refusal_names_what_is_there(void **state) {
    struct fixture *fixture = *state;
    static const struct {
        const char *without, *name, *says, *instead;
    } cases[] = {
        {" libx264 libopenh264 mpeg4 ", "film.mp4", "libx264", ".webm"},
        {" libvpx-vp9 ", "film.webm", "libvpx", ".mp4"},
        {" qtrle png ", "film.gif", "qtrle", ".mp4"},
        {" gif ", "film.gif", ".gif", ".mp4"},
        {" palettegen ", "film.gif", "palettegen", ".mp4"},
        {" paletteuse ", "film.gif", "palettegen", ".mp4"},
        {" scale ", "film.gif", "palettegen", ".mp4"},
        {" libx264 libopenh264 mpeg4 libvpx-vp9 gif ", "film.mp4", "libx264", ".y4m"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        hidden = cases[i].without;
        const struct sink_opts opts = opts_of(25, 1);
        struct sink *sink = NULL;
        struct why why;
        assert_false(sink_open(&sink, fixture_path(fixture, cases[i].name), &opts, &why));
        if (!strstr(why.text, cases[i].says) || !strstr(why.text, cases[i].instead))
            fail_msg("without%sthe refusal was '%s'", cases[i].without, why.text);
        assert_int_equal(fixture_count(fixture), 0);
    }
    char text[1024];
    sink_describe(text, sizeof text);
    assert_non_null(strstr(text, "mp4   not here"));
    assert_non_null(strstr(text, "webm  not here"));
    assert_non_null(strstr(text, "gif   not here"));
    hidden = "";
    sink_describe(text, sizeof text);
    assert_non_null(strstr(text, "mp4   H.264 (libx264)"));
}

static void the_other_lossless_coder_makes_the_same_gif(void **state) {
    struct fixture *fixture = *state;
    const struct sink_opts opts = opts_of(25, 1);
    record(fixture_path(fixture, "a.gif"), &opts, 10);
    hidden = " qtrle ";
    record(fixture_path(fixture, "b.gif"), &opts, 10);
    assert_true(fixture_same_file(fixture_path(fixture, "a.gif"), fixture_path(fixture, "b.gif")));
}

static void ffmpeg_reads_our_y4m_as_it_is_meant(void **state) {
    struct fixture *fixture = *state;
    const struct sink_opts opts = opts_of(30000, 1001);
    record(fixture_path(fixture, "film.y4m"), &opts, 12);
    struct seen seen;
    see_film(&seen, fixture_path(fixture, "film.y4m"));
    expect_frames(&seen, 12, 2); // only rounding: nothing is coded
    assert_int_equal(seen.codec->color_range, AVCOL_RANGE_MPEG);
    assert_int_equal(seen.codec->chroma_location, AVCHROMA_LOC_LEFT);
    assert_int_equal(av_cmp_q(seen.average_rate, (AVRational){30000, 1001}), 0);
    seen_free(&seen);
}

#define WITH_FOLDER(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        WITH_FOLDER(an_mp4_has_every_frame_at_its_exact_time_in_its_colors),
        WITH_FOLDER(a_film_of_one_frame_lasts_one_frame),
        WITH_FOLDER(an_mp4_can_be_searched_every_two_seconds),
        WITH_FOLDER(an_mp4_is_plain_with_its_index_in_front),
        WITH_FOLDER(two_recordings_are_the_same_bytes),
        WITH_FOLDER(a_kill_leaves_a_part_that_plays_and_the_old_file),
        WITH_FOLDER(giving_up_leaves_the_old_file_and_nothing_else),
        WITH_FOLDER(overwriting_replaces_the_old_file_at_the_end),
        WITH_FOLDER(a_name_taken_meanwhile_keeps_its_file_and_the_part_plays),
        WITH_FOLDER(a_size_limit_is_reported_in_one_line),
        WITH_FOLDER(a_webm_has_every_frame_in_its_colors),
        WITH_FOLDER(a_gif_has_exact_delays_one_palette_and_loops),
        WITH_FOLDER(a_gif_refuses_rates_it_cannot_hold),
        WITH_FOLDER(still_areas_of_a_gif_never_change_color),
        WITH_FOLDER(flat_areas_of_a_gif_have_one_color_each),
        WITH_FOLDER(a_gif_of_many_colors_is_the_same_bytes_again),
        WITH_FOLDER(a_gif_may_have_any_size),
        WITH_FOLDER(a_missing_encoder_has_a_stand_in_and_a_note),
        WITH_FOLDER(without_any_encoder_the_refusal_names_what_is_there),
        WITH_FOLDER(the_other_lossless_coder_makes_the_same_gif),
        WITH_FOLDER(ffmpeg_reads_our_y4m_as_it_is_meant),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
