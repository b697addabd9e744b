// See exhibit.h.
#include "app/runs/exhibit.h"

#include "app/lesson/load/load.h"
#include "compute/base/progress.h"
#include "compute/base/signals.h"
#include "compute/base/why.h"

#include <time.h>

enum { POLL_NS = 10000000 };

bool exhibit_lesson(struct lesson **out, const struct options *options, char why[256]) {
    if (options->lesson_path)
        return lesson_load(out, options->lesson_path, why);
    return lesson_load_named(out, options->language ? options->language : "en", why);
}

// Measures what is wanted, one after another.
static bool wait_for_work(struct labwork *work, struct source *source,
                          const struct options *options, unsigned wants, struct progress *progress,
                          char *why) {
    static const struct timespec pause = {.tv_nsec = POLL_NS};
    for (;;) {
        labwork_start(work, source, options, wants);
        if (!work->doing)
            return true; // what could not be measured says so in the picture
        if (work->total > 0)
            progress_say(progress, "Lab: %d of %d", work->done, work->total);
        if (signals_stop_asked()) {
            engine_stop(source->engine);
            return why_set(why, "stopped while measuring; nothing was written.");
        }
        while (work->doing && !labwork_poll(work, source) && !signals_stop_asked())
            nanosleep(&pause, NULL);
    }
}

static bool measure_lab(struct exhibit *out, const struct options *options, char *why) {
    struct source source;
    struct measure_result result = {0};
    struct progress progress = progress_start(options->is_quiet);
    progress_say(&progress, "loading the model");
    bool ok = source_open(&source, options, why) &&
              source_measure_on(&result, &source, options, SOURCE_SHOW_REPEATS, &progress, why);
    if (ok) {
        out->run = result.shown;
        result.shown = NULL;
        out->run->info.answer_limit = out->run->answer_count;
        out->longest_prompt = engine_context(source.engine) - SOURCE_ANSWER_LIMIT;
        out->longest_answer = SOURCE_ANSWER_LIMIT;
        ok = wait_for_work(&out->work, &source, options,
                           labwork_wants(options->page ? options->page - 1 : 0), &progress, why);
    }
    progress_clear(&progress);
    measure_clear(&result);
    source_close(&source);
    return ok;
}

static bool open_run(struct exhibit *out, const struct options *options, char *why) {
    bool is_lab = options->mode == MODE_LAB;
    if (is_lab && !options->run_path && options->clock == CLOCK_MEASURED)
        return measure_lab(out, options, why);
    struct runfile_extras extras;
    if (!source_run_with(&out->run, &extras, options, why))
        return false;
    if (is_lab)
        labwork_take(&out->work, &extras);
    return true;
}

bool exhibit_open(struct exhibit *out, const struct options *options, char why[256]) {
    *out = (struct exhibit){0};
    bool ok = options->mode != MODE_LESSON || exhibit_lesson(&out->lesson, options, why);
    if (ok && options->compare_path)
        ok = labwork_load_kept(&out->work, options->compare_path, why);
    ok = ok && open_run(out, options, why);
    if (!ok)
        exhibit_close(out);
    return ok;
}

void exhibit_close(struct exhibit *exhibit) {
    run_destroy(exhibit->run);
    lesson_destroy(exhibit->lesson);
    labwork_clear(&exhibit->work);
    *exhibit = (struct exhibit){0};
}
