// What SDL does not tell about a window on X11: that others cover all of it, that somebody
// destroyed it, that the connection was cut. Main thread only; one window at a time.
#ifndef RENDER_PIXEL_X11_H
#define RENDER_PIXEL_X11_H

#include <stdbool.h>

struct SDL_Window;

// Once SDL's video has started: no error of the X server ends the program or prints a line.
// What errors there are concern a window that has just gone.
void x11_hush(void);

// From now on SDL_QUIT also comes when another program destroys the window or cuts its
// connection. On another driver than X11 nothing happens.
void x11_watch(struct SDL_Window *window);

// Other windows cover all of it. A desktop that composes its windows never says so.
bool x11_is_covered(void);

// The window or the connection is no more: SDL must not close the window, for it would wait for
// an answer about it that may have come already or never comes. Asks the server.
bool x11_is_gone(void);

#endif
