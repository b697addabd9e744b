// See x11.h.
#include "render/pixel/x11.h"

#include <SDL.h>
#include <SDL_syswm.h>

static struct {
    Display *display;
    Window window; // None = not on X11
    bool is_covered, is_cut;
} watched;

static void ask_to_quit(void) {
    SDL_Event event = {.type = SDL_QUIT};
    SDL_PushEvent(&event);
}

static int ignore_error(Display *display, XErrorEvent *error) {
    (void)display, (void)error;
    return 0;
}

static int ignore_cut(Display *display) {
    (void)display;
    return 0;
}

// Without this one Xlib ends the program.
static void on_cut(Display *display, void *unused) {
    (void)display, (void)unused;
    if (!watched.is_cut)
        ask_to_quit();
    watched.is_cut = true;
}

// SDL_SYSWMEVENT comes with every event of the server. Those looked at here are kept, so that
// they wake the loop.
static int see_event(void *unused, SDL_Event *event) {
    (void)unused;
    if (event->type != SDL_SYSWMEVENT || event->syswm.msg->subsystem != SDL_SYSWM_X11)
        return 1;
    const XEvent *x = &event->syswm.msg->msg.x11.event;
    if (x->xany.window != watched.window)
        return 0;
    if (x->type == DestroyNotify)
        ask_to_quit();
    else if (x->type == VisibilityNotify)
        watched.is_covered = x->xvisibility.state == VisibilityFullyObscured;
    return x->type == VisibilityNotify;
}

void x11_hush(void) {
    XSetErrorHandler(ignore_error);
    XSetIOErrorHandler(ignore_cut);
}

void x11_watch(SDL_Window *window) {
    SDL_SysWMinfo info;
    XWindowAttributes has;
    SDL_VERSION(&info.version);
    if (!SDL_GetWindowWMInfo(window, &info) || info.subsystem != SDL_SYSWM_X11)
        return;
    Display *display = info.info.x11.display;
    watched.display = display;
    watched.window = info.info.x11.window;
    watched.is_covered = watched.is_cut = false;
    XSetIOErrorExitHandler(display, on_cut, NULL);
    SDL_SetEventFilter(see_event, NULL);
    SDL_EventState(SDL_SYSWMEVENT, SDL_ENABLE);
    if (XGetWindowAttributes(display, watched.window, &has))
        XSelectInput(display, watched.window, has.your_event_mask | VisibilityChangeMask);
    else
        ask_to_quit(); // gone already
}

bool x11_is_covered(void) {
    return watched.is_covered;
}

bool x11_is_gone(void) {
    XWindowAttributes has;
    return watched.is_cut ||
           (watched.window && !XGetWindowAttributes(watched.display, watched.window, &has));
}
