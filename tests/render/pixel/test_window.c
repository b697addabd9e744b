// The window: refused without a display, full screen and back, and what it shows is
// what a film's surface holds: on SDL's dummy driver, on the screen of a virtual X
// server started here when there is one, and on the display this runs on.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "compute/base/why.h"
#include "render/pixel/surface.h"
#include "render/pixel/window.h"
#include "tests/render/render_fixture.h"

#include <SDL.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static struct cmdlist scene, hud;

// ---- environments ----

static const char *const NAMES[] = {"DISPLAY", "WAYLAND_DISPLAY", "XDG_RUNTIME_DIR",
                                    "SDL_VIDEODRIVER", "SDL_FRAMEBUFFER_ACCELERATION"};
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

// An X server of our own, DISPLAY set to its number. It keeps its screen as a file,
// which is what a user would see.
static pid_t server; // 0: none
static char screen_path[64];

static void stop_server(void) {
    if (server <= 0)
        return;
    kill(server, SIGTERM);
    waitpid(server, NULL, 0);
    server = 0;
    unlink(screen_path);
    *strrchr(screen_path, '/') = '\0';
    rmdir(screen_path);
}

// Skips the test where there is no Xvfb.
static void start_server(const char *screen) {
    int ends[2];
    char folder[] = "/tmp/test_window.XXXXXX";
    assert_non_null(mkdtemp(folder));
    snprintf(screen_path, sizeof screen_path, "%s/Xvfb_screen0", folder);
    assert_int_equal(pipe(ends), 0);
    server = fork();
    if (server == 0) {
        char fd[16];
        snprintf(fd, sizeof fd, "%d", ends[1]);
        close(ends[0]);
        if (freopen("/dev/null", "w", stderr))
            execlp("Xvfb", "Xvfb", "-displayfd", fd, "-screen", "0", screen, "-nolisten", "tcp",
                   "-noreset", "-fbdir", folder, (char *)NULL);
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
    if (is_ready) {
        setenv("DISPLAY", display, 1);
        return;
    }
    stop_server();
    print_message("Xvfb is not installed\n");
    skip();
}

// Also after a test that failed in the middle.
static int restore_environment(void **state) {
    (void)state;
    SDL_Quit();
    stop_server();
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
    struct why why = {0};
    if (!window_open(&window, opts, text, &why))
        fail_msg("%s", why.text);
    return window;
}

static void assert_refused(const struct window_opts *opts, const char *word) {
    struct window *window = (void *)1;
    struct why why = {0};
    assert_false(window_open(&window, opts, text, &why));
    assert_null(window);
    if (!strstr(why.text, word) || strchr(why.text, '\n'))
        fail_msg("'%s' is not in '%s'", word, why.text);
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

static SDL_Window *sdl_window(void) {
    SDL_Window *found = NULL;
    for (Uint32 id = 1; id < 1000 && !found; id++)
        found = SDL_GetWindowFromID(id); // the only one there is
    assert_non_null(found);
    return found;
}

// Shows scene and HUD in the window's size, and the same in a film's surface.
static struct surface *show_both(struct window *window) {
    int w, h;
    struct why why;
    SDL_Event event;
    while (SDL_PollEvent(&event))
        continue; // SDL learns of sizes here
    window_size_px(window, &w, &h);
    make_scene(w, h);
    window_show(window, &scene, &hud);
    struct surface *film;
    assert_true(surface_create(&film, w, h, text, &why));
    surface_draw(film, &scene);
    surface_draw(film, &hud);
    return film;
}

// The greatest difference of a channel between the film and rows of pixels.
static int difference(const struct surface *film, const uint8_t *rows, int pitch_bytes, int w,
                      int h) {
    int greatest = 0, film_pitch_bytes;
    const uint8_t *want = surface_pixels(film, &film_pitch_bytes);
    for (int y = 0; y < h; y++)
        for (int x = 0; x < w * 4; x++) {
            int d = abs((int)rows[y * pitch_bytes + x] - (int)want[y * film_pitch_bytes + x]);
            greatest = x % 4 < 3 && d > greatest ? d : greatest;
        }
    return greatest;
}

// On a driver without a screen: the surface that SDL was given to show.
static void assert_holds_the_film(struct window *window) {
    struct surface *film = show_both(window);
    const SDL_Surface *held = SDL_GetWindowSurface(sdl_window());
    assert_int_equal(difference(film, held->pixels, held->pitch, held->w, held->h), 0);
    surface_destroy(film);
}

// ---- refusals ----

static void without_a_display_the_refusal_names_it_and_the_way_out(void **state) {
    (void)state;
    const struct window_opts opts = {.title = "test"};
    struct why why = {0};
    assert_refused(&opts, "DISPLAY");
    assert_refused(&opts, "tokendrip record");
    assert_false(window_has_display(&why));
    assert_non_null(strstr(why.text, "DISPLAY"));
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
    SDL_QuitSubSystem(SDL_INIT_VIDEO); // stays on after a window that was open
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

static void what_the_window_shows_is_what_a_film_holds(void **state) {
    (void)state;
    setenv("SDL_VIDEODRIVER", "dummy", 1);
    struct window *window = open_window(&(struct window_opts){.title = "test"});
    assert_int_equal(window_refresh_hz(window), 60); // the driver says 0
    assert_holds_the_film(window);
    assert_holds_the_film(window);
    window_close(window);
}

static void an_empty_frame_without_a_hud_is_black(void **state) {
    (void)state;
    setenv("SDL_VIDEODRIVER", "dummy", 1);
    struct window *window = open_window(&(struct window_opts){.title = "test"});
    assert_holds_the_film(window);
    static struct cmdlist nothing;
    cmdlist_clear(&nothing);
    window_show(window, &nothing, NULL);
    const SDL_Surface *held = SDL_GetWindowSurface(sdl_window());
    for (int y = 0; y < held->h; y++)
        for (int x = 0; x < held->w; x++) {
            const uint8_t *pixel = (const uint8_t *)held->pixels + y * held->pitch + x * 4;
            assert_memory_equal(pixel, "\0\0\0", 3);
        }
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
    assert_true(SDL_IsScreenSaverEnabled());
    window_keep_awake(window, true);
    assert_false(SDL_IsScreenSaverEnabled());
    window_keep_awake(window, false);
    assert_true(SDL_IsScreenSaverEnabled());
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

// ---- on X11 ----

// The server's screen: an XWD file, its header in 32-bit words from the highest byte on.
struct screen {
    uint8_t bytes[64 + 4096 + 1280 * 800 * 4];
    size_t used;
    int width_px, pitch_bytes, bits;
    size_t first; // byte of the first pixel
};

static int header_word(const struct screen *screen, int index) {
    const uint8_t *at = screen->bytes + index * 4;
    return (int)((unsigned)at[0] << 24 | (unsigned)at[1] << 16 | (unsigned)at[2] << 8 | at[3]);
}

static void read_screen(struct screen *screen) {
    FILE *file = fopen(screen_path, "rb");
    assert_non_null(file);
    screen->used = fread(screen->bytes, 1, sizeof screen->bytes, file);
    fclose(file);
    enum { WIDTH = 4, BITS = 11, PITCH = 12, COLORS = 19, COLOR_BYTES = 12 };
    screen->width_px = header_word(screen, WIDTH);
    screen->bits = header_word(screen, BITS);
    screen->pitch_bytes = header_word(screen, PITCH);
    screen->first = (size_t)(header_word(screen, 0) + header_word(screen, COLORS) * COLOR_BYTES);
}

// The window's part of the screen as B G R x; colours of 16 bits with their low bits 0.
static void read_window(uint8_t *out, const struct screen *screen, int x0, int y0, int w, int h) {
    size_t pixel_bytes = (size_t)screen->bits / 8;
    for (int y = 0; y < h; y++)
        for (int x = 0; x < w; x++, out += 4) {
            size_t at = screen->first + (size_t)(y0 + y) * (size_t)screen->pitch_bytes +
                        (size_t)(x0 + x) * pixel_bytes;
            assert_true(at + pixel_bytes <= screen->used);
            const uint8_t *pixel = screen->bytes + at;
            unsigned word = pixel[0] | (unsigned)pixel[1] << 8;
            out[0] = pixel_bytes == 2 ? (uint8_t)(word << 3 & 0xF8) : pixel[0];
            out[1] = pixel_bytes == 2 ? (uint8_t)(word >> 3 & 0xFC) : pixel[1];
            out[2] = pixel_bytes == 2 ? (uint8_t)(word >> 8 & 0xF8) : pixel[2];
        }
}

// Waits for a slow server, but not for ever.
static void assert_screen_shows_the_film(struct window *window, int tolerance) {
    static struct screen screen;
    static uint8_t seen[1280 * 800 * 4];
    int greatest = 256;
    for (int tries = 0; tries < 200 && greatest > tolerance; tries++) {
        struct surface *film = show_both(window);
        int x, y, w, h;
        SDL_GetWindowPosition(sdl_window(), &x, &y);
        window_size_px(window, &w, &h);
        read_screen(&screen);
        if (x >= 0 && y >= 0 && x + w <= 1280 && y + h <= 800) {
            read_window(seen, &screen, x, y, w, h);
            int now = difference(film, seen, w * 4, w, h);
            greatest = now < greatest ? now : greatest;
        }
        surface_destroy(film);
        SDL_Delay(tries < 20 ? 1 : 10);
    }
    assert_in_range(greatest, 0, tolerance);
}

static void use_window_on_x11(int tolerance) {
    struct window *window =
        open_window(&(struct window_opts){.title = "test", .width = 800, .height = 600});
    int w, h, full_w, full_h;
    window_show_pointer(window, false); // it is on the screen too
    window_size_px(window, &w, &h);
    assert_int_equal(w, 800);
    assert_int_equal(h, 600);
    assert_screen_shows_the_film(window, tolerance);
    window_set_title(window, "another title");
    window_set_fullscreen(window, true);
    window_set_fullscreen(window, true); // no harm
    for (int i = 0; i < 5; i++)          // on the screen only a window manager makes it larger
        surface_destroy(show_both(window));
    assert_true(window_is_fullscreen(window));
    window_size_px(window, &full_w, &full_h);
    assert_int_equal(full_w, 1280);
    assert_int_equal(full_h, 800);
    window_set_fullscreen(window, false);
    assert_screen_shows_the_film(window, tolerance);
    assert_false(window_is_fullscreen(window));
    window_size_px(window, &w, &h); // its old size, even without a window manager
    assert_int_equal(w, 800);
    assert_int_equal(h, 600);
    window_show_pointer(window, true);
    window_close(window);
}

static void the_screen_shows_what_a_film_holds(void **state) {
    (void)state;
    struct why why;
    start_server("1280x800x24");
    assert_true(window_has_display(&why));
    use_window_on_x11(0);
}

// As on Wayland, where SDL makes a texture of the frame.
static void it_does_so_too_when_sdl_shows_it_with_opengl(void **state) {
    (void)state;
    start_server("1280x800x24");
    setenv("SDL_FRAMEBUFFER_ACCELERATION", "1", 1);
    if (__lsan_disable)
        __lsan_disable();
    use_window_on_x11(0);
    if (__lsan_enable)
        __lsan_enable();
}

static void full_screen_from_the_start_fills_the_screen(void **state) {
    (void)state;
    start_server("1280x800x24");
    struct window *window =
        open_window(&(struct window_opts){.title = "test", .fullscreen = true, .display = 1});
    int w, h;
    assert_holds_the_film(window);
    assert_true(window_is_fullscreen(window));
    window_size_px(window, &w, &h);
    assert_int_equal(w, 1280);
    assert_int_equal(h, 800);
    window_close(window);
}

static void a_screen_of_16_bits_shows_the_picture_too(void **state) {
    (void)state;
    start_server("1280x800x16");
    use_window_on_x11(7); // the low bits are cut
}

static void the_display_this_runs_on_works(void **state) {
    (void)state;
    if (!saved[0])
        skip();
    setenv("DISPLAY", saved[0], 1);
    struct window *window =
        open_window(&(struct window_opts){.title = "test", .width = 800, .height = 600});
    assert_holds_the_film(window);
    window_close(window);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, save_environment, restore_environment)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(without_a_display_the_refusal_names_it_and_the_way_out),
        TEST(a_display_that_cannot_be_reached_is_named),
        TEST(a_driver_that_shows_nothing_is_used_only_when_asked_for),
        TEST(a_display_number_that_is_not_there_is_refused),
        TEST(what_the_window_shows_is_what_a_film_holds),
        TEST(an_empty_frame_without_a_hud_is_black),
        TEST(sizes_stay_between_the_minimum_and_the_display),
        TEST(text_input_and_screensaver_begin_as_promised),
        TEST(signals_are_left_to_the_program),
        TEST(the_mouse_is_where_the_pixels_are),
        TEST(there_is_no_next_display_on_a_single_one),
        TEST(the_screen_shows_what_a_film_holds),
        TEST(it_does_so_too_when_sdl_shows_it_with_opengl),
        TEST(full_screen_from_the_start_fills_the_screen),
        TEST(a_screen_of_16_bits_shows_the_picture_too),
        TEST(the_display_this_runs_on_works),
    };
    return cmocka_run_group_tests(tests, open_text, close_text);
}
