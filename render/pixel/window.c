// See window.h. A frame is drawn straight into the window's surface, which SDL puts on
// the screen whole: on X11 from memory that it shares with the server, on Wayland as one
// texture.
#include "render/pixel/window.h"

#include "compute/base/num.h"
#include "compute/base/why.h"
#include "render/pixel/draw.h"
#include "render/pixel/x11.h"

#include <SDL.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { DEFAULT_WIDTH = 1280, DEFAULT_HEIGHT = 720, DEFAULT_HZ = 60 };

struct window {
    SDL_Window *window;
    struct draw *draw;
    SDL_Surface *shadow; // for a window whose pixels are of another format
    bool has_video;      // SDL_InitSubSystem was done
    SDL_Rect windowed;   // place and size to come back to from full screen
};

// ---- is there a display? ----

static bool is_set(const char *name) {
    const char *value = getenv(name);
    return value && *value;
}

// A Wayland session needs no variable but the folder of its socket.
static bool has_wayland_socket(void) {
    const char *folder = getenv("XDG_RUNTIME_DIR");
    char path[256];
    struct stat there;
    return folder && snprintf(path, sizeof path, "%s/wayland-0", folder) < (int)sizeof path &&
           stat(path, &there) == 0 && S_ISSOCK(there.st_mode);
}

static bool no_display(struct why *why, const char *reason) {
    return why_set(why,
                   "no display: %.120s; start it in a desktop session, or make a film without one: "
                   "tokendrip record OUT.mp4",
                   reason);
}

// Without a display SDL falls back to drivers that show nothing, or takes over a
// server's console: a window nobody sees. `drivers` is a name or a list of names.
static bool is_blind(const char *drivers) {
    static const char *const blind[] = {"dummy", "offscreen", "evdev"};
    for (size_t i = 0; i < sizeof blind / sizeof *blind; i++)
        if (strstr(drivers, blind[i]))
            return true;
    return false;
}

static void set_hints(void) {
    SDL_SetHint(SDL_HINT_NO_SIGNAL_HANDLERS, "1"); // app/signals.c has its own
    SDL_SetHint(SDL_HINT_APP_NAME, "tokendrip");
    SDL_SetHint(SDL_HINT_IME_SUPPORT_EXTENDED_TEXT, "1");          // whole sentences are composed
    SDL_SetHint(SDL_HINT_VIDEO_X11_NET_WM_BYPASS_COMPOSITOR, "0"); // no flicker at start
    SDL_SetHint(SDL_HINT_VIDEO_MINIMIZE_ON_FOCUS_LOSS, "0");       // stay on the projector
    SDL_SetHint(SDL_HINT_VIDEO_ALLOW_SCREENSAVER, "1");            // until asked to keep awake
}

static bool start_video(struct window *window, struct why *why) {
    SDL_version version;
    SDL_GetVersion(&version);
    if (SDL_VERSIONNUM(version.major, version.minor, version.patch) < SDL_VERSIONNUM(2, 26, 0))
        return why_set(why, "SDL %d.%d.%d is too old, 2.26 or newer is needed", version.major,
                       version.minor, version.patch);
    const char *asked = SDL_GetHint(SDL_HINT_VIDEODRIVER);
    bool is_asked = asked && *asked, is_blind_asked = is_asked && is_blind(asked);
    bool has_x11 = is_set("DISPLAY");
    bool has_wayland = is_set("WAYLAND_DISPLAY") || has_wayland_socket();
    if (!is_asked && !has_x11 && !has_wayland)
        return no_display(why, "neither DISPLAY nor WAYLAND_DISPLAY is set");
    set_hints();
    // Of the rest of SDL's list nothing would show a window on the user's desktop, and
    // trying Wayland in vain prints a line of its own.
    if (!is_asked)
        SDL_SetHint(SDL_HINT_VIDEODRIVER, !has_wayland ? "x11"
                                          : !has_x11   ? "wayland"
                                                       : "x11,wayland");
    window->has_video = SDL_InitSubSystem(SDL_INIT_VIDEO) == 0;
    if (!is_asked)
        SDL_ResetHint(SDL_HINT_VIDEODRIVER);
    if (!window->has_video) {
        char reason[96];
        snprintf(reason, sizeof reason, "%.50s can't be reached",
                 has_x11 ? getenv("DISPLAY") : "the Wayland session");
        return no_display(why, is_asked ? SDL_GetError() : reason);
    }
    if (is_blind(SDL_GetCurrentVideoDriver()) && !is_blind_asked)
        return no_display(why, "SDL found only a driver that shows nothing");
    x11_hush();
    SDL_StopTextInput(); // on by default
    return true;
}

// ---- opening ----

// A side of the window on a screen with so much room. A screen without room for the
// least is none to go by.
static int fitting(int side_px, int least_px, int room_px) {
    return max_int(least_px, room_px > least_px ? min_int(side_px, room_px) : side_px);
}

