// See source.h.
#include "app/runs/source.h"

#include "compute/base/assets.h"
#include "compute/base/num.h"
#include "compute/base/progress.h"
#include "compute/base/signals.h"
#include "compute/base/utf8.h"
#include "compute/base/why.h"
#include "compute/file/runfile.h"
#include "compute/file/schedule.h"
#include "compute/run/recount.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

enum {
    POLL_NS = 10000000, // between two looks at the engine: too rare to disturb it
    ATTEMPTS = 3,       // measurements before giving up on one that adds up
    SCRIPT_BYTES = 4096,
};
static const int64_t BUDGET_NS = INT64_C(20000000000);

// --- Engine and prompt ---

// The answer text for a shape, whose weights are random (see engine.h).
static bool read_script(char out[SCRIPT_BYTES], struct why *why) {
    char path[ASSETS_PATH_BYTES];
    if (!assets_find(path, "model/script.txt", why))
        return false;
    FILE *file = fopen(path, "rb");
    size_t bytes = file ? fread(out, 1, SCRIPT_BYTES - 1, file) : 0;
    if (file)
        fclose(file);
    const char *start = out;
    if (utf8_open(&start, &bytes))
        bytes = 0; // is refused below
    memmove(out, start, bytes);
    while (bytes > 0 && out[bytes - 1] == '\n')
        bytes--;
    out[bytes] = '\0';
    for (size_t i = 0; i < bytes; i++) {
        if (out[i] == '\n')
            out[i] = ' ';
    }
    return bytes > 0 || why_set(why, "cannot read %.160s. Install tokendrip again.", path);
}

static enum gguf_tensor_type weights_type(enum weights_choice choice) {
    static const enum gguf_tensor_type types[] = {
        [WEIGHTS_DEFAULT] = GGUF_TENSOR_F32, // means the preset's own
        [WEIGHTS_F16] = GGUF_TENSOR_F16,     [WEIGHTS_BF16] = GGUF_TENSOR_BF16,
        [WEIGHTS_Q8_0] = GGUF_TENSOR_Q8_0,   [WEIGHTS_Q4_0] = GGUF_TENSOR_Q4_0,
        [WEIGHTS_Q4_K] = GGUF_TENSOR_Q4_K,
    };
    return types[choice];
}

static bool open_engine(struct source *source, const struct run_request *request, int context,
                        struct why *why) {
    char bundled[ASSETS_PATH_BYTES], script[SCRIPT_BYTES];
    struct engine_opts opts = {
        .device = request->device,
        .model_path = request->model_path,
        .bundled = !request->model_path,
        .shape = request->shape,
        .script = script,
        .shape_type = weights_type(request->weights),
        .shape_seed = request->seed,
        .threads = request->threads,
        .context = context,
        .marks = source->opts.marks,
        .on_loading = source->opts.on_loading,
        .loading_context = source->opts.context,
    };
    if (request->weights != WEIGHTS_DEFAULT && !request->shape)
        return why_set(why, "--weights is how --shape stores its numbers, and a file has them "
                            "stored. Leave it out, or add --shape llama-3.2-1b.");
    if (request->shape && !read_script(script, why))
        return false;
    if (opts.bundled) {
        if (!assets_find(bundled, "model/tokendrip.gguf", why))
            return false;
        opts.model_path = bundled;
    }
    return engine_open(&source->engine, &opts, why);
}

// The fewest tokens of context that the request can do with.
static int context_needed(const struct source *source, const struct run_request *request) {
    int answer = request->answer_tokens > 0 ? request->answer_tokens : 1;
    return source->prompt.count + answer;
}

// More than the model can do, or than this engine was opened for.
static bool refuse_length(const struct source *source, const struct run_request *request,
                          struct why *why) {
    int most = engine_shape(source->engine)->context, context = engine_context(source->engine);
    int needed = context_needed(source, request);
    if (needed <= most)
        return why_set(why,
                       "%d tokens pass the %d that there is room for here, and the model can do "
                       "%d. Start again with them.",
                       needed, context, most);
    if (request->answer_tokens > 0 && most > source->prompt.count)
        return why_set(why,
                       "a prompt of %d and an answer of %d tokens pass the model's limit of %d. "
                       "Take --answer-tokens %d or fewer.",
                       source->prompt.count, request->answer_tokens, most,
                       most - source->prompt.count);
    return why_set(why,
                   "a prompt of %d tokens leaves no room for an answer within the model's "
                   "limit of %d. Take a shorter prompt.",
                   source->prompt.count, most);
}

