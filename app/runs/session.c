// See session.h. A run is never changed, only replaced by a new one. The old one is kept
// until the poll after the next, so that the window can still find its place in it.
#include "app/runs/session.h"

#include "app/runs/source.h"
#include "compute/base/why.h"
#include "compute/base/words.h"
#include "compute/run/recount.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// A measurement that takes longer than this is shown while its first run grows.
#define LIVE_AFTER_NS INT64_C(1500000000)
#define MEASURE_BUDGET_NS INT64_C(900000000)
// A window that has just opened keeps display server and desktop busy for a while.
#define MEASURE_SETTLE_NS INT64_C(400000000)
// Answer columns shown while nobody knows how long the answer will be.
enum { MAX_RETIRED = 16, GUESSED_ANSWER = 8 };

enum opening { OPENING_NOT, OPENING_RUNS, OPENING_DONE, OPENING_FAILED };

struct session {
    // set once at open
    struct run_request request; // the user's own; its prompt changes with session_measure_text
    void (*wake)(void *context);
    void *wake_context;
    bool is_replay, is_saved_lesson;

    // written by the opening thread, read by others once `opening` says that it has ended
    pthread_t opener;
    bool has_opener;
    _Atomic int opening; // enum opening
    _Atomic int loaded_permille;
    _Atomic bool is_breaking_off; // the opening thread is to end
    struct source source;         // engine and prompt
    struct why opening_why;

    // used by the window's thread only
    bool has_choice;           // of a model, opened once the window has left the engine's runs
    char *wanted_model;        // its path, owned; NULL = the bundled one
    int leaving;               // polls until then
    char *model_path;          // owned: of the request, if the model was chosen in the window
    bool is_other_model;       // the model being opened is not that of the runs shown
    struct run_request former; // to return to if it does not open
    char *former_path;
    bool was_replay;
    struct why refusal;     // why the last chosen model was not opened
    char *refused_path;     // owned
    struct run *runs[2][2]; // [clock][counting], NULL = not made yet
    int seen_permille;      // at the last poll
    struct run *before;     // a copy of the measured run before, NULL = none
    char *own_prompt;       // the text of request.prompt if it was typed, owned
    struct labwork work;
    unsigned wants;      // LABWORK_ bits
    struct run *waiting; // the prompt alone, while nothing is measured
    struct run live;     // a prefix of the engine's cold run
    bool is_live, is_measuring;
    bool has_settled; // the first measurement has been asked for
    int64_t measure_start_ns;
    struct why failure;
    struct run *retired[2][MAX_RETIRED];
    int retired_count[2];
};

static bool engine_is_there(const struct session *session) {
    return atomic_load(&session->opening) == OPENING_DONE && !session->has_choice;
}

static void retire(struct session *session, struct run *run) {
    if (!run)
        return;
    if (session->retired_count[0] < MAX_RETIRED)
        session->retired[0][session->retired_count[0]++] = run;
    else
        run_destroy(run);
}

// Frees what was retired before the last poll.
static void free_retired(struct session *session) {
    for (int i = 0; i < session->retired_count[1]; i++)
        run_destroy(session->retired[1][i]);
    memcpy(session->retired[1], session->retired[0], sizeof session->retired[0]);
    session->retired_count[1] = session->retired_count[0];
    session->retired_count[0] = 0;
}

// Keeps a copy of the run that is about to be replaced, so that the panel can compare.
static void remember(struct session *session) {
    const struct run *old = session->runs[CLOCK_MEASURED][RUN_ENGINE];
    struct run *copy = NULL;
    struct why why;
    if (!old || !run_copy(&copy, old, &why))
        return;
    retire(session, session->before);
    session->before = copy;
}

// Puts `run` in place under its own counting. The runs it replaces retire, under both.
static void put_run(struct session *session, enum clock_choice clock, struct run *run) {
    for (int i = 0; i < 2; i++) {
        retire(session, session->runs[clock][i]);
        session->runs[clock][i] = NULL;
    }
    session->runs[clock][run->info.counting] = run;
}

// Puts `run` in place as the measured one.
static void put_measured(struct session *session, struct run *run) {
    remember(session);
    labwork_forget_run(&session->work);
    put_run(session, CLOCK_MEASURED, run);
    labwork_fit(&session->work,
                engine_is_there(session) ? engine_shape(session->source.engine) : NULL, run);
}

static bool on_loading(void *context, size_t done_bytes, size_t total_bytes) {
    struct session *session = context;
    atomic_store(&session->loaded_permille, (int)(done_bytes * 1000 / total_bytes));
    session->wake(session->wake_context);
    return !atomic_load(&session->is_breaking_off);
}

