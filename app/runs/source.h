// Where a run comes from: a saved file, a lesson's schedule, or a measurement made
// now. source_run gives record and describe one complete run, whatever its origin;
// the pieces below it (engine, prompt, request) are the same ones the window uses,
// so that both ask the engine the same question. Never shows a made-up time as a
// measured one: a measurement whose stages do not add up is refused.
#ifndef APP_RUNS_SOURCE_H
#define APP_RUNS_SOURCE_H

#include "app/options/options.h"
#include "app/runs/prompt.h"
#include "compute/engine/engine.h"
#include "compute/file/runfile.h"

enum {
    SOURCE_ANSWER_LIMIT = 256,   // answer tokens when none are asked for
    SOURCE_SHOW_REPEATS = 7,     // warm runs to choose the shown one from
    SOURCE_MEASURE_REPEATS = 20, // warm runs of `measure`
};

// An engine with the prompt the options ask for.
struct source {
    struct engine *engine;    // owned
    struct prompt prompt;     // owned
    int answer_limit;         // the most answer tokens, within the model's context
    enum backend_marks marks; // of its engine
};

// Loads the model and tokenises the prompt, with a KV cache long enough for both
// prompt and answer. False: no such device or model, or it does not fit; one line.
bool source_open(struct source *out, const struct options *options, char why[256]);
// The same with fewer marks than runs need, to measure what marks cost (observer.h).
bool source_open_with(struct source *out, const struct options *options, enum backend_marks marks,
                      char why[256]);
void source_close(struct source *source); // a zeroed one is fine

// Takes the prompt that `options` ask for, on the engine that is open; stop the engine
// first. False: the prompt is refused, or does not fit; the old one stays.
bool source_change_prompt(struct source *source, const struct options *options, char why[256]);

// What the options ask of the engine; points into `source`.
struct engine_request source_request(const struct source *source, const struct options *options,
                                     int default_repeats);

// Waits until the engine is done. False: failed, or asked to stop.
struct progress;
bool source_wait(struct engine *engine, struct progress *progress, char why[256]);

// Measures and waits, with progress on a terminal. False also when asked to stop,
// and when no measurement was valid: stages within 5 % of the wall clock.
// Owner: measure_clear.
bool source_measure(struct measure_result *out, const struct options *options, int default_repeats,
                    char why[256]);

// The same on a source that is open; keeps it open.
bool source_measure_on(struct measure_result *out, struct source *source,
                       const struct options *options, int default_repeats,
                       struct progress *progress, char why[256]);

// The lesson of --schedule under `counting` (COUNTING_DEFAULT: as lessons count).
// Owner: run_destroy.
bool source_lesson(struct run **out, const struct options *options, enum counting_choice counting,
                   char why[256]);

// The run of --run as it was saved, with what is kept beside it (NULL: not wanted). Owner: run_destroy.
bool source_replay(struct run **out, struct runfile_extras *extras, const struct options *options,
                   char why[256]);

// The run of --run, --clock lesson or a measurement, complete, under --counting,
// with an answer limit that equals its answer: a picture leaves no room for tokens
// that never come. Owner: run_destroy.
bool source_run(struct run **out, const struct options *options, char why[256]);
// The same with what a replayed file keeps beside its run; zeroed for any other run.
bool source_run_with(struct run **out, struct runfile_extras *extras, const struct options *options,
                     char why[256]);

#endif
