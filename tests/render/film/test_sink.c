// What holds for every sink: how a path chooses its kind, what is refused before
// the first frame, the order of frames, one reason after a failure.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "compute/base/why.h"
#include "render/film/sink.h"
#include "tests/render/film/sink_fixture.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static const struct sink_opts good = {.width_px = 64, .height_px = 64, .fps_num = 25, .fps_den = 1};

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

static void a_path_asks_for_stills_or_a_film(void **state) {
    struct fixture *fixture = *state;
    assert_int_equal(mkdir(fixture_path(fixture, "folder.mp4"), 0777), 0);
    fixture_write(fixture_path(fixture, "plain"), "x");
    static const struct {
        const char *name;
        bool stills;
    } cases[] = {
        {"new/", true},       {"new", true},       {"folder.mp4", true}, {".hidden", true},
        {"new.mp4/", true},   {"film.mp4", false}, {"film.y4m", false},  {"still.png", false},
        {"what.ever", false}, {"plain", false},    {"plain/x", true},    {".a.gif", false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        if (sink_wants_stills(fixture_path(fixture, cases[i].name)) != cases[i].stills)
            fail_msg("'%s' was taken for the wrong kind", cases[i].name);
    }
    assert_false(sink_wants_stills("-"));
    assert_false(sink_wants_stills(""));
    assert_true(sink_wants_stills("."));
}

static void endings_count_in_any_case_and_only_at_the_end(void **state) {
    (void)state;
    assert_true(sink_has_ending("a.mp4", ".mp4"));
    assert_true(sink_has_ending("A.MP4", ".mp4"));
    assert_false(sink_has_ending("a.mp4.part", ".mp4"));
    assert_false(sink_has_ending(".mp4", ".mp4"));
    assert_false(sink_has_ending("4", ".mp4"));
}

// Opens, expects a refusal in one line that holds `says`, and no trace in the folder.
static void expect_refusal(struct fixture *fixture, const char *name, const struct sink_opts *opts,
                           const char *says) {
    int before = fixture_count(fixture);
    struct sink *sink = (struct sink *)8;
    struct why why = {0};
    const char *path = strcmp(name, "-") == 0 ? name : fixture_path(fixture, name);
    if (sink_open(&sink, path, opts, &why))
        fail_msg("'%s' was opened", name);
    assert_null(sink);
    if (!strstr(why.text, says) || strchr(why.text, '\n'))
        fail_msg("'%s' was refused with '%s'", name, why.text);
    assert_int_equal(fixture_count(fixture), before);
}

static bool has_films(void) {
    char text[1024];
    sink_describe(text, sizeof text);
    return !strstr(text, "built without");
}

static void what_can_be_refused_is_refused_before_the_first_frame(void **state) {
    struct fixture *fixture = *state;
    fixture_write(fixture_path(fixture, "there.y4m"), "old");
    fixture_write(fixture_path(fixture, "there.mp4"), "old");
    fixture_write(fixture_path(fixture, "there.png"), "old");
    assert_int_equal(symlink("nowhere", fixture_path(fixture, "link.y4m")), 0);
    assert_int_equal(mkfifo(fixture_path(fixture, "pipe.y4m"), 0666), 0);
    static const struct {
        const char *name;
        int width_px, height_px, fps_num, fps_den;
        const char *says;
    } cases[] = {
        {"a.y4m", 65, 64, 25, 1, "--size 66x64"},
        {"a.mp4", 64, 8191, 25, 1, "--size 64x8192"},
        {"a.webm", 101, 101, 25, 1, "--size 102x102"},
        {"a.y4m", 62, 64, 25, 1, "64 to 8192"},
        {"a.y4m", 64, 8194, 25, 1, "64 to 8192"},
        {"a.gif", 20000, 20000, 25, 1, "64 to 8192"},
        {"a/", 0, 0, 25, 1, "64 to 8192"},
        {"a.y4m", -64, 64, 25, 1, "64 to 8192"},
        {"a.y4m", 64, 64, 0, 1, "1 to 240"},
        {"a.y4m", 64, 64, 25, 0, "1 to 240"},
        {"a.mp4", 64, 64, 241, 1, "1 to 240"},
        {"a.mp4", 64, 64, 1, 2, "1 to 240"},
        {"a.mp4", 64, 64, -25, -1, "1 to 240"},
        {"a.mp4", 64, 64, 2147483647, 2147483647, "1 to 240"},
        {"a.avi", 64, 64, 25, 1, ".mp4, .webm, .gif"},
        {"a.", 64, 64, 25, 1, ".mp4, .webm, .gif"},
        {"there.y4m", 64, 64, 25, 1, "--overwrite"},
        {"there.mp4", 64, 64, 25, 1, "--overwrite"},
        {"there.png", 64, 64, 25, 1, "--overwrite"},
        {"no/a.y4m", 64, 64, 25, 1, "no folder"},
        {"no/a.mp4", 64, 64, 25, 1, "no folder"},
        {"no/a.png", 64, 64, 25, 1, "no folder"},
        {"no/folder/", 64, 64, 25, 1, "no folder"},
        {"there.y4m/a.y4m", 64, 64, 25, 1, "no folder"},
        {"there.y4m/", 64, 64, 25, 1, "is no folder"},
        {"link.y4m", 64, 64, 25, 1, "link to nothing"},
        {"pipe.y4m", 64, 64, 25, 1, "no plain file"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const struct sink_opts opts = {
            .width_px = cases[i].width_px,
            .height_px = cases[i].height_px,
            .fps_num = cases[i].fps_num,
            .fps_den = cases[i].fps_den,
        };
        // Without FFmpeg's libraries a film is refused for that, whatever else is wrong.
        bool is_film =
            sink_has_ending(cases[i].name, ".mp4") || sink_has_ending(cases[i].name, ".webm");
        expect_refusal(fixture, cases[i].name, &opts,
                       is_film && !has_films() ? "which this build lacks" : cases[i].says);
    }
    char long_name[300];
    memset(long_name, 'n', sizeof long_name);
    memcpy(long_name + 280, ".y4m", 5);
    char path[400];
    struct why why;
    struct sink *sink = NULL;
    snprintf(path, sizeof path, "%s/%s", fixture->folder, long_name);
    assert_false(sink_open(&sink, path, &good, &why)); // 255 bytes is what a name may have
    assert_non_null(strstr(why.text, strerror(ENAMETOOLONG)));
    assert_false(sink_open(&sink, "", &good, &why));
}

// Exit code of a process that may not write in the folder and tries to record there.
static int record_as_nobody(const char *path) {
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        struct why why = {0};
        struct sink *sink = NULL;
        if (geteuid() == 0 && (setgid(65534) != 0 || setuid(65534) != 0))
            _exit(3);
        bool opened = sink_open(&sink, path, &good, &why);
        _exit(opened ? 1 : strstr(why.text, "Permission denied") ? 0 : 2);
    }
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

static void a_folder_that_cannot_be_written_is_refused(void **state) {
    struct fixture *fixture = *state;
    assert_int_equal(chmod(fixture->folder, 0755), 0); // root's, who is somebody else
    assert_int_equal(mkdir(fixture_path(fixture, "locked"), 0555), 0);
    assert_int_equal(record_as_nobody(fixture_path(fixture, "locked/a.y4m")), 0);
    assert_int_equal(record_as_nobody(fixture_path(fixture, "locked/a.png")), 0);
    assert_int_equal(record_as_nobody(fixture_path(fixture, "locked")), 0);
    assert_int_equal(record_as_nobody(fixture_path(fixture, "locked/new/")), 0);
}

static void frames_come_in_order_and_a_failure_stays(void **state) {
    struct fixture *fixture = *state;
    struct picture picture = picture_make(64, 64, 0x336699);
    struct sink *sink = NULL;
    struct why why;
    assert_true(sink_open(&sink, fixture_path(fixture, "a.y4m"), &good, &why));
    assert_string_equal(why.text, "");
    assert_string_equal(sink_note(sink), "");
    struct sink_frame frame = {.bgra = picture.bgra, .pitch_bytes = picture.pitch_bytes};
    assert_true(sink_put(sink, &frame, &why));
    frame.index = 2;
    assert_false(sink_put(sink, &frame, &why));
    assert_string_equal(why.text, "frame 2 came where 1 was due");
    frame.index = 1; // too late: the film has a hole
    assert_false(sink_put(sink, &frame, &why));
    assert_string_equal(why.text, "frame 2 came where 1 was due");
    assert_false(sink_close(sink, true, &why));
    assert_non_null(strstr(why.text, "frame 2 came where 1 was due"));
    assert_non_null(strstr(why.text, "a.part.y4m")); // what there is of it stays
    assert_true(fixture_has(fixture, "a.part.y4m"));
    assert_false(fixture_has(fixture, "a.y4m"));
    free(picture.bgra);
}

static void a_frame_without_pixels_is_refused(void **state) {
    struct fixture *fixture = *state;
    struct picture picture = picture_make(64, 64, 0);
    const struct sink_frame bad[] = {{.bgra = NULL, .pitch_bytes = 256},
                                     {.bgra = picture.bgra, .pitch_bytes = 255}};
    for (size_t i = 0; i < 2; i++) {
        struct sink *sink = NULL;
        struct why why;
        assert_true(sink_open(&sink, fixture_path(fixture, "a.y4m"), &good, &why));
        assert_false(sink_put(sink, &bad[i], &why));
        assert_true(sink_close(sink, false, &why));
    }
    assert_int_equal(fixture_count(fixture), 0);
    free(picture.bgra);
}

static void a_recording_without_frames_leaves_nothing(void **state) {
    struct fixture *fixture = *state;
    static const char *const names[] = {"a.y4m", "a.mp4", "a.webm", "a.gif", "a.png", "a"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        struct sink *sink = NULL;
        struct why why;
        if (!sink_open(&sink, fixture_path(fixture, names[i]), &good, &why))
            continue; // a build without FFmpeg
        assert_false(sink_close(sink, true, &why));
        assert_non_null(strstr(why.text, "no frame"));
        assert_int_equal(fixture_count(fixture), 0);
    }
    struct why why;
    assert_true(sink_close(NULL, true, &why));
}

static void descriptions_name_each_format_once(void **state) {
    (void)state;
    char text[1024];
    sink_describe(text, sizeof text);
    static const char *const formats[] = {"mp4 ", "webm ", "gif ", "y4m ", "png "};
    const char *last = text;
    for (size_t i = 0; i < 5; i++) {
        const char *at = strstr(text, formats[i]);
        assert_non_null(at);
        assert_null(strstr(at + 1, formats[i]));
        assert_true(at >= last); // films before streams before stills
        last = at;
    }
    assert_int_not_equal(text[strlen(text) - 1], '\n');
    char small[20];
    sink_describe(small, sizeof small); // cut, never beyond
    assert_true(strlen(small) < sizeof small);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_path_asks_for_stills_or_a_film, set_up, tear_down),
        cmocka_unit_test(endings_count_in_any_case_and_only_at_the_end),
        cmocka_unit_test_setup_teardown(what_can_be_refused_is_refused_before_the_first_frame,
                                        set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_folder_that_cannot_be_written_is_refused, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(frames_come_in_order_and_a_failure_stays, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(a_frame_without_pixels_is_refused, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_recording_without_frames_leaves_nothing, set_up,
                                        tear_down),
        cmocka_unit_test(descriptions_name_each_format_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