static void *open_source(void *context) {
    struct session *session = context;
    struct source_opts opts = {
        .marks = BACKEND_MARKS_ALL, .on_loading = on_loading, .context = session};
    bool ok = source_open(&session->source, &session->request, &opts, &session->opening_why);
    atomic_store(&session->opening, ok ? OPENING_DONE : OPENING_FAILED);
    session->wake(session->wake_context);
    return NULL;
}

static void start_opening(struct session *session) {
    if (session->is_replay || atomic_load(&session->opening) != OPENING_NOT)
        return;
    atomic_store(&session->is_breaking_off, false);
    atomic_store(&session->loaded_permille, 0);
    atomic_store(&session->opening, OPENING_RUNS);
    if (pthread_create(&session->opener, NULL, open_source, session) == 0) {
        session->has_opener = true;
        return;
    }
    why_set(&session->failure,
            "no thread to open the model on. Close other programs and try again");
    atomic_store(&session->opening, OPENING_FAILED);
}

// The user's own files first: what is wrong with them ends the start.
static bool load_files(struct session *session, struct why *why) {
    const struct run_request *request = &session->request;
    struct runfile_extras extras;
    struct run *run = NULL;
    if (request->run_path) {
        if (!source_replay(&run, &extras, request->run_path, why))
            return false;
        labwork_take(&session->work, &extras);
        run->info.answer_limit = run->answer_count;
        session->is_replay = true;
        session->runs[run->info.origin == RUN_LESSON][run->info.counting] = run;
    }
    session->is_saved_lesson = session_has_lesson(session);
    if (session->is_saved_lesson)
        return true;
    struct why lesson_why;
    if (source_lesson(&session->runs[CLOCK_LESSON][RUN_CHARGED], request, COUNTING_LESSON,
                      &lesson_why))
        return true;
    // Without its lessons the program still measures.
    return request->clock == CLOCK_MEASURED || why_set(why, "%s", lesson_why.text);
}

bool session_open(struct session **out, const struct run_request *request,
                  void (*wake)(void *context), void *wake_context, struct why *why) {
    *out = NULL;
    struct session *session = calloc(1, sizeof *session);
    if (!session)
        return why_set(why, "out of memory. Close other programs and try again.");
    session->request = *request;
    session->wake = wake;
    session->wake_context = wake_context;
    if (!load_files(session, why)) {
        session_close(session);
        return false;
    }
    *out = session;
    return true;
}

void session_close(struct session *session) {
    if (!session)
        return;
    atomic_store(&session->is_breaking_off, true);
    if (session->has_opener)
        pthread_join(session->opener, NULL);
    source_close(&session->source);
    free_retired(session);
    free_retired(session);
    for (int clock = 0; clock < 2; clock++)
        for (int counting = 0; counting < 2; counting++)
            run_destroy(session->runs[clock][counting]);
    run_destroy(session->waiting);
    run_destroy(session->before);
    labwork_clear(&session->work);
    free(session->own_prompt);
    free(session->wanted_model);
    free(session->model_path);
    free(session->former_path);
    free(session->refused_path);
    free(session);
}

// A run that holds the prompt and nothing else: shown while measuring.
static bool make_waiting(struct session *session, const struct prompt *prompt, int answers,
                         struct why *why) {
    struct run_info info = {.origin = RUN_MEASURED, .unit_ns = 1};
    const struct tokenizer *tokenizer = engine_tokenizer(session->source.engine);
    engine_fill_info(session->source.engine, &info);
    info.prompt_tokens = prompt->count;
    info.chat = prompt->chat;
    info.answer_limit = answers;
    struct run *run = NULL;
    if (!run_create(&run, &info, 1, why))
        return false;
    for (int i = 0; i < prompt->count; i++) {
        size_t bytes = 0;
        const char *text = tokenizer_text(tokenizer, prompt->ids[i], &bytes);
        enum run_token_kind kind = tokenizer_kind(tokenizer, prompt->ids[i]);
        if (!run_add_prompt_token(run, prompt->ids[i], text, bytes, kind, why)) {
            run_destroy(run);
            return false;
        }
    }
    retire(session, session->waiting);
    session->waiting = run;
    return true;
}