// Opens with the usual context, and again with a longer one if the prompt needs it: only the
// model's tokenizer knows how many tokens the prompt has.
static bool open_fitting(struct source *source, const struct run_request *request,
                         struct why *why) {
    if (!open_engine(source, request, 0, why))
        return false;
    if (!prompt_from_request(&source->prompt, engine_tokenizer(source->engine), request, why))
        return false;
    int needed = context_needed(source, request);
    if (needed <= engine_context(source->engine))
        return true;
    if (needed > engine_shape(source->engine)->context)
        return refuse_length(source, request, why);
    engine_close(source->engine);
    source->engine = NULL;
    return open_engine(source, request, needed, why);
}

static void set_answer(struct source *source, const struct run_request *request) {
    int room = engine_context(source->engine) - source->prompt.count;
    source->answer_tokens = request->answer_tokens;
    source->answer_limit =
        request->answer_tokens > 0 ? request->answer_tokens : min_int(room, SOURCE_ANSWER_LIMIT);
}

static bool say_loading(void *context, size_t done_bytes, size_t total_bytes) {
    struct progress *progress = context;
    if (progress)
        progress_say(progress, "loading the model: %zu of %zu MiB", done_bytes >> 20,
                     total_bytes >> 20);
    return !signals_stop_asked();
}

bool source_open(struct source *out, const struct run_request *request,
                 const struct source_opts *opts, struct why *why) {
    *out = (struct source){.opts = *opts};
    if (!opts->on_loading) {
        out->opts.on_loading = say_loading;
        out->opts.context = opts->progress;
    }
    if (opts->progress)
        progress_say(opts->progress, "loading the model");
    if (!open_fitting(out, request, why)) {
        source_close(out);
        return false;
    }
    set_answer(out, request);
    return true;
}

bool source_change_prompt(struct source *source, const struct run_request *request,
                          struct why *why) {
    struct source changed = {.engine = source->engine};
    if (!prompt_from_request(&changed.prompt, engine_tokenizer(source->engine), request, why))
        return false;
    if (context_needed(&changed, request) > engine_context(source->engine)) {
        refuse_length(&changed, request, why);
        prompt_clear(&changed.prompt);
        return false;
    }
    prompt_clear(&source->prompt);
    source->prompt = changed.prompt;
    set_answer(source, request);
    return true;
}

void source_close(struct source *source) {
    engine_close(source->engine);
    prompt_clear(&source->prompt);
    *source = (struct source){0};
}

struct engine_request source_request(const struct source *source, const struct run_request *request,
                                     int default_repeats) {
    return (struct engine_request){
        .prompt = source->prompt.ids,
        .prompt_count = source->prompt.count,
        .chat = source->prompt.chat,
        .answer_tokens = source->answer_tokens,
        .answer_limit = source->answer_limit,
        .temperature = request->temperature,
        .top_p_unit = request->top_p_unit,
        .seed = request->seed,
        .repeats = request->repeats > 0 ? request->repeats : default_repeats,
        .budget_ns = BUDGET_NS,
    };
}

// --- Measuring ---

// `name` NULL: that of the stage.
static void say_stage(struct progress *progress, const char *name,
                      const struct engine_status *status) {
    static const char *const words[] = {
        [ENGINE_COLD] = "cold run",
        [ENGINE_WARM] = "warming up",
        [ENGINE_REPEAT] = "measuring",
        [ENGINE_SWEEP] = "measuring lengths",
    };
    if (!progress || status->stage < ENGINE_COLD || status->stage > ENGINE_SWEEP)
        return;
    if (!name)
        name = words[status->stage];
    if (status->total > 0)
        progress_say(progress, "%s: %d of %d", name, min_int(status->done + 1, status->total),
                     status->total);
    else
        progress_say(progress, "%s", name);
}

bool source_wait(struct source *source, const char *name, struct why *why) {
    static const struct timespec pause = {.tv_nsec = POLL_NS};
    struct engine_status status = {0};
    for (;;) {
        enum engine_stage stage = status.stage;
        int done = status.done;
        engine_poll(source->engine, &status);
        if (status.stage == ENGINE_DONE)
            return true;
        if (status.stage == ENGINE_FAILED)
            return why_set(why, "%s", status.why.text);
        if (signals_stop_asked()) {
            engine_stop(source->engine);
            return why_set(why, "stopped while measuring; nothing was written.");
        }
        if (status.stage != stage || status.done != done)
            say_stage(source->opts.progress, name, &status);
        nanosleep(&pause, NULL);
    }
}

static bool measure_once(struct measure_result *out, struct source *source,
                         const struct engine_request *request, struct why *why) {
    if (!engine_start(source->engine, request, why) || !source_wait(source, NULL, why))
        return false;
    if (!engine_take(source->engine, out))
        return why_set(why, "the measurement ended without a result. Run it again.");
    if (!out->shown || out->shown->answer_count == 0) {
        measure_clear(out);
        return why_set(why, "the model gave no answer token. Take another prompt.");
    }
    return true;
}

