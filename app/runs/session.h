// The runs that the window can show: the measured one (from the engine or a file) and the
// lesson's, each under either counting. The model opens on a thread of its own, so that the
// window never waits. Thread: the window's.
#ifndef APP_RUNS_SESSION_H
#define APP_RUNS_SESSION_H

#include "compute/base/why.h"

#include "app/runs/labwork.h"
#include "app/runs/request.h"
#include "compute/run/run.h"

struct session;

// What to show for a clock and a counting.
struct session_show {
    const struct run *run; // NULL: nothing yet, see `message`
    bool is_live;          // the cold run of a slow model while it grows
    bool is_measuring;     // a measurement is under way
    const char *message;   // why there is no run: opening, or what failed; or NULL
    int loaded_permille;   // of the model that is being opened; -1 = none is
};

// Reads a run file or schedule at once (errors here are the user's: false with
// `why`); the model opens in the background when the measured clock is first asked
// for. `wake` is called from other threads whenever session_poll has news.
bool session_open(struct session **out, const struct run_request *request,
                  void (*wake)(void *context), void *wake_context, struct why *why);
void session_close(struct session *session); // NULL is fine

// Call once per turn of the loop: takes what the engine finished. True: session_show may have
// changed. A run that session_show gave stays valid for one more call, not for two.
// `wants_live`: show the cold run of a slow model while it grows; false while paused or while
// restoring a place.
bool session_poll(struct session *session, int64_t wall_ns, bool wants_live);

struct session_show session_show(struct session *session, enum clock_choice clock,
                                 enum run_counting counting);

// The counting that a clock starts with: RUN_ENGINE for measured runs, RUN_CHARGED for
// lessons, unless the request or the run file says otherwise.
enum run_counting session_default_counting(const struct session *session, enum clock_choice clock);

// Measures again, with other lengths (0 = as the request says). False with `why`.
bool session_measure(struct session *session, int prompt_tokens, int answer_tokens, int64_t wall_ns,
                     struct why *why);

// The same with the user's own prompt, which session_measure repeats from then on.
bool session_measure_text(struct session *session, const char *text, int answer_tokens,
                          int64_t wall_ns, struct why *why);

// Opens another model file (NULL: the bundled one) in the background, in place of the one there
// is; the measured run
// stays until that model's first run is under way. A model that is just being opened is given
// up for it. If the file does not open, session_refusal says why and the old model is back.
bool session_open_model(struct session *session, const char *path, struct why *why);

// For a replayed file: replaces the measured run by one of these lengths that is computed
// from the file's sweep and marked as modelled. False with `why`: the file has no sweep.
bool session_model(struct session *session, int prompt_tokens, int answer_tokens, struct why *why);

// The lesson's schedule with other lengths (0 = its own). False with `why`.
bool session_schedule(struct session *session, int prompt_tokens, int answer_tokens,
                      struct why *why);

// Sets what Lab mode needs (LABWORK_ bits, 0 = nothing): measured one after another while the
// engine is idle.
void session_want(struct session *session, unsigned wants);

// Takes a run to compare with: a saved one, or the measured one on screen.
bool session_compare(struct session *session, const char *path, struct why *why);
bool session_keep(struct session *session, const struct run *run, struct why *why);

// Valid until the next session_poll.
const struct labwork *session_lab(const struct session *session);
// The measured run before this one; NULL = none.
const struct run *session_before(const struct session *session);
const struct run_request *session_request(const struct session *session);
const struct tokenizer *session_tokenizer(const struct session *session); // NULL = no model

// Ends showing a live run: the finished measurement takes its place.
void session_end_live(struct session *session);

bool session_can_measure(const struct session *session);
bool session_can_schedule(const struct session *session); // by a rule; false for a saved lesson
bool session_can_model(const struct session *session);
bool session_has_lesson(const struct session *session);
bool session_has_measured(const struct session *session);   // already
const char *session_failure(const struct session *session); // why no run will come; NULL = none
// Why the model chosen last was not opened, and its path (NULL: the bundled one); NULL = it was.
const char *session_refusal(const struct session *session);
const char *session_refused(const struct session *session);
bool session_is_busy(const struct session *session); // a pass is being computed
int session_longest(const struct session *session);  // tokens in the model's context

#endif
