// The window's loop. It reads the wall clock once per turn, draws only what changed and
// sleeps until the next deadline.
#ifndef APP_WINDOW_PLAY_H
#define APP_WINDOW_PLAY_H

#include "compute/base/why.h"

#include "app/options/options.h"

// Opens the window and stays until the user leaves. Returns the exit code: 0, 1 on
// failure with `why`, 3 without a display, 130 when a signal asked to stop.
int play_command(const struct options *options, struct why *why);

#endif