// Centred on the display with this index.
static int centered(int index) {
    return (int)(SDL_WINDOWPOS_CENTERED_MASK | (unsigned)index);
}

static bool create_window(struct window *window, const struct window_opts *opts, struct why *why) {
    int displays = SDL_GetNumVideoDisplays();
    if (opts->display < 0 || opts->display > displays)
        return why_set(why, "there is no display %d; displays are numbered 1 to %d", opts->display,
                       displays);
    int index = opts->display > 0 ? opts->display - 1 : 0;
    int place = opts->display > 0 ? centered(index) : (int)SDL_WINDOWPOS_UNDEFINED;
    int width = opts->width > 0 ? opts->width : DEFAULT_WIDTH;
    int height = opts->height > 0 ? opts->height : DEFAULT_HEIGHT;
    SDL_Rect usable;
    if (SDL_GetDisplayUsableBounds(index, &usable) == 0) {
        width = fitting(width, WINDOW_MIN_WIDTH_PX, usable.w);
        height = fitting(height, WINDOW_MIN_HEIGHT_PX, usable.h);
    }
    window->window = SDL_CreateWindow(opts->title ? opts->title : "tokendrip", place, place, width,
                                      height, SDL_WINDOW_RESIZABLE | SDL_WINDOW_ALLOW_HIGHDPI);
    if (!window->window)
        return why_set(why, "can't open a window: %.180s", SDL_GetError());
    SDL_SetWindowMinimumSize(window->window, WINDOW_MIN_WIDTH_PX, WINDOW_MIN_HEIGHT_PX);
    return true;
}

// The hint keeps SDL from pushing a window's pixels through OpenGL, which takes at least
// three times as long on X11 where the processor does OpenGL; on Wayland there is no
// other way, so it must not be set.
static bool check_surface(struct window *window, struct why *why) {
    bool is_x11 = strcmp(SDL_GetCurrentVideoDriver(), "x11") == 0;
    if (is_x11)
        SDL_SetHint(SDL_HINT_FRAMEBUFFER_ACCELERATION, "0");
    if (SDL_GetWindowSurface(window->window))
        return true;
    SDL_SetHint(SDL_HINT_FRAMEBUFFER_ACCELERATION, NULL);
    if (SDL_GetWindowSurface(window->window))
        return true;
    return why_set(why, "can't draw in the window: %.200s", SDL_GetError());
}

bool window_has_display(struct why *why) {
    struct window probe = {0};
    bool has_display = start_video(&probe, why);
    if (probe.has_video)
        SDL_QuitSubSystem(SDL_INIT_VIDEO);
    return has_display;
}

bool window_open(struct window **out, const struct window_opts *opts, struct text *text,
                 struct why *why) {
    struct window *window = *out = calloc(1, sizeof *window);
    if (!window)
        return why_set(why, "out of memory for the window");
    bool is_there = start_video(window, why) && create_window(window, opts, why);
    if (is_there)
        x11_watch(window->window);
    if (is_there && check_surface(window, why) && draw_create(&window->draw, text, why)) {
        if (opts->fullscreen)
            window_set_fullscreen(window, true);
        return true;
    }
    window_close(window);
    *out = NULL;
    return false;
}

// Once a window was open, SDL's video stays on until the process ends. SDL wakes itself by
// messages over a second connection to the X server. If the server handles one after the
// window is gone, it reports an error on that connection; closing the connection then reads
// the error, and Xlib ends the program with exit code 1.
void window_close(struct window *window) {
    if (!window)
        return;
    draw_destroy(window->draw);
    SDL_FreeSurface(window->shadow);
    if (window->window && !x11_is_gone())
        SDL_DestroyWindow(window->window);
    if (!window->window && window->has_video)
        SDL_QuitSubSystem(SDL_INIT_VIDEO);
    free(window);
}

// ---- frames ----

void window_size(const struct window *window, int *width, int *height) {
    SDL_GetWindowSize(window->window, width, height);
}

void window_size_px(const struct window *window, int *width_px, int *height_px) {
    *width_px = WINDOW_MIN_WIDTH_PX;
    *height_px = WINDOW_MIN_HEIGHT_PX;
    SDL_GetWindowSizeInPixels(window->window, width_px, height_px);
}

static bool has_our_format(const SDL_Surface *surface) {
    const SDL_PixelFormat *format = surface->format;
    return format->BytesPerPixel == 4 && format->Rmask == 0xFF0000 && format->Gmask == 0xFF00 &&
           format->Bmask == 0xFF && surface->pitch % 4 == 0;
}

// The surface to draw on: the window's own, or a shadow of it in our format.
static SDL_Surface *surface_to_draw(struct window *window, SDL_Surface *own) {
    if (has_our_format(own))
        return own;
    if (window->shadow && (window->shadow->w != own->w || window->shadow->h != own->h)) {
        SDL_FreeSurface(window->shadow);
        window->shadow = NULL;
    }
    if (!window->shadow)
        window->shadow =
            SDL_CreateRGBSurfaceWithFormat(0, own->w, own->h, 32, SDL_PIXELFORMAT_XRGB8888);
    return window->shadow;
}

