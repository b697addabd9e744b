// Y4M: the bytes of files and streams, and what happens when they can't be written.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "compute/base/why.h"
#include "render/film/color.h"
#include "render/film/sink.h"
#include "tests/render/film/sink_fixture.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum { WIDTH = 96, HEIGHT = 64, FRAME_BYTES = 6 + WIDTH * HEIGHT * 3 / 2 };

static const char header[] = "YUV4MPEG2 W96 H64 F30000:1001 Ip A1:1 C420mpeg2 "
                             "XCOLORRANGE=LIMITED\n";
enum { HEADER_BYTES = sizeof header - 1 };

static const struct sink_opts opts = {
    .width_px = WIDTH, .height_px = HEIGHT, .fps_num = 30000, .fps_den = 1001};

static int set_up(void **state) {
    struct fixture *fixture = malloc(sizeof *fixture);
    assert_non_null(fixture);
    fixture_open(fixture);
    *state = fixture;
    return 0;
}

static int tear_down(void **state) {
    fixture_close(*state);
    free(*state);
    return 0;
}

static struct picture picture_of(int64_t n) {
    struct picture picture = picture_make(WIDTH, HEIGHT, 0x202020);
    picture_noise(&picture, (uint32_t)n);
    return picture;
}

static bool put(struct sink *sink, int64_t n, struct why *why) {
    struct picture picture = picture_of(n);
    const struct sink_frame frame = {
        .bgra = picture.bgra, .pitch_bytes = picture.pitch_bytes, .index = n};
    bool ok = sink_put(sink, &frame, why);
    free(picture.bgra);
    return ok;
}

static void record(const char *path, int frames) {
    struct sink *sink = NULL;
    struct why why;
    if (!sink_open(&sink, path, &opts, &why))
        fail_msg("%s", why.text);
    for (int n = 0; n < frames; n++)
        assert_true(put(sink, n, &why));
    if (!sink_close(sink, true, &why))
        fail_msg("%s", why.text);
}

// `data` must be the header and `frames` whole frames in order.
static void expect_stream(const uint8_t *data, size_t bytes, int frames) {
    assert_int_equal(bytes, HEADER_BYTES + frames * FRAME_BYTES);
    assert_memory_equal(data, header, HEADER_BYTES);
    uint8_t want[FRAME_BYTES] = "FRAME\n";
    uint8_t *luma = want + 6;
    const struct color_planes planes = {
        luma, luma + WIDTH * HEIGHT, luma + WIDTH * HEIGHT * 5 / 4, WIDTH, WIDTH / 2, WIDTH / 2};
    for (int n = 0; n < frames; n++) {
        struct picture picture = picture_of(n);
        color_to_yuv420(&planes, COLOR_BT601, picture.bgra, picture.pitch_bytes, WIDTH, HEIGHT);
        assert_memory_equal(data + HEADER_BYTES + n * FRAME_BYTES, want, FRAME_BYTES);
        free(picture.bgra);
    }
}

static void a_file_is_the_header_and_every_frame(void **state) {
    struct fixture *fixture = *state;
    const char *path = fixture_path(fixture, "film.y4m");
    record(path, 5);
    size_t bytes;
    uint8_t *data = fixture_read(path, &bytes);
    expect_stream(data, bytes, 5);
    free(data);
    assert_int_equal(fixture_count(fixture), 1);
}

static void while_recording_only_the_part_file_is_there(void **state) {
    struct fixture *fixture = *state;
    struct sink *sink = NULL;
    struct why why;
    assert_true(sink_open(&sink, fixture_path(fixture, "film.y4m"), &opts, &why));
    assert_true(put(sink, 0, &why));
    assert_false(fixture_has(fixture, "film.y4m"));
    size_t bytes; // whole frames lie in the part at any time
    uint8_t *data = fixture_read(fixture_path(fixture, "film.part.y4m"), &bytes);
    expect_stream(data, bytes, 1);
    free(data);
    assert_true(sink_close(sink, false, &why));
    assert_int_equal(fixture_count(fixture), 0);
}

static void an_old_file_survives_a_recording_that_is_given_up(void **state) {
    struct fixture *fixture = *state;
    const char *path = fixture_path(fixture, "film.y4m");
    fixture_write(path, "the old film");
    fixture_write(fixture_path(fixture, "film.part.y4m"), "left by a crash");
    struct sink_opts over = opts;
    over.overwrite = true;
    struct sink *sink = NULL;
    struct why why;
    assert_true(sink_open(&sink, path, &over, &why));
    assert_true(put(sink, 0, &why));
    assert_true(sink_close(sink, false, &why));
    size_t bytes;
    uint8_t *data = fixture_read(path, &bytes);
    assert_string_equal((char *)data, "the old film");
    free(data);
    data = fixture_read(fixture_path(fixture, "film.part.y4m"), &bytes);
    assert_string_equal((char *)data, "left by a crash");
    free(data);
    assert_int_equal(fixture_count(fixture), 2);

    assert_true(sink_open(&sink, path, &over, &why));
    assert_true(put(sink, 0, &why));
    assert_true(sink_close(sink, true, &why));
    data = fixture_read(path, &bytes);
    expect_stream(data, bytes, 1);
    free(data);
}

static void a_size_limit_is_reported_and_the_part_stays(void **state) {
    struct fixture *fixture = *state;
    signal(SIGXFSZ, SIG_IGN); // as the app does
    struct rlimit before;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    struct rlimit tight = {.rlim_cur = HEADER_BYTES + 3 * FRAME_BYTES + 100,
                           .rlim_max = before.rlim_max};
    struct sink *sink = NULL;
    struct why why = {0};
    assert_true(sink_open(&sink, fixture_path(fixture, "film.y4m"), &opts, &why));
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &tight), 0);
    int64_t n = 0;
    while (n < 10 && put(sink, n, &why))
        n++;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    assert_int_equal(n, 3);
    assert_non_null(strstr(why.text, strerror(EFBIG)));
    assert_false(sink_close(sink, true, &why));
    assert_non_null(strstr(why.text, strerror(EFBIG)));
    assert_non_null(strstr(why.text, "film.part.y4m"));
    assert_true(fixture_has(fixture, "film.part.y4m"));
    assert_int_equal(fixture_count(fixture), 1);
}