// If another program took the processor in the middle, the stages do not add up: that
// measurement is thrown away and made again.
bool source_measure(struct measure_result *out, struct source *source,
                    const struct engine_request *request, struct why *why) {
    for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
        if (!measure_once(out, source, request, why))
            return false;
        if (out->stages_match)
            return true;
        measure_clear(out);
    }
    return why_set(why, "the layers of the measured run do not add up to its time within 5 %%. "
                        "Close other programs and run it again.");
}

bool source_start_sweep(struct source *source, int longest, int repeats, struct why *why) {
    struct prompt prompt = {0};
    if (!prompt_of_length(&prompt, engine_tokenizer(source->engine), longest, why))
        return false;
    struct engine_sweep_request request = {
        .prompt = prompt.ids,
        .prompt_count = prompt.count,
        .repeats = repeats,
        .budget_ns = BUDGET_NS,
    };
    bool ok = engine_start_sweep(source->engine, &request, why);
    prompt_clear(&prompt);
    return ok;
}

// --- Runs ---

static bool find_schedule(char path[ASSETS_PATH_BYTES], const char *schedule, struct why *why) {
    char name[96];
    // A name of the program's own, or a file of the user's.
    if (strchr(schedule, '/') || strchr(schedule, '.')) {
        size_t length = strlen(schedule);
        if (length >= ASSETS_PATH_BYTES)
            return why_set(why, "the name of the schedule is too long.");
        memcpy(path, schedule, length + 1);
        return true;
    }
    snprintf(name, sizeof name, "schedules/%.64s.json", schedule);
    if (assets_find(path, name, why))
        return true;
    if (strcmp(schedule, "module-7") == 0 || strcmp(schedule, "stage-0") == 0)
        return false;
    return why_set(why,
                   "there is no schedule \"%.60s\". Take module-7, stage-0 or a file name "
                   "with its ending.",
                   schedule);
}

bool source_lesson(struct run **out, const struct run_request *request,
                   enum counting_choice counting, struct why *why) {
    char path[ASSETS_PATH_BYTES];
    struct schedule schedule = {0};
    if (!find_schedule(path, request->schedule, why) || !schedule_load(&schedule, path, why))
        return false;
    bool ok = schedule_run(out, &schedule, counting == COUNTING_ENGINE ? RUN_ENGINE : RUN_CHARGED,
                           request->prompt_tokens, request->answer_tokens, why);
    schedule_clear(&schedule);
    return ok;
}

bool source_replay(struct run **out, struct runfile_extras *extras, const char *path,
                   struct why *why) {
    if (!runfile_load(out, extras, path, why))
        return false;
    if ((*out)->state != RUN_OPEN && (*out)->answer_count > 0)
        return true;
    run_destroy(*out);
    *out = NULL;
    return why_set(why, "%.160s holds no finished answer. Save one with tokendrip measure --save.",
                   path);
}

static bool measured_run(struct run **out, const struct run_request *request,
                         struct progress *progress, struct why *why) {
    struct measure_result result = {0};
    struct source source;
    bool ok =
        source_open(&source, request,
                    &(struct source_opts){.marks = BACKEND_MARKS_ALL, .progress = progress}, why);
    if (ok) {
        struct engine_request wanted = source_request(&source, request, SOURCE_SHOW_REPEATS);
        ok = source_measure(&result, &source, &wanted, why);
    }
    *out = result.shown;
    result.shown = NULL;
    measure_clear(&result);
    source_close(&source);
    return ok;
}

// Replaces *run by the same answer under the counting asked for.
static bool apply_counting(struct run **run, enum counting_choice choice, struct why *why) {
    enum run_counting counting = choice == COUNTING_LESSON ? RUN_CHARGED : RUN_ENGINE;
    struct run *recounted = NULL;
    if (choice == COUNTING_DEFAULT || (*run)->info.counting == counting)
        return true;
    bool ok = run_recount(&recounted, *run, counting, why);
    run_destroy(*run);
    *run = recounted;
    return ok;
}

bool source_run(struct run **out, struct runfile_extras *extras, const struct run_request *request,
                struct progress *progress, struct why *why) {
    *out = NULL;
    if (extras)
        *extras = (struct runfile_extras){0};
    bool ok = request->run_path                ? source_replay(out, extras, request->run_path, why)
              : request->clock == CLOCK_LESSON ? source_lesson(out, request, request->counting, why)
                                               : measured_run(out, request, progress, why);
    if (!ok || !apply_counting(out, request->counting, why))
        return false;
    (*out)->info.answer_limit = (*out)->answer_count;
    return true;
}
