// The runs at hand: the measured one (from the engine or a file), the lesson's, and
// both under either counting. Opens the model on a thread of its own so that the
// window never waits; everything else is called from the window's thread.
#ifndef APP_RUNS_SESSION_H
#define APP_RUNS_SESSION_H

#include "app/runs/labwork.h"
#include "app/runs/request.h"
#include "compute/run/run.h"

struct session;

// What there is to show for a clock and a counting.
struct session_show {
    const struct run *run; // NULL: nothing yet, see `message`
    bool is_live;          // the cold run of a slow model while it grows
    bool is_measuring;     // a measurement is under way
    const char *message;   // why there is no run: opening, or what failed; or NULL
};

// Reads a run file or schedule at once (errors here are the user's: false with
// `why`); the model opens in the background when the measured clock is first asked
// for. `wake` is called from other threads whenever session_poll has news.
bool session_open(struct session **out, const struct run_request *request,
                  void (*wake)(void *context), void *wake_context, char why[256]);
void session_close(struct session *session); // NULL is fine

// Once a turn: takes what the worker finished. True: what session_show gives may
// have changed. Runs given out before the last but one call may be gone. The cold
// run of a slow model is shown while it grows only if `wants_live`: not to a user who
// paused, or who comes from another clock and waits for the same place.
bool session_poll(struct session *session, int64_t wall_ns, bool wants_live);

struct session_show session_show(struct session *session, enum clock_choice clock,
                                 enum run_counting counting);

// Counting a clock starts with: engines for measured runs, charged for lessons,
// unless the options or the run file say otherwise.
enum run_counting session_default_counting(const struct session *session, enum clock_choice clock);

// Measures again, with other lengths (0 = as the options say). False with `why`.
bool session_measure(struct session *session, int prompt_tokens, int answer_tokens, int64_t wall_ns,
                     char why[256]);

// The same with the user's own prompt, which is then the session's.
bool session_measure_text(struct session *session, const char *text, int answer_tokens,
                          int64_t wall_ns, char why[256]);

// Without a device: a run of these lengths from the sweep that the file holds, marked
// modelled, in the measured one's place. False with `why`: there is no sweep.
bool session_model(struct session *session, int prompt_tokens, int answer_tokens, char why[256]);

// The lesson's schedule with other lengths (0 = its own). False with `why`.
bool session_schedule(struct session *session, int prompt_tokens, int answer_tokens, char why[256]);

// What Lab mode needs (LABWORK_ bits), measured one after another whenever the engine
// has nothing else to do; 0 = nothing more.
void session_want(struct session *session, unsigned wants);

// Takes a run to compare with: a saved one, or the measured one on screen.
bool session_compare(struct session *session, const char *path, char why[256]);
bool session_keep(struct session *session, const struct run *run, char why[256]);

// Valid until the next session_poll.
const struct labwork *session_lab(const struct session *session);
const struct run *session_before(const struct session *session);          // the measured run before
                                                                          // this one, NULL = none
const struct tokenizer *session_tokenizer(const struct session *session); // NULL = no model

// Ends showing a live run: the finished measurement takes its place.
void session_end_live(struct session *session);

bool session_can_measure(const struct session *session);
bool session_can_schedule(const struct session *session); // the lesson is a rule, not a file's run
bool session_can_model(const struct session *session);
bool session_has_lesson(const struct session *session);
bool session_has_measured(const struct session *session);   // now, not some day
bool session_has_failed(const struct session *session);     // nothing measured will come
const char *session_failure(const struct session *session); // why; "" = it has not
bool session_is_busy(const struct session *session);        // a pass is being computed
int session_longest(const struct session *session);         // tokens in the model's context

#endif
