// Where a run comes from: a saved file, a lesson's schedule, or a measurement made now.
// source_run gives record and describe one complete run of any origin. The window uses the
// same parts (engine, prompt, request), so that all ask the engine the same question. A
// measurement whose stages do not add up to its wall-clock time is refused.
#ifndef APP_RUNS_SOURCE_H
#define APP_RUNS_SOURCE_H

#include "compute/base/why.h"

#include "app/runs/prompt.h"
#include "app/runs/request.h"
#include "compute/engine/engine.h"
#include "compute/file/runfile.h"

enum {
    SOURCE_ANSWER_LIMIT = 256,   // answer tokens when none are asked for
    SOURCE_SHOW_REPEATS = 7,     // warm runs to choose the shown one from
    SOURCE_MEASURE_REPEATS = 20, // warm runs of `measure`
};

struct progress;

struct source_opts {
    enum backend_marks marks;  // of its engine; runs need BACKEND_MARKS_ALL
    struct progress *progress; // says how far it is; NULL = silent
    // Of loading, as in engine_opts; without it `progress` tells.
    bool (*on_loading)(void *context, size_t done_bytes, size_t total_bytes);
    void *context;
};

// An engine with the prompt that the request asks for.
struct source {
    struct engine *engine; // owned
    struct prompt prompt;  // owned
    int answer_tokens;     // exactly so many; 0 = to the end token
    int answer_limit;      // the most answer tokens, within the model's context
    struct source_opts opts;
};

// Loads the model and tokenises the prompt, with a KV cache long enough for both prompt and
// answer. False: no such device or model, or it does not fit.
// Owner: source_close.
bool source_open(struct source *out, const struct run_request *request,
                 const struct source_opts *opts, struct why *why);
void source_close(struct source *source); // a zeroed one is fine

// Takes another prompt and answer length on the same engine; stop the engine first. False:
// the prompt is refused or does not fit; the old one stays.
bool source_change_prompt(struct source *source, const struct run_request *request,
                          struct why *why);

// The request for the engine; points into `source`.
struct engine_request source_request(const struct source *source, const struct run_request *request,
                                     int default_repeats);

// Waits until the engine is done, with progress under `name` (NULL: the stage's own). False:
// it failed, or the user asked to stop.
bool source_wait(struct source *source, const char *name, struct why *why);

// Measures and waits. False also if no measurement was valid: stages within 5 % of the wall
// clock. Owner: measure_clear.
bool source_measure(struct measure_result *out, struct source *source,
                    const struct engine_request *request, struct why *why);

// Starts a sweep over prompts of up to `longest` tokens.
bool source_start_sweep(struct source *source, int longest, int repeats, struct why *why);

// The lesson of the request's schedule under `counting` (COUNTING_DEFAULT: as lessons count).
// Owner: run_destroy.
bool source_lesson(struct run **out, const struct run_request *request,
                   enum counting_choice counting, struct why *why);

// A run as it was saved, with what its file keeps beside it (NULL: not wanted).
// Owner: run_destroy.
bool source_replay(struct run **out, struct runfile_extras *extras, const char *path,
                   struct why *why);

// The complete run that the request asks for, under its counting, with an answer limit that
// equals its answer: a picture leaves no room for tokens that never come. `extras` (NULL: not
// wanted) is zeroed unless the run comes from a file. Owner: run_destroy.
bool source_run(struct run **out, struct runfile_extras *extras, const struct run_request *request,
                struct progress *progress, struct why *why);

#endif
