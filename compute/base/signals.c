// See signals.h.
#include "compute/base/signals.h"

#include "compute/base/partfile.h"
#include "compute/base/why.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const int stop_signals[] = {SIGINT, SIGTERM, SIGHUP};

// Signals belong to the process, so this is the one place with file-scope state.
static struct {
    sigset_t set;         // immutable once the thread runs
    atomic_bool is_asked; // written by the signal thread
    pthread_mutex_t lock; // guards the two below
    void (*wake)(void *context);
    void *context;
} state = {.lock = PTHREAD_MUTEX_INITIALIZER};

// At once: nobody waits for what the process was doing.
static void end_now(int number) {
    static char kept[PARTFILE_PATH_BYTES];
    partfile_abandon(kept);
    if (kept[0])
        dprintf(STDERR_FILENO, "%stokendrip: stopped at once; what there is of it is in '%s'\n",
                isatty(STDERR_FILENO) ? "\n" : "", kept);
    _exit(128 + number);
}

static void *wait_for_signals(void *unused) {
    (void)unused;
    for (;;) {
        int number = 0;
        if (sigwait(&state.set, &number) != 0)
            continue;
        if (atomic_load(&state.is_asked))
            end_now(number);
        atomic_store(&state.is_asked, true);
        pthread_mutex_lock(&state.lock);
        if (state.wake)
            state.wake(state.context);
        pthread_mutex_unlock(&state.lock);
    }
    return NULL;
}

bool signals_start(struct why *why) {
    pthread_t thread;
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN); // a file size limit is a failed write too
    sigemptyset(&state.set);
    for (size_t i = 0; i < sizeof stop_signals / sizeof stop_signals[0]; i++) {
        struct sigaction now;
        if (sigaction(stop_signals[i], NULL, &now) == 0 && now.sa_handler != SIG_IGN)
            sigaddset(&state.set, stop_signals[i]);
    }
    int error = pthread_sigmask(SIG_BLOCK, &state.set, NULL);
    if (error == 0)
        error = pthread_create(&thread, NULL, wait_for_signals, NULL);
    if (error != 0)
        return why_set(why, "cannot start the signal thread: %s. Free some memory or threads.",
                       strerror(error));
    pthread_detach(thread);
    return true;
}

bool signals_stop_asked(void) {
    return atomic_load(&state.is_asked);
}

void signals_on_stop(void (*wake)(void *context), void *context) {
    pthread_mutex_lock(&state.lock);
    state.wake = wake;
    state.context = context;
    pthread_mutex_unlock(&state.lock);
}