static bool start_measuring(struct session *session, int64_t wall_ns, struct why *why) {
    struct source *source = &session->source;
    struct engine_request wanted = source_request(source, &session->request, SOURCE_SHOW_REPEATS);
    wanted.budget_ns = MEASURE_BUDGET_NS;
    wanted.settle_ns = session->has_settled ? 0 : MEASURE_SETTLE_NS;
    session->has_settled = true;
    int answers = source->answer_tokens ? source->answer_tokens : GUESSED_ANSWER;
    engine_on_change(source->engine, session->wake, session->wake_context);
    bool ok = engine_start(source->engine, &wanted, why);
    if (ok && !session_has_measured(session))
        ok = make_waiting(session, &source->prompt, answers, why);
    session->is_measuring = ok;
    session->is_live = false;
    session->measure_start_ns = wall_ns;
    return ok;
}

static bool measure_as(struct session *session, const struct run_request *request, int64_t wall_ns,
                       struct why *why) {
    if (!engine_is_there(session))
        return why_set(why, "there is no model to measure here");
    // Only what can be measured stops what is being measured.
    if (!source_change_prompt(&session->source, request, why))
        return false;
    session->work.doing = 0; // the engine is needed for this
    engine_stop(session->source.engine);
    return start_measuring(session, wall_ns, why);
}

bool session_measure(struct session *session, int prompt_tokens, int answer_tokens, int64_t wall_ns,
                     struct why *why) {
    struct run_request request = session->request;
    if (prompt_tokens) {
        request.prompt = NULL;
        request.prompt_file = NULL;
        request.prompt_tokens = prompt_tokens;
    }
    request.answer_tokens = answer_tokens;
    return measure_as(session, &request, wall_ns, why);
}

bool session_measure_text(struct session *session, const char *text, int answer_tokens,
                          int64_t wall_ns, struct why *why) {
    struct run_request request = session->request;
    char *copy = strdup(text);
    if (!copy)
        return why_set(why, "out of memory. Close other programs and try again.");
    request.prompt = copy;
    request.prompt_file = NULL;
    request.prompt_tokens = 0;
    request.answer_tokens = answer_tokens;
    if (!measure_as(session, &request, wall_ns, why)) {
        free(copy);
        return false;
    }
    free(session->own_prompt);
    session->own_prompt = copy;
    session->request.prompt = copy; // "measure again" means this one from now on
    session->request.prompt_file = NULL;
    session->request.prompt_tokens = 0;
    return true;
}

bool session_model(struct session *session, int prompt_tokens, int answer_tokens, struct why *why) {
    const struct run *like = session->runs[CLOCK_MEASURED][RUN_ENGINE];
    struct run *run = NULL;
    if (!like || !session_can_model(session))
        return why_set(why, "this file holds no sweep to make other lengths from");
    int prompt = prompt_tokens ? prompt_tokens : like->info.prompt_tokens;
    int answer = answer_tokens ? answer_tokens : like->answer_count;
    if (!sweep_run(&run, &session->work.sweep, like, prompt, answer, why))
        return false;
    put_measured(session, run);
    return true;
}

bool session_schedule(struct session *session, int prompt_tokens, int answer_tokens,
                      struct why *why) {
    struct run_request request = session->request;
    struct run *run = NULL;
    if (session->is_saved_lesson)
        return why_set(why, "this lesson is a saved run: its lengths are what they are");
    request.prompt_tokens = prompt_tokens;
    request.answer_tokens = answer_tokens;
    if (!source_lesson(&run, &request, COUNTING_LESSON, why))
        return false;
    put_run(session, CLOCK_LESSON, run);
    return true;
}

void session_want(struct session *session, unsigned wants) {
    session->wants = wants;
}

bool session_compare(struct session *session, const char *path, struct why *why) {
    return labwork_load_kept(&session->work, path, why);
}

bool session_keep(struct session *session, const struct run *run, struct why *why) {
    return labwork_keep(&session->work, run, why);
}

const struct labwork *session_lab(const struct session *session) {
    return &session->work;
}

const struct run *session_before(const struct session *session) {
    return session->before;
}

const struct run_request *session_request(const struct session *session) {
    return &session->request;
}

const struct tokenizer *session_tokenizer(const struct session *session) {
    return engine_is_there(session) ? engine_tokenizer(session->source.engine) : NULL;
}

static void take_result(struct session *session) {
    struct measure_result result;
    if (!engine_take(session->source.engine, &result))
        return;
    if (session->is_live)
        retire(session, result.cold); // the live prefix shares its arrays
    else
        run_destroy(result.cold);
    result.cold = NULL;
    if (result.shown) {
        result.shown->info.answer_limit = result.shown->answer_count;
        put_measured(session, result.shown);
        result.shown = NULL;
    }
    measure_clear(&result);
    session->is_measuring = false;
    session->is_live = false;
}

