// The window: refused without a display, the same pixels as a picture in memory,
// full screen and back, on SDL's dummy driver, on a virtual X server started here
// when there is one, and on the display this runs on.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "render/pixel/surface.h"
#include "render/pixel/window.h"

#include <SDL.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static struct text *text;
static struct cmdlist scene, hud;

static int open_text(void **state) {
    (void)state;
    char why[256];
    if (text_create(&text, why))
        return 0;
    print_error("%s\n", why);
    return -1;
}

static int close_text(void **state) {
    (void)state;
    text_destroy(text);
    return 0;
}

// ---- environments ----

static const char *const NAMES[] = {"DISPLAY", "WAYLAND_DISPLAY", "XDG_RUNTIME_DIR",
                                    "SDL_VIDEODRIVER", "SDL_RENDER_DRIVER"};
enum { NAME_COUNT = 5 };

// For the leak sanitizer, where there is one: D-Bus keeps a little, and OpenGL drivers
// unload themselves, so that no suppression by name finds what they keep.
const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void) {
    return "leak:libdbus\n";
}
void __lsan_disable(void) __attribute__((weak));
void __lsan_enable(void) __attribute__((weak));

// Only these variables of the five are set during a test; restored afterwards.
static char *saved[NAME_COUNT];

static int save_environment(void **state) {
    (void)state;
    for (int i = 0; i < NAME_COUNT; i++) {
        const char *value = getenv(NAMES[i]);
        saved[i] = value ? strdup(value) : NULL;
        unsetenv(NAMES[i]);
    }
    return 0;
}

static int restore_environment(void **state) {
    (void)state;
    for (int i = 0; i < NAME_COUNT; i++) {
        if (saved[i])
            setenv(NAMES[i], saved[i], 1);
        else
            unsetenv(NAMES[i]);
        free(saved[i]);
    }
    return 0;
}

static struct window *open_window(const struct window_opts *opts) {
    struct window *window;
    char why[256] = "";
    if (!window_open(&window, opts, text, why))
        fail_msg("%s", why);
    return window;
}

static void assert_refused(const struct window_opts *opts, const char *word) {
    struct window *window = (void *)1;
    char why[256] = "";
    assert_false(window_open(&window, opts, text, why));
    assert_null(window);
    if (!strstr(why, word) || strchr(why, '\n'))
        fail_msg("'%s' is not in '%s'", word, why);
    assert_int_equal(SDL_WasInit(SDL_INIT_VIDEO), 0);
}

static void make_scene(int w, int h) {
    const struct cmd words = {
        .face = FACE_WORDS, .stroke = 30, .color = 0xEAF0F6FF, .rect = {20, 90, 0, 0}};
    cmdlist_clear(&scene);
    cmdlist_fill(&scene, (struct rect){0, 0, w, h}, 0x0E1116FF);
    cmdlist_round(&scene, (struct rect){w - 90, h - 70, 80, 60}, 9, 0x56B4E9FF);
    cmdlist_drop(&scene, (struct rect){120, 120, 31, 42}, 2, 0xF0A830FF);
    cmdlist_text(&scene, &words, "Where is my parcel?");
    cmdlist_clear(&hud);
    cmdlist_ring(&hud, (struct rect){10, 10, 200, 100}, 8, 3, 0x2CC295FF);
}

// The window's pixels of scene and HUD; their size in w and h. Owner: the caller.
static uint8_t *draw_and_read(struct window *window, int *w, int *h) {
    char why[256];
    SDL_Event event;
    while (SDL_PollEvent(&event))
        continue; // SDL learns of sizes here
    window_size_px(window, w, h);
    make_scene(*w, *h);
    window_draw(window, &scene, &hud);
    uint8_t *bgra = malloc((size_t)*w * (size_t)*h * 4);
    if (!window_read_pixels(window, bgra, why))
        fail_msg("%s", why);
    window_present(window);
    return bgra;
}

// The greatest difference to the same lists drawn in memory.
static int difference_to_memory(struct window *window) {
    int w, h, pitch_bytes, greatest = 0;
    uint8_t *bgra = draw_and_read(window, &w, &h);
    struct surface *surface;
    char why[256];
    assert_true(surface_create(&surface, w, h, text, why));
    surface_draw(surface, &scene);
    surface_draw(surface, &hud);
    const uint8_t *want = surface_pixels(surface, &pitch_bytes);
    for (int y = 0; y < h; y++)
        for (int x = 0; x < w * 4; x++) {
            int d = abs((int)bgra[y * w * 4 + x] - (int)want[y * pitch_bytes + x]);
            greatest = d > greatest ? d : greatest;
        }
    surface_destroy(surface);
    free(bgra);
    return greatest;
}