void window_show(struct window *window, const struct cmdlist *scene, const struct cmdlist *hud) {
    SDL_Surface *own = SDL_GetWindowSurface(window->window); // anew after a resize
    SDL_Surface *surface = own ? surface_to_draw(window, own) : NULL;
    if (!surface)
        return; // out of memory; the last frame stays
    const struct pixels pixels = {surface->pixels, surface->w, surface->h, surface->pitch / 4};
    if (scene->count == 0)
        pixels_fill(&pixels, (struct rect){0, 0, surface->w, surface->h}, 0x000000FF);
    draw_list(window->draw, &pixels, scene);
    if (hud)
        draw_list(window->draw, &pixels, hud);
    if (surface != own)
        SDL_BlitSurface(surface, NULL, own, NULL);
    SDL_UpdateWindowSurface(window->window);
}

bool window_is_hidden(const struct window *window) {
    return x11_is_covered() ||
           (SDL_GetWindowFlags(window->window) & (SDL_WINDOW_HIDDEN | SDL_WINDOW_MINIMIZED)) != 0;
}

int window_refresh_hz(const struct window *window) {
    SDL_DisplayMode mode = {0};
    int display = SDL_GetWindowDisplayIndex(window->window);
    if (display < 0 || SDL_GetCurrentDisplayMode(display, &mode) != 0 || mode.refresh_rate <= 0)
        return DEFAULT_HZ;
    return mode.refresh_rate;
}

// ---- the window on its desktop ----

void window_set_title(struct window *window, const char *title) {
    SDL_SetWindowTitle(window->window, title);
}

bool window_is_fullscreen(const struct window *window) {
    return (SDL_GetWindowFlags(window->window) & SDL_WINDOW_FULLSCREEN) != 0;
}

void window_set_fullscreen(struct window *window, bool fullscreen) {
    if (fullscreen == window_is_fullscreen(window))
        return;
    SDL_Rect *back = &window->windowed;
    if (fullscreen) {
        SDL_GetWindowPosition(window->window, &back->x, &back->y);
        SDL_GetWindowSize(window->window, &back->w, &back->h);
        SDL_SetWindowFullscreen(window->window, SDL_WINDOW_FULLSCREEN_DESKTOP);
        return;
    }
    // Without a window manager the window would keep the screen's size.
    bool was_maximized = (SDL_GetWindowFlags(window->window) & SDL_WINDOW_MAXIMIZED) != 0;
    SDL_SetWindowFullscreen(window->window, 0);
    if (was_maximized || back->w <= 0)
        return;
    SDL_SetWindowSize(window->window, back->w, back->h);
    SDL_SetWindowPosition(window->window, back->x, back->y);
}

// Displays come and go: they are counted at every use, and an index is never kept.
bool window_next_display(struct window *window) {
    int count = SDL_GetNumVideoDisplays(), now = SDL_GetWindowDisplayIndex(window->window);
    if (count < 2)
        return false;
    int next = now < 0 ? 0 : (now + 1) % count;
    bool fullscreen = window_is_fullscreen(window);
    // A full-screen window first moves as a window: it then fills the right screen.
    if (fullscreen)
        window_set_fullscreen(window, false);
    SDL_Rect usable;
    int width, height;
    SDL_GetWindowSize(window->window, &width, &height);
    if (SDL_GetDisplayUsableBounds(next, &usable) == 0 && (width > usable.w || height > usable.h))
        SDL_SetWindowSize(window->window, fitting(width, WINDOW_MIN_WIDTH_PX, usable.w),
                          fitting(height, WINDOW_MIN_HEIGHT_PX, usable.h));
    SDL_SetWindowPosition(window->window, centered(next), centered(next));
    if (fullscreen)
        window_set_fullscreen(window, true);
    return true;
}

void window_mouse_px(const struct window *window, int *x, int *y) {
    int width, height, width_px, height_px;
    SDL_GetWindowSize(window->window, &width, &height);
    window_size_px(window, &width_px, &height_px);
    if (width > 0 && height > 0) {
        *x = (int)((int64_t)*x * width_px / width);
        *y = (int)((int64_t)*y * height_px / height);
    }
}

void window_show_pointer(struct window *window, bool shown) {
    (void)window; // the pointer is the program's, wherever it is
    SDL_ShowCursor(shown ? SDL_ENABLE : SDL_DISABLE);
}

void window_keep_awake(struct window *window, bool awake) {
    (void)window;
    if (awake)
        SDL_DisableScreenSaver();
    else
        SDL_EnableScreenSaver();
}

void window_set_text_input(struct window *window, bool on) {
    (void)window;
    if (on)
        SDL_StartTextInput();
    else
        SDL_StopTextInput();
}
