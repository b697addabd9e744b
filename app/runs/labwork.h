// What Lab mode measures besides the run on screen: the sweep over lengths, the device's
// rates, and the same answer without a KV cache; and the run kept to compare with. One
// measurement at a time on the one engine, and only while nothing else is measured: the
// user's own request comes first and interrupts it. Thread: the window's.
#ifndef APP_RUNS_LABWORK_H
#define APP_RUNS_LABWORK_H

#include "compute/base/why.h"

#include "app/runs/source.h"
#include "app/state/at_hand.h"
#include "compute/analysis/sweep.h"
#include "compute/engine/engine.h"

enum {
    LABWORK_SWEEP = 1 << 0,
    LABWORK_ROOFLINE = 1 << 1,
    LABWORK_UNCACHED = 1 << 2,
};

struct labwork {
    struct sweep sweep;       // points so far
    bool is_sweep_whole;      // all of them
    struct roofline roofline; // is_measured: the device's rates, and what they mean for the run
                              // shown, see labwork_fit
    int longest;              // the longest prompt of the sweep
    struct run *uncached;     // owned; NULL = not measured for this run
    struct run *kept;         // owned; NULL = none
    char kept_name[96];
    // LABWORK_ bit of what the engine measures now, 0 = nothing. Whoever takes the engine for
    // something else sets it to 0.
    unsigned doing;
    unsigned given_up; // what failed; `trouble` says why
    int done, total;   // of it
    struct why trouble;
};

void labwork_clear(struct labwork *work); // frees; a zeroed one is fine

// A run to compare with: of a file, or a copy of the one on screen.
bool labwork_load_kept(struct labwork *work, const char *path, struct why *why);
bool labwork_keep(struct labwork *work, const struct run *run, struct why *why);

// Takes the sweep and the rates that a run file holds beside its run, if any.
void labwork_take(struct labwork *work, const struct runfile_extras *extras);

// The LABWORK_ bits that a page of Lab (0 = the first) needs.
unsigned labwork_wants(int page);

// Starts the first of `wants` that is missing; true: one was missing. The engine must be idle.
// `request` is that of the run shown: what is measured without a cache is the same answer.
bool labwork_start(struct labwork *work, struct source *source, const struct run_request *request,
                   unsigned wants);

// Takes what the engine has finished so far. True: something changed.
bool labwork_poll(struct labwork *work, struct source *source);

// Works out the floors of the run that is shown now from the device's rates. `shape` NULL (no
// model here): the floors stay those of the file's run.
void labwork_fit(struct labwork *work, const struct model_shape *shape, const struct run *run);

// What there is to show of a run (NULL = none yet) and its lesson, with all that was measured
// beside it. `has_engine`: this machine measures; else all of it came from files. Moment,
// lengths and the prompt being edited are left to the caller.
struct at_hand labwork_at_hand(const struct labwork *work, const struct run *run,
                               const struct lesson *lesson, bool has_engine);

// Drops what belongs to the run that was shown, because another one came.
void labwork_forget_run(struct labwork *work);
// The same for a model: only the run kept to compare with stays.
void labwork_forget_model(struct labwork *work);

#endif