// ---- refusals ----

static void without_a_display_the_refusal_names_it_and_the_way_out(void **state) {
    (void)state;
    const struct window_opts opts = {.title = "test"};
    char why[256] = "";
    assert_refused(&opts, "DISPLAY");
    assert_refused(&opts, "tokendrip record");
    assert_false(window_has_display(why));
    assert_non_null(strstr(why, "DISPLAY"));
}

static void a_display_that_cannot_be_reached_is_named(void **state) {
    (void)state;
    const struct window_opts opts = {.title = "test"};
    setenv("DISPLAY", ":4711", 1);
    assert_refused(&opts, ":4711");
    setenv("SDL_VIDEODRIVER", "x11", 1);
    assert_refused(&opts, "x11");
}

static void a_driver_that_shows_nothing_is_used_only_when_asked_for(void **state) {
    (void)state;
    const struct window_opts opts = {.title = "test"};
    setenv("SDL_VIDEODRIVER", "dummy", 1);
    window_close(open_window(&opts));
    assert_int_equal(SDL_WasInit(SDL_INIT_VIDEO), 0);
    unsetenv("SDL_VIDEODRIVER");
    assert_refused(&opts, "DISPLAY"); // the last window left no hint behind
}

static void a_display_number_that_is_not_there_is_refused(void **state) {
    (void)state;
    setenv("SDL_VIDEODRIVER", "dummy", 1);
    assert_refused(&(struct window_opts){.title = "test", .display = 2}, "no display 2");
    assert_refused(&(struct window_opts){.title = "test", .display = -1}, "no display -1");
    window_close(open_window(&(struct window_opts){.title = "test", .display = 1}));
    window_close(NULL);
}

// ---- on the dummy driver ----

static void the_windows_pixels_are_those_of_memory(void **state) {
    (void)state;
    setenv("SDL_VIDEODRIVER", "dummy", 1);
    struct window *window = open_window(&(struct window_opts){.title = "test"});
    assert_true(window_is_software(window));
    assert_string_equal(window_renderer_name(window), "software");
    assert_false(window_has_vsync(window));
    assert_int_equal(window_refresh_hz(window), 60); // the driver says 0
    assert_int_equal(difference_to_memory(window), 0);
    int count = window_raster_count(window);
    assert_int_equal(difference_to_memory(window), 0);
    assert_int_equal(window_raster_count(window), count);
    window_reset(window);
    assert_int_equal(difference_to_memory(window), 0);
    window_close(window);
}

static void a_frame_without_a_hud_leaves_none_behind(void **state) {
    (void)state;
    setenv("SDL_VIDEODRIVER", "dummy", 1);
    struct window *window = open_window(&(struct window_opts){.title = "test"});
    int w, h;
    free(draw_and_read(window, &w, &h));
    static struct cmdlist nothing;
    cmdlist_clear(&nothing);
    window_draw(window, &nothing, NULL);
    uint8_t *bgra = malloc((size_t)w * (size_t)h * 4);
    char why[256];
    assert_true(window_read_pixels(window, bgra, why));
    for (int i = 0; i < w * h; i++)
        assert_memory_equal(bgra + i * 4, "\0\0\0\xFF", 4);
    free(bgra);
    window_close(window);
}

static void sizes_stay_between_the_minimum_and_the_display(void **state) {
    (void)state;
    static const int cases[][4] = {
        {0, 0, 1024, 720}, // the default, cut to the dummy display of 1024 x 768
        {100, 100, 640, 480},
        {800, 600, 800, 600},
        {100000, 100000, 1024, 768},
    };
    setenv("SDL_VIDEODRIVER", "dummy", 1);
    for (int i = 0; i < 4; i++) {
        int w, h;
        struct window *window = open_window(
            &(struct window_opts){.title = "test", .width = cases[i][0], .height = cases[i][1]});
        window_size_px(window, &w, &h);
        if (w != cases[i][2] || h != cases[i][3])
            fail_msg("case %d: %d x %d", i, w, h);
        window_close(window);
    }
}