// Standard output replaced for the length of a test.
static int swap_stdout(int fd) {
    fflush(stdout);
    int saved = dup(STDOUT_FILENO);
    assert_true(saved >= 0);
    assert_int_equal(dup2(fd, STDOUT_FILENO), STDOUT_FILENO);
    return saved;
}

static void restore_stdout(int saved) {
    dup2(saved, STDOUT_FILENO);
    close(saved);
}

enum { PIPED_FRAMES = 12 }; // more than a pipe holds

struct reading {
    int fd;
    uint8_t data[HEADER_BYTES + PIPED_FRAMES * FRAME_BYTES];
    size_t bytes;
};

// Slowly at first, so that the writer has to wait.
static void *read_all(void *context) {
    struct reading *reading = context;
    usleep(20000);
    ssize_t got;
    while ((got = read(reading->fd, reading->data + reading->bytes,
                       sizeof reading->data - reading->bytes)) > 0)
        reading->bytes += (size_t)got;
    return NULL;
}

// Blocking and not: somebody may have made the pipe non-blocking.
static void a_pipe_gets_the_stream_and_nothing_else(void **state) {
    (void)state;
    for (int nonblocking = 0; nonblocking < 2; nonblocking++) {
        int ends[2];
        assert_int_equal(pipe(ends), 0);
        if (nonblocking)
            assert_int_equal(fcntl(ends[1], F_SETFL, O_NONBLOCK), 0);
        struct reading *reading = calloc(1, sizeof *reading);
        assert_non_null(reading);
        reading->fd = ends[0];
        pthread_t reader;
        assert_int_equal(pthread_create(&reader, NULL, read_all, reading), 0);
        int saved = swap_stdout(ends[1]);
        struct sink *sink = NULL;
        struct why why = {0};
        bool ok = sink_open(&sink, "-", &opts, &why);
        for (int n = 0; ok && n < PIPED_FRAMES; n++)
            ok = put(sink, n, &why);
        ok = sink_close(sink, ok, &why) && ok;
        restore_stdout(saved);
        close(ends[1]);
        pthread_join(reader, NULL);
        close(ends[0]);
        if (!ok)
            fail_msg("%s", why.text);
        expect_stream(reading->data, reading->bytes, PIPED_FRAMES);
        free(reading);
    }
}

static void a_recording_without_frames_writes_nothing_to_the_pipe(void **state) {
    (void)state;
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    int saved = swap_stdout(ends[1]);
    struct sink *sink = NULL;
    struct why why = {0};
    bool opened = sink_open(&sink, "-", &opts, &why);
    bool closed = sink_close(sink, false, &why);
    restore_stdout(saved);
    close(ends[1]);
    char byte;
    assert_true(opened && closed);
    assert_int_equal(read(ends[0], &byte, 1), 0);
    close(ends[0]);
}

static void a_reader_that_goes_away_gives_one_message(void **state) {
    (void)state;
    signal(SIGPIPE, SIG_IGN); // as the app does
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    int saved = swap_stdout(ends[1]);
    struct sink *sink = NULL;
    struct why why = {0};
    struct why closing = {0};
    bool opened = sink_open(&sink, "-", &opts, &why);
    bool first = opened && put(sink, 0, &why); // fits into the pipe
    close(ends[0]);
    bool second = opened && put(sink, 1, &why);
    bool closed = sink_close(sink, true, &closing);
    restore_stdout(saved);
    close(ends[1]);
    assert_true(first);
    assert_false(second);
    assert_string_equal(why.text, "the reader of standard output went away after 1 frames");
    assert_false(closed);
    assert_non_null(strstr(closing.text, why.text));
}

static void a_terminal_or_a_closed_stdout_is_refused(void **state) {
    (void)state;
    int terminal = posix_openpt(O_RDWR | O_NOCTTY);
    if (terminal < 0)
        skip();
    assert_int_equal(unlockpt(terminal), 0);
    int side = open(ptsname(terminal), O_RDWR | O_NOCTTY);
    assert_true(side >= 0);
    struct sink *sink = NULL;
    struct why on_terminal = {0};
    struct why on_closed = {0};
    int saved = swap_stdout(side);
    bool terminal_opened = sink_open(&sink, "-", &opts, &on_terminal);
    close(STDOUT_FILENO);
    bool closed_opened = sink_open(&sink, "-", &opts, &on_closed);
    restore_stdout(saved);
    close(side);
    close(terminal);
    assert_false(terminal_opened);
    assert_non_null(strstr(on_terminal.text, "is a terminal"));
    assert_false(closed_opened);
    assert_non_null(strstr(on_closed.text, "is closed"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_file_is_the_header_and_every_frame, set_up, tear_down),
        cmocka_unit_test_setup_teardown(while_recording_only_the_part_file_is_there, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(an_old_file_survives_a_recording_that_is_given_up, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(a_size_limit_is_reported_and_the_part_stays, set_up,
                                        tear_down),
        cmocka_unit_test(a_pipe_gets_the_stream_and_nothing_else),
        cmocka_unit_test(a_recording_without_frames_writes_nothing_to_the_pipe),
        cmocka_unit_test(a_reader_that_goes_away_gives_one_message),
        cmocka_unit_test(a_terminal_or_a_closed_stdout_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