void session_end_live(struct session *session) {
    struct engine_status status;
    if (!session->is_live)
        return;
    engine_poll(session->source.engine, &status);
    if (status.stage == ENGINE_DONE)
        take_result(session);
}

static bool poll_engine(struct session *session, int64_t wall_ns, bool wants_live) {
    struct engine_status status;
    engine_poll(session->source.engine, &status);
    if (status.stage == ENGINE_FAILED) {
        why_set(&session->failure, "%s", status.why.text);
        session->is_measuring = false;
        session->is_live = false;
        return true;
    }
    if (status.stage == ENGINE_DONE) {
        if (session->is_live)
            return false; // the window says when it has shown enough
        take_result(session);
        return true;
    }
    bool is_slow = wall_ns - session->measure_start_ns > LIVE_AFTER_NS;
    bool is_first = !session_has_measured(session);
    if (!session->is_live && is_slow && is_first && wants_live)
        session->is_live = engine_live(session->source.engine, &session->live);
    else if (session->is_live)
        engine_live(session->source.engine, &session->live);
    return session->is_live;
}

// Takes what Lab's job has done. When none runs any more the next one starts at once: nobody
// would wake the window for it later.
static bool poll_labwork(struct session *session) {
    struct labwork *work = &session->work;
    const struct run *run = session->runs[CLOCK_MEASURED][RUN_ENGINE];
    bool has_news = labwork_poll(work, &session->source);
    if (work->doing || !session_has_measured(session))
        return has_news;
    if (has_news && run)
        labwork_fit(work, engine_shape(session->source.engine), run);
    return labwork_start(work, &session->source, &session->request, session->wants) || has_news;
}

// --- Models ---

// Lets go of the engine: nothing that belongs to it is shown from the next session_show on.
static void leave_engine(struct session *session) {
    enum { POLLS_UNTIL_LEFT = 2 };
    if (engine_is_there(session))
        engine_stop(session->source.engine);
    session->work.doing = 0;
    session->is_live = session->is_measuring = false;
    session->leaving = POLLS_UNTIL_LEFT;
    atomic_store(&session->is_breaking_off, true);
}

bool session_open_model(struct session *session, const char *path, struct why *why) {
    char *copy = path ? strdup(path) : NULL;
    if (path && !copy)
        return why_set(why, "out of memory. Close other programs and try again.");
    leave_engine(session);
    free(session->wanted_model);
    session->wanted_model = copy;
    session->has_choice = true;
    session->refusal.text[0] = '\0';
    session->wake(session->wake_context);
    return true;
}

// Only one model at a time is in memory: the old one goes, and is opened again if the new one
// does not open.
static void open_wanted(struct session *session) {
    source_close(&session->source);
    session->source = (struct source){0};
    if (!session->is_other_model) {
        free(session->former_path);
        session->former = session->request;
        session->former_path = session->model_path;
        session->was_replay = session->is_replay;
    } else {
        free(session->model_path); // it never opened
    }
    session->is_other_model = true;
    session->is_replay = false;
    session->model_path = session->wanted_model;
    session->wanted_model = NULL;
    session->has_choice = false;
    session->request.model_path = session->model_path;
    session->request.run_path = NULL;
    session->request.shape = NULL;
    session->request.weights = WEIGHTS_DEFAULT;
    atomic_store(&session->opening, OPENING_NOT);
    start_opening(session);
}

static void return_to_former(struct session *session) {
    const struct run_request now = session->request;
    free(session->refused_path);
    session->refused_path = session->model_path;
    session->model_path = session->former_path;
    session->former_path = NULL;
    session->request = session->former;
    session->request.prompt = now.prompt; // may have been typed since
    session->request.prompt_file = now.prompt_file;
    session->request.prompt_tokens = now.prompt_tokens;
    session->is_replay = session->was_replay;
    session->is_other_model = false;
    atomic_store(&session->opening, OPENING_NOT);
    start_opening(session);
}

// What belongs to the model that was shown before goes; a run kept for comparison stays.
static void take_other_model(struct session *session) {
    for (int i = 0; i < 2; i++) {
        retire(session, session->runs[CLOCK_MEASURED][i]);
        session->runs[CLOCK_MEASURED][i] = NULL;
    }
    retire(session, session->before);
    session->before = NULL;
    session->is_other_model = false;
    session->failure.text[0] = '\0';
    labwork_forget_model(&session->work);
}

