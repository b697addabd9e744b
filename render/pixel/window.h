// The program's window on a display: opening it, where and how large it is, and
// getting a frame of commands into it. The frame is drawn in memory by the code that
// draws films, so the window is the film. Reads no events (app/window/input.c does) and no
// clock. Main thread only; one window at a time.
#ifndef RENDER_PIXEL_WINDOW_H
#define RENDER_PIXEL_WINDOW_H

#include "compute/base/why.h"

#include "render/data/cmdlist.h"
#include "render/pixel/text.h"

enum { WINDOW_MIN_WIDTH_PX = 640, WINDOW_MIN_HEIGHT_PX = 480 };

struct window;

// Zero is a good value for everything but the title.
struct window_opts {
    const char *title;
    int width, height; // in the desktop's units; 0: 1280 x 720. Cut to the display
    int display;       // 1, 2 ...: on that display; 0: where the desktop puts it
    bool fullscreen;
};

// Opens the window; its first frame is black. `text` must outlive it.
// Errors: no display (none of X11, Wayland, or SDL_VIDEODRIVER says otherwise); no
// such display number; an SDL older than 2.26. An SDL driver that shows nothing
// (dummy, offscreen) is used only when SDL_VIDEODRIVER asks for it.
bool window_open(struct window **out, const struct window_opts *opts, struct text *text,
                 struct why *why);
void window_close(struct window *window); // NULL is fine

// True if there is a display to open a window on: what window_open tries first, to
// tell its failures apart. False with the reason.
bool window_has_display(struct why *why);

// ---- frames ----

// Size to lay out and draw for, which is not the desktop's on a HiDPI screen. Ask
// once a frame.
void window_size_px(const struct window *window, int *width_px, int *height_px);

// The size as window_opts takes it, in the display server's units.
void window_size(const struct window *window, int *width, int *height);

// Draws a frame and shows it: the scene, which begins with a fill of its ground (empty:
// black), then the HUD (NULL: none). May wait for the display server: never a clock.
void window_show(struct window *window, const struct cmdlist *scene, const struct cmdlist *hud);

// Minimised, hidden or covered by other windows: a frame would be seen by nobody and might not wait.
bool window_is_hidden(const struct window *window);

int window_refresh_hz(const struct window *window); // 60 when unknown

// ---- the window on its desktop ----

void window_set_title(struct window *window, const char *title);

// Full screen takes the whole display the window is on, without a mode switch; when
// it ends the window has its old place and size again.
void window_set_fullscreen(struct window *window, bool fullscreen);
bool window_is_fullscreen(const struct window *window);

// Moves the window, full screen or not, to the next display. False: there is no other.
bool window_next_display(struct window *window);

// From the desktop's units in mouse events to px.
void window_mouse_px(const struct window *window, int *x, int *y);

void window_show_pointer(struct window *window, bool shown);

// Keeps the screen awake while true; the desktop may not listen.
void window_keep_awake(struct window *window, bool awake);

// Typed characters arrive as SDL_TEXTINPUT while true. Off at first.
void window_set_text_input(struct window *window, bool on);

#endif
