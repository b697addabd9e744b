// The stand-in for sink_av.c in a build without FFmpeg. Compiled in here, so that
// it is tested in builds that have FFmpeg too.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "compute/base/why.h"
#include "render/film/sink_av_absent.c"

#include <string.h>
#include <unistd.h>

static void every_film_is_refused_with_what_can_be_done(void **state) {
    (void)state;
    static const char *const paths[] = {"film.mp4", "film.WEBM", "film.gif"};
    const struct sink_opts opts = {.width_px = 64, .height_px = 64, .fps_num = 25, .fps_den = 1};
    for (size_t i = 0; i < 3; i++) {
        struct sink *sink = NULL;
        struct why why;
        assert_false(sink_open(&sink, paths[i], &opts, &why));
        assert_null(sink);
        assert_non_null(strstr(why.text, paths[i]));
        assert_non_null(strstr(why.text, "libavcodec"));
        assert_non_null(strstr(why.text, ".y4m"));
        assert_int_not_equal(access(paths[i], F_OK), 0);
    }
    assert_false(sink_driver_av.handles("film.y4m"));
}

static void the_description_says_why_not(void **state) {
    (void)state;
    char text[1024];
    sink_describe(text, sizeof text);
    for (size_t i = 0; i < ENDING_COUNT; i++)
        assert_non_null(strstr(text, endings[i] + 1));
    assert_non_null(strstr(text, "built without libavcodec"));
    assert_non_null(strstr(text, "y4m   raw"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_film_is_refused_with_what_can_be_done),
        cmocka_unit_test(the_description_says_why_not),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
