// See footage.h.
#include "app/command/footage.h"

#include "app/lesson/load/load.h"
#include "compute/base/num.h"
#include "compute/base/progress.h"
#include "compute/base/signals.h"
#include "compute/base/utf8.h"
#include "compute/base/why.h"
#include "compute/base/words.h"

#include <stdio.h>
#include <string.h>

bool footage_lesson(struct lesson **out, bool *is_needed, const struct options *options,
                    struct why *why) {
    *out = NULL;
    *is_needed = options->lesson_path;
    if (!options->lesson_path)
        return lesson_load_own(out, why);
    if (!lesson_load(out, options->lesson_path, why))
        return false;
    // In a language that the program doesn't have, its own words stay in English.
    struct why unknown;
    if (lesson_language(*out))
        words_choose(lesson_language(*out), &unknown);
    return true;
}

struct stage_state footage_stage(const struct options *options) {
    return (struct stage_state){
        .playhead = {.rate = options->rate.num ? options->rate : (struct playhead_rate){1, 1}},
        .landed_ns = INT64_MIN,
        .clock = options->request.clock,
        .mode = options->mode,
        .theme = options->theme,
        .text_step = options->text_step,
        .is_calm = options->is_calm,
        .place = {.chapter = max_int(options->chapter - 1, 0)},
        .page = max_int(options->page - 1, 0),
        .focus = -1,
        .list_focus = -1,
        .guess = guess_new(),
    };
}

// Measures one after another what a page of Lab needs. The picture names what could not be
// measured.
static bool measure_page(struct labwork *work, struct source *source, const struct options *options,
                         struct why *why) {
    unsigned wants = labwork_wants(max_int(options->page - 1, 0));
    struct why failure;
    for (labwork_start(work, source, &options->request, wants); work->doing;
         labwork_start(work, source, &options->request, wants)) {
        if (!source_wait(source, "Lab", &failure) && signals_stop_asked())
            return why_set(why, "%s", failure.text);
        labwork_poll(work, source);
    }
    return true;
}

static bool measure_lab(struct footage *out, const struct options *options, struct why *why) {
    struct source source;
    struct measure_result result = {0};
    struct progress progress = progress_start(options->is_quiet);
    bool ok =
        source_open(&source, &options->request,
                    &(struct source_opts){.marks = BACKEND_MARKS_ALL, .progress = &progress}, why);
    if (ok) {
        struct engine_request request =
            source_request(&source, &options->request, SOURCE_SHOW_REPEATS);
        ok = source_measure(&result, &source, &request, why);
    }
    if (ok) {
        out->run = result.shown;
        result.shown = NULL;
        out->run->info.answer_limit = out->run->answer_count;
        out->longest_prompt = engine_context(source.engine) - SOURCE_ANSWER_LIMIT;
        out->longest_answer = SOURCE_ANSWER_LIMIT;
        ok = measure_page(&out->work, &source, options, why);
    }
    progress_clear(&progress);
    measure_clear(&result);
    source_close(&source);
    return ok;
}

static bool open_run(struct footage *out, const struct options *options, struct why *why) {
    const struct run_request *request = &options->request;
    bool is_lab = options->mode == MODE_LAB;
    if (is_lab && !request->run_path && request->clock == CLOCK_MEASURED)
        return measure_lab(out, options, why);
    struct runfile_extras extras;
    struct progress progress = progress_start(options->is_quiet);
    bool ok = source_run(&out->run, &extras, request, &progress, why);
    progress_clear(&progress);
    if (ok && is_lab)
        labwork_take(&out->work, &extras);
    return ok;
}

bool footage_open(struct footage *out, const struct options *options, struct why *why) {
    bool is_needed;
    *out = (struct footage){0};
    bool ok =
        options->mode != MODE_LESSON || footage_lesson(&out->lesson, &is_needed, options, why);
    if (ok && options->compare_path)
        ok = labwork_load_kept(&out->work, options->compare_path, why);
    ok = ok && open_run(out, options, why);
    if (!ok)
        footage_close(out);
    return ok;
}

void footage_close(struct footage *footage) {
    run_destroy(footage->run);
    lesson_destroy(footage->lesson);
    labwork_clear(&footage->work);
    *footage = (struct footage){0};
}

void footage_tell_note(const char *note) {
    fprintf(stderr, "tokendrip: note: ");
    utf8_print(stderr, note, strlen(note));
    fputc('\n', stderr);
}