static void end_opening(struct session *session, int64_t wall_ns) {
    pthread_join(session->opener, NULL);
    session->has_opener = false;
    bool is_open = atomic_load(&session->opening) == OPENING_DONE;
    if (session->has_choice)
        return; // another one was chosen meanwhile
    if (!is_open && session->is_other_model) {
        why_set(&session->refusal, "%s", session->opening_why.text);
        return_to_former(session);
        return;
    }
    if (!is_open) {
        why_set(&session->failure, "%s", session->opening_why.text);
        return;
    }
    if (session->is_other_model)
        take_other_model(session);
    if (!session_has_measured(session))
        start_measuring(session, wall_ns, &session->failure);
}

// True: something changed. Wakes the window for the next poll while there is more to do.
static bool poll_models(struct session *session, int64_t wall_ns) {
    if (session->has_opener) {
        if (atomic_load(&session->opening) == OPENING_RUNS)
            return false;
        end_opening(session, wall_ns);
    } else if (!session->has_choice) {
        return false;
    }
    if (session->has_choice && --session->leaving <= 0)
        open_wanted(session);
    if (session->has_choice)
        session->wake(session->wake_context);
    return true;
}

bool session_poll(struct session *session, int64_t wall_ns, bool wants_live) {
    free_retired(session);
    if (poll_models(session, wall_ns))
        return true;
    int loaded_permille = atomic_load(&session->loaded_permille);
    bool has_news = session->has_opener && loaded_permille != session->seen_permille;
    session->seen_permille = loaded_permille;
    has_news |= session->is_measuring && poll_engine(session, wall_ns, wants_live);
    if (!session->is_measuring && session_can_measure(session) && poll_labwork(session))
        has_news = true;
    return has_news;
}

// The run for a clock and counting, made from its twin if need be.
static struct run *run_for(struct session *session, enum clock_choice clock,
                           enum run_counting counting) {
    struct run **place = &session->runs[clock][counting];
    struct run *twin = session->runs[clock][1 - (int)counting];
    struct why why;
    if (*place || !twin)
        return *place;
    return run_recount(place, twin, counting, &why) ? *place : twin;
}

struct session_show session_show(struct session *session, enum clock_choice clock,
                                 enum run_counting counting) {
    struct session_show show = {.loaded_permille = -1};
    if (clock == CLOCK_LESSON) {
        show.run = run_for(session, clock, counting);
        show.message = show.run ? NULL : word("session.no_schedule");
        return show;
    }
    start_opening(session);
    if (session->has_opener)
        show.loaded_permille = atomic_load(&session->loaded_permille);
    show.is_measuring = session->is_measuring;
    if (session->is_live) {
        show.run = &session->live;
        show.is_live = true;
        return show;
    }
    show.run = run_for(session, clock, counting);
    if (!show.run && session->is_measuring)
        show.run = session->waiting;
    if (!show.run)
        show.message = session->failure.text[0] ? session->failure.text : word("session.opening");
    return show;
}

enum run_counting session_default_counting(const struct session *session, enum clock_choice clock) {
    if (session->request.counting == COUNTING_ENGINE)
        return RUN_ENGINE;
    if (session->request.counting == COUNTING_LESSON)
        return RUN_CHARGED;
    if (session->runs[clock][RUN_CHARGED])
        return RUN_CHARGED;
    return clock == CLOCK_LESSON ? RUN_CHARGED : RUN_ENGINE;
}

bool session_can_measure(const struct session *session) {
    return engine_is_there(session) && !session->failure.text[0];
}

bool session_can_schedule(const struct session *session) {
    return session_has_lesson(session) && !session->is_saved_lesson;
}

bool session_can_model(const struct session *session) {
    return session->is_replay && session->work.sweep.prefill_count > 0 &&
           session->work.sweep.step_count > 0;
}

bool session_has_lesson(const struct session *session) {
    return session->runs[CLOCK_LESSON][RUN_CHARGED] || session->runs[CLOCK_LESSON][RUN_ENGINE];
}

bool session_has_measured(const struct session *session) {
    return session->runs[CLOCK_MEASURED][RUN_ENGINE] || session->runs[CLOCK_MEASURED][RUN_CHARGED];
}

const char *session_failure(const struct session *session) {
    return session->failure.text[0] ? session->failure.text : NULL;
}

const char *session_refusal(const struct session *session) {
    return session->refusal.text[0] ? session->refusal.text : NULL;
}

const char *session_refused(const struct session *session) {
    return session->refused_path;
}

bool session_is_busy(const struct session *session) {
    return engine_is_there(session) && (session->is_measuring || session->work.doing) &&
           engine_is_busy(session->source.engine);
}

int session_longest(const struct session *session) {
    return engine_is_there(session) ? engine_context(session->source.engine) : 0;
}