static void text_input_and_screensaver_begin_as_promised(void **state) {
    (void)state;
    setenv("SDL_VIDEODRIVER", "dummy", 1);
    struct window *window = open_window(&(struct window_opts){.title = "test"});
    assert_false(SDL_IsTextInputActive());
    window_set_text_input(window, true);
    assert_true(SDL_IsTextInputActive());
    window_set_text_input(window, false);
    assert_false(SDL_IsTextInputActive());
    assert_false(window_is_kept_awake(window));
    window_keep_awake(window, true);
    assert_true(window_is_kept_awake(window));
    window_keep_awake(window, false);
    assert_false(window_is_kept_awake(window));
    window_show_pointer(window, false);
    assert_int_equal(SDL_ShowCursor(SDL_QUERY), SDL_DISABLE);
    window_show_pointer(window, true);
    assert_int_equal(SDL_ShowCursor(SDL_QUERY), SDL_ENABLE);
    window_close(window);
}

static void signals_are_left_to_the_program(void **state) {
    (void)state;
    setenv("SDL_VIDEODRIVER", "dummy", 1);
    struct window *window = open_window(&(struct window_opts){.title = "test"});
    struct sigaction action;
    sigaction(SIGINT, NULL, &action);
    assert_true(action.sa_handler == SIG_DFL);
    window_close(window);
}

static void the_mouse_is_where_the_pixels_are(void **state) {
    (void)state;
    setenv("SDL_VIDEODRIVER", "dummy", 1);
    struct window *window = open_window(&(struct window_opts){.title = "test"});
    int x = 123, y = 456;
    window_mouse_px(window, &x, &y);
    assert_int_equal(x, 123); // one unit is one pixel here
    assert_int_equal(y, 456);
    window_close(window);
}

static void there_is_no_next_display_on_a_single_one(void **state) {
    (void)state;
    setenv("SDL_VIDEODRIVER", "dummy", 1);
    struct window *window = open_window(&(struct window_opts){.title = "test"});
    assert_false(window_next_display(window));
    assert_false(window_is_hidden(window));
    window_close(window);
}

// ---- on OpenGL without a display ----

static void a_gpu_draws_the_same_and_is_left_alone_on_request(void **state) {
    (void)state;
    setenv("SDL_VIDEODRIVER", "offscreen", 1);
    if (__lsan_disable)
        __lsan_disable();
    for (int software = 1; software >= 0; software--) {
        struct window *window =
            open_window(&(struct window_opts){.title = "test", .software = software});
        bool is_software = window_is_software(window);
        if (software)
            assert_true(is_software);
        for (int i = 0; i < 2; i++) {
            assert_true(difference_to_memory(window) <= (is_software ? 0 : 4));
            window_reset(window);
        }
        window_close(window);
        if (!software && is_software) {
            print_message("no OpenGL without a display here\n");
            skip();
        }
    }
    if (__lsan_enable)
        __lsan_enable();
}

// ---- on X11 ----

// A server of our own: its process, and DISPLAY set to its number. 0: there is none.
static pid_t start_server(const char *screen) {
    int ends[2];
    if (pipe(ends) != 0)
        return 0;
    pid_t server = fork();
    if (server == 0) {
        char fd[16];
        snprintf(fd, sizeof fd, "%d", ends[1]);
        close(ends[0]);
        if (freopen("/dev/null", "w", stderr))
            execlp("Xvfb", "Xvfb", "-displayfd", fd, "-screen", "0", screen, "-nolisten", "tcp",
                   "-noreset", (char *)NULL);
        _exit(127);
    }
    close(ends[1]);
    // The number comes in pieces; who hangs up before its newline kills the server.
    char display[16] = ":";
    size_t used = 1;
    while (used + 1 < sizeof display && read(ends[0], display + used, 1) == 1 &&
           display[used] != '\n')
        used++;
    close(ends[0]);
    bool is_ready = display[used] == '\n';
    display[used] = '\0';
    if (is_ready)
        setenv("DISPLAY", display, 1);
    else
        waitpid(server, NULL, 0);
    return is_ready ? server : 0;
}

static void stop_server(pid_t server) {
    kill(server, SIGTERM);
    waitpid(server, NULL, 0);
}

static void use_window_on_x11(const struct window_opts *opts, int tolerance) {
    struct window *window = open_window(opts);
    int w, h, full_w, full_h;
    window_size_px(window, &w, &h);
    assert_int_equal(w, 800);
    assert_int_equal(h, 600);
    assert_true(difference_to_memory(window) <= tolerance);
    window_set_title(window, "another title");
    window_set_fullscreen(window, true);
    window_set_fullscreen(window, true); // no harm
    for (int i = 0; i < 5; i++)
        assert_true(difference_to_memory(window) <= tolerance);
    assert_true(window_is_fullscreen(window));
    window_size_px(window, &full_w, &full_h);
    assert_int_equal(full_w, 1280);
    assert_int_equal(full_h, 800);
    window_set_fullscreen(window, false);
    for (int i = 0; i < 5; i++)
        assert_true(difference_to_memory(window) <= tolerance);
    assert_false(window_is_fullscreen(window));
    window_size_px(window, &w, &h); // its old size, even without a window manager
    assert_int_equal(w, 800);
    assert_int_equal(h, 600);
    window_close(window);
}

static void windows_on_x11_show_the_pixels_of_memory(void **state) {
    (void)state;
    pid_t server = start_server("1280x800x24");
    if (!server) {
        print_message("Xvfb is not installed\n");
        skip();
    }
    char why[256];
    assert_true(window_has_display(why));
    struct window_opts opts = {.title = "test", .width = 800, .height = 600};
    if (__lsan_disable)
        __lsan_disable();
    use_window_on_x11(&opts, 4); // whatever SDL finds
    if (__lsan_enable)
        __lsan_enable();
    opts.software = true;
    use_window_on_x11(&opts, 0);
    setenv("SDL_RENDER_DRIVER", "software", 1);
    opts.software = false;
    struct window *window = open_window(&opts);
    assert_true(window_is_software(window));
    window_close(window);
    stop_server(server);
}

static void full_screen_from_the_start_fills_the_screen(void **state) {
    (void)state;
    pid_t server = start_server("1280x800x24");
    if (!server)
        skip();
    struct window *window = open_window(
        &(struct window_opts){.title = "test", .fullscreen = true, .software = true, .display = 1});
    int w, h;
    free(draw_and_read(window, &w, &h));
    assert_true(window_is_fullscreen(window));
    assert_int_equal(w, 1280);
    assert_int_equal(h, 800);
    window_close(window);
    stop_server(server);
}

static void a_screen_of_16_bits_shows_the_picture_too(void **state) {
    (void)state;
    pid_t server = start_server("1280x800x16");
    if (!server)
        skip();
    struct window_opts opts = {.title = "test", .width = 800, .height = 600, .software = true};
    use_window_on_x11(&opts, 0); // drawn in 32 bits, read before the cut to 16
    stop_server(server);
}

static void the_display_this_runs_on_works(void **state) {
    (void)state;
    if (!saved[0])
        skip();
    setenv("DISPLAY", saved[0], 1);
    if (__lsan_disable)
        __lsan_disable();
    struct window *window =
        open_window(&(struct window_opts){.title = "test", .width = 800, .height = 600});
    assert_true(difference_to_memory(window) <= 4);
    window_close(window);
    if (__lsan_enable)
        __lsan_enable();
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, save_environment, restore_environment)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(without_a_display_the_refusal_names_it_and_the_way_out),
        TEST(a_display_that_cannot_be_reached_is_named),
        TEST(a_driver_that_shows_nothing_is_used_only_when_asked_for),
        TEST(a_display_number_that_is_not_there_is_refused),
        TEST(the_windows_pixels_are_those_of_memory),
        TEST(a_frame_without_a_hud_leaves_none_behind),
        TEST(sizes_stay_between_the_minimum_and_the_display),
        TEST(text_input_and_screensaver_begin_as_promised),
        TEST(signals_are_left_to_the_program),
        TEST(the_mouse_is_where_the_pixels_are),
        TEST(there_is_no_next_display_on_a_single_one),
        TEST(a_gpu_draws_the_same_and_is_left_alone_on_request),
        TEST(windows_on_x11_show_the_pixels_of_memory),
        TEST(full_screen_from_the_start_fills_the_screen),
        TEST(a_screen_of_16_bits_shows_the_picture_too),
        TEST(the_display_this_runs_on_works),
    };
    return cmocka_run_group_tests(tests, open_text, close_text);
}
