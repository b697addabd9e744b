// See options.h. A new option is a new row and a field. What no single row can know (two
// options that exclude each other) is checked below the table.
#include "app/options/options.h"

#include "compute/base/spoken.h"
#include "compute/base/why.h"
#include "compute/measure/measure.h"
#include "compute/model/sampler.h"
#include "compute/tokenizer/chat.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    PLAY = 1u << COMMAND_PLAY,
    RECORD = 1u << COMMAND_RECORD,
    MEASURE = 1u << COMMAND_MEASURE,
    DESCRIBE = 1u << COMMAND_DESCRIBE,
    MEASURES = PLAY | RECORD | MEASURE | DESCRIBE, // can make a measurement
    SHOWS = PLAY | RECORD | DESCRIBE,              // can also show a saved run or a lesson
    DRAWS = PLAY | RECORD,
    MODELS = 1u << COMMAND_MODELS,
    INSPECT = 1u << COMMAND_INSPECT,
    LISTS = MODELS | INSPECT,
    COMMON = OPTION_COMMON,

    MAX_TOKENS = RUN_MAX_TOKENS - 1,
    MAX_CHAPTERS = 16,
    MAX_PAGES = 3,
};

static const char *const clock_names[] = {"measured", "lesson", NULL};
static const char *const counting_names[] = {"engine", "lesson", NULL};
static const char *const weights_names[] = {"f16", "bf16", "q8_0", "q4_0", "q4_k", NULL};
static const char *const mode_names[] = {"stage", "show", "lesson", "lab", NULL};
static const char *const theme_names[] = {"dark", "projector", "contrast", NULL};

#define FIELD(name) offsetof(struct options, name)
// Choices are stored through an int.
_Static_assert(sizeof(enum theme_id) == sizeof(int), "an enum is as large as an int");

static bool is_device(const char *text) {
    enum { MAX_INDEX = 63, MAX_DIGITS = 9 };
    if (strcmp(text, "auto") == 0 || strcmp(text, "cpu") == 0 || strcmp(text, "cuda") == 0)
        return true;
    if (strncmp(text, "cuda:", 5) != 0)
        return false;
    size_t digits = strspn(text + 5, "0123456789");
    return digits > 0 && digits <= MAX_DIGITS && !text[5 + digits] && atoi(text + 5) <= MAX_INDEX;
}

static bool is_chat(const char *text) {
    return strcmp(text, "auto") == 0 || strcmp(text, "none") == 0 || chat_find(text);
}

static const struct option_row rows[] = {
    {"device", OPTION_TEXT, MEASURES | COMMON, FIELD(request.device),
     .help = "where the model runs", .value = "auto|cpu|cuda[:N]", .accepts = is_device,
     .allowed = "auto, cpu, cuda or cuda:N"},
    {"model", OPTION_TEXT, MEASURES | COMMON, FIELD(request.model_path),
     .help = "a GGUF file, or a name of `models`", .value = "FILE|NAME"},
    {"shape", OPTION_TEXT, MEASURES | COMMON, FIELD(request.shape),
     .help = "random weights, as many as llama-3-8b ...", .value = "NAME"},
    {"weights", OPTION_CHOICE, MEASURES, FIELD(request.weights),
     .help = "how --shape stores its numbers", .choices = weights_names, .min = WEIGHTS_F16},
    {"prompt", OPTION_TEXT, MEASURES | COMMON, FIELD(request.prompt), .help = "what is asked",
     .value = "TEXT"},
    {"prompt-file", OPTION_TEXT, MEASURES, FIELD(request.prompt_file),
     .help = "the prompt from a file, - from stdin", .value = "FILE"},
    {"prompt-tokens", OPTION_INT, MEASURES | COMMON, FIELD(request.prompt_tokens),
     .help = "a prompt of exactly N tokens", .value = "N", .min = 1, .max = MAX_TOKENS},
    {"chat", OPTION_TEXT, MEASURES, FIELD(request.chat), .help = "how the question is framed",
     .value = "auto|none|NAME", .accepts = is_chat, .allowed = "auto, none, " CHAT_NAMES},
    {"system", OPTION_TEXT, MEASURES, FIELD(request.system),
     .help = "the chat format's system text", .value = "TEXT"},
    {"answer-tokens", OPTION_INT, MEASURES | COMMON, FIELD(request.answer_tokens),
     .help = "exactly N answer tokens", .value = "N", .min = 1, .max = MAX_TOKENS},
    {"seed", OPTION_SEED, MEASURES, FIELD(request.seed),
     .help = "for the sampler and a shape's weights", .value = "N"},
    {"temperature", OPTION_REAL, MEASURES, FIELD(request.temperature),
     .help = "0 (default) takes the likeliest token", .value = "X",
     .max = SAMPLER_MAX_TEMPERATURE_MILLI},
    {"top-p", OPTION_REAL, MEASURES, FIELD(request.top_p_unit),
     .help = "share of likelihood to sample from", .value = "X", .min = SAMPLER_MIN_TOP_P_MILLI,
     .max = 1000},
    {"threads", OPTION_INT, MEASURES, FIELD(request.threads), .help = "default: physical cores",
     .value = "N", .min = 1, .max = BACKEND_MAX_THREADS},
    {"repeats", OPTION_INT, MEASURES, FIELD(request.repeats), .help = "warm runs that count",
     .value = "N", .min = 1, .max = MEASURE_MAX_REPEATS},
    {"run", OPTION_TEXT, SHOWS | COMMON, FIELD(request.run_path), .help = "replay a saved run",
     .value = "FILE"},
    {"clock", OPTION_CHOICE, SHOWS | COMMON, FIELD(request.clock),
     .help = "this machine, or lesson units", .choices = clock_names},
    {"schedule", OPTION_TEXT, SHOWS | COMMON, FIELD(request.schedule),
     .help = "lesson: module-7, stage-0 or a file", .value = "NAME|FILE"},
    {"counting", OPTION_CHOICE, SHOWS, FIELD(request.counting),
     .help = "who pays for the first token", .choices = counting_names, .min = COUNTING_ENGINE},
    {"mode", OPTION_CHOICE, DRAWS | COMMON, FIELD(mode), .help = "what is shown beside the stage",
     .choices = mode_names},
    {"lesson", OPTION_TEXT, SHOWS | COMMON, FIELD(lesson_path), .help = "a lesson file of your own",
     .value = "FILE"},
    {"lang", OPTION_TEXT, SHOWS | COMMON, FIELD(language), .help = "the lesson's language: en, de",
     .value = "xx"},
    {"chapter", OPTION_INT, DRAWS, FIELD(chapter), .help = "where the lesson starts", .value = "N",
     .min = 1, .max = MAX_CHAPTERS},
    {"page", OPTION_INT, DRAWS, FIELD(page), .help = "Lab's plots", .value = "N", .min = 1,
     .max = MAX_PAGES},
    {"compare", OPTION_TEXT, DRAWS, FIELD(compare_path),
     .help = "a saved run to show beside, in Lab", .value = "FILE"},
    {"describe", OPTION_FLAG, PLAY | COMMON, FIELD(is_describing),
     .help = "print each step's line, to be read aloud"},
    {"calm", OPTION_FLAG, DRAWS | COMMON, FIELD(is_calm), .help = "reduced motion"},
    {"fresh", OPTION_FLAG, PLAY, FIELD(is_fresh), .help = "ignore what was remembered"},
    {"theme", OPTION_CHOICE, DRAWS | COMMON, FIELD(theme), .help = "colours",
     .choices = theme_names},
    {"projector", OPTION_FLAG, DRAWS | COMMON, FIELD(is_projector),
     .help = "light theme, show mode, full screen"},
    {"fullscreen", OPTION_FLAG, PLAY | COMMON, FIELD(is_fullscreen), .help = "start full screen"},
    {"display", OPTION_INT, PLAY, FIELD(display), .help = "on this display, the first is 1",
     .value = "N", .min = 1, .max = 63},
    {"text-step", OPTION_INT, DRAWS | COMMON, FIELD(text_step), .help = "text size", .value = "N",
     .min = -4, .max = 8},
    {"speed", OPTION_RATE, DRAWS | COMMON, FIELD(rate), .help = "1 = real time, 1/200 = slow",
     .value = "X", .min = 1, .max = INT64_C(1000000000)},
    {"size", OPTION_SIZE, DRAWS | COMMON, FIELD(width_px), .help = "in pixels", .value = "WxH",
     .min = 64, .max = 8192},
    {"fps", OPTION_FPS, RECORD, FIELD(fps_num), .help = "frames a second: 60, 29.97", .value = "N",
     .min = 1000000, .max = 240000000},
    {"from", OPTION_TIME, RECORD, FIELD(from_ns), .help = "start in screen time: 2s, 500ms",
     .value = "TIME", .max = INT64_C(86400000000000)},
    {"to", OPTION_TIME, RECORD, FIELD(to_ns), .help = "stop in screen time", .value = "TIME",
     .min = 1, .max = INT64_C(86400000000000)},
    {"overwrite", OPTION_FLAG, RECORD | MEASURE | LISTS, FIELD(overwrite),
     .help = "replace what is there"},
    {"json", OPTION_TEXT, MEASURE | LISTS, FIELD(json_path),
     .help = "the same as JSON, - for stdout", .value = "FILE"},
    {"all", OPTION_FLAG, INSPECT, FIELD(lists_all), .help = "also all keys and tensors"},
    {"no-rates", OPTION_FLAG, INSPECT, FIELD(without_rates),
     .help = "measure nothing, which takes half a second"},
    {"csv", OPTION_TEXT, MEASURE, FIELD(csv_path), .help = "figures as CSV, - for stdout",
     .value = "FILE"},
    {"save", OPTION_TEXT, MEASURE, FIELD(save_path), .help = "the run, for --run and for Perfetto",
     .value = "RUN"},
    {"text", OPTION_FLAG, MEASURE, FIELD(text_only), .help = "the answer's words alone"},
    {"sweep", OPTION_FLAG, MEASURE, FIELD(is_sweep), .help = "prefill by length, step by context"},
    {"observer", OPTION_FLAG, MEASURE, FIELD(is_overhead), .help = "what the marks cost a step"},
    {"quiet", OPTION_FLAG, RECORD | MEASURE | DESCRIBE, FIELD(is_quiet),
     .help = "no progress, no closing line"},
};

static const struct argparse_command commands[COMMAND_COUNT] = {
    [COMMAND_PLAY] = {"play", .help = "the window (without a command)"},
    [COMMAND_RECORD] = {"record", "a film or stills, without a display", "OUT", "out.mp4",
                        "OUT: .mp4, .webm, .gif, .y4m, .png, a folder (a still an event) or - "
                        "(Y4M).\n"},
    [COMMAND_MEASURE] = {"measure", .help = "a table of measured times"},
    [COMMAND_DESCRIBE] = {"describe", .help = "the whole walk as text, step by step"},
    [COMMAND_DEVICES] = {"devices", .help = "what can measure here, and why not the rest"},
    [COMMAND_MODELS] = {"models", "what GGUF files this machine has", "[FOLDER]", NULL,
                        "Also those in FOLDER. --model takes the names listed.\n"},
    [COMMAND_INSPECT] = {"inspect", "what a model file is, and what it costs here", "FILE",
                         "model.gguf", NULL},
    [COMMAND_HELP] = {.name = "help"},
    [COMMAND_VERSION] = {.name = "version"},
};

const struct argparse_table options_table = {"tokendrip", rows, sizeof rows / sizeof rows[0],
                                             commands, COMMAND_COUNT};

// Options of one mode choose it; the first that is given decides.
static const struct {
    const char *name;
    enum mode_choice mode;
} mode_options[] = {
    {"chapter", MODE_LESSON}, {"page", MODE_LAB}, {"compare", MODE_LAB}, {"lesson", MODE_LESSON}};
enum { MODE_OPTIONS = sizeof mode_options / sizeof mode_options[0] };

// The first given option that only a measurement takes, or NULL. A lesson has its own model,
// prompt and answer, but can be stretched to other lengths.
static const char *measuring_option(const struct argparse *args, bool with_lengths) {
    for (int i = 0; i < options_table.row_count; i++) {
        bool is_length = rows[i].offset == FIELD(request.prompt_tokens) ||
                         rows[i].offset == FIELD(request.answer_tokens);
        if (args->given[i] && (rows[i].commands & MEASURES) == MEASURES &&
            (with_lengths || !is_length))
            return rows[i].name;
    }
    return NULL;
}

// --run and the lesson clock bring their own model, prompt and answer.
static bool check_sources(const struct argparse *args, struct options *options, struct why *why) {
    bool is_play = options->command == COMMAND_PLAY;
    const char *any = measuring_option(args, true), *strict = measuring_option(args, false);
    options->is_clock_given = argparse_given(args, "clock") || argparse_given(args, "schedule") ||
                              argparse_given(args, "run") || strict;
    if (argparse_given(args, "schedule") && !argparse_given(args, "clock"))
        options->request.clock = CLOCK_LESSON;
    // The window can swap clocks while it runs (key U); a film cannot.
    bool is_lesson = !is_play && options->request.clock == CLOCK_LESSON;
    if (!is_play && argparse_given(args, "schedule") && !is_lesson)
        return why_set(why, "--schedule belongs to --clock lesson. Leave one of them out.");
    if (options->request.run_path && is_lesson)
        return why_set(why, "--run replays a saved run, and the lesson clock makes its own. "
                            "Leave one of them out.");
    if (options->request.run_path && any)
        return why_set(why,
                       "--run replays a saved run, so there is no --%s to choose. Leave "
                       "one of them out.",
                       any);
    if (is_lesson && strict)
        return why_set(why,
                       "a lesson runs no model, so there is no --%s to choose. Leave it "
                       "out, or take --clock measured.",
                       strict);
    return true;
}

static void choose_mode(const struct argparse *args, struct options *options) {
    bool is_given = argparse_given(args, "mode");
    options->is_mode_given = is_given || options->is_projector;
    if (options->is_projector && !is_given)
        options->mode = MODE_SHOW;
    for (int i = MODE_OPTIONS - 1; i >= 0 && !is_given; i--) {
        if (!argparse_given(args, mode_options[i].name))
            continue;
        options->mode = mode_options[i].mode;
        options->is_mode_given = true;
    }
}

// The window can swap modes while it runs (key Tab); a film cannot.
static bool check_mode(const struct argparse *args, const struct options *options,
                       struct why *why) {
    for (int i = 0; options->command == COMMAND_RECORD && i < MODE_OPTIONS; i++) {
        enum mode_choice mode = mode_options[i].mode;
        // Lab takes its words from the lesson, too.
        bool fits = mode == options->mode || (mode == MODE_LESSON && options->mode == MODE_LAB &&
                                              strcmp(mode_options[i].name, "lesson") == 0);
        if (argparse_given(args, mode_options[i].name) && !fits)
            return why_set(why,
                           "--%s belongs to --mode %s, and this film is of --mode %s. Leave "
                           "one of them out.",
                           mode_options[i].name, mode_names[mode], mode_names[options->mode]);
    }
    return true;
}

bool options_is_stdout(const char *path) {
    return path && strcmp(path, "-") == 0;
}

static bool check_pairs(const struct argparse *args, const struct options *options,
                        struct why *why) {
    static const struct {
        const char *name, *other, *why;
    } pairs[] = {
        {"shape", "model",
         "--shape makes its own weights and --model reads them from a file. Leave one of them "
         "out."},
        {"prompt", "prompt-file",
         "--prompt and --prompt-file both give the prompt. Leave one of them out."},
        {"lesson", "lang",
         "--lesson is a file with its own language, and --lang picks one of the program's "
         "lessons. Leave one of them out."},
    };
    for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++) {
        if (argparse_given(args, pairs[i].name) && argparse_given(args, pairs[i].other))
            return why_set(why, "%s", why_spoken(pairs[i].why));
    }
    if (options->from_ns >= 0 && options->to_ns >= 0 && options->from_ns >= options->to_ns)
        return why_set(why, "--from must lie before --to. Swap them, or leave one out.");
    int to_stdout = options_is_stdout(options->json_path) + options_is_stdout(options->csv_path) +
                    options->text_only;
    if (to_stdout > 1)
        return why_set(why, "only one of --json -, --csv - and --text can have standard output. "
                            "Give the others a file.");
    if (options_is_stdout(options->save_path))
        return why_set(why, "--save needs a file name: --save run.json");
    return true;
}

static bool finish(const struct argparse *args, struct options *options, struct why *why) {
    options->operand = args->operands[0];
    options->is_theme_given = argparse_given(args, "theme");
    if (options->is_projector && !options->is_theme_given)
        options->theme = THEME_PROJECTOR;
    options->is_text_step_given = argparse_given(args, "text-step");
    choose_mode(args, options);
    return argparse_check(args, (int)options->command, why) && check_sources(args, options, why) &&
           check_mode(args, options, why) && check_pairs(args, options, why);
}

bool options_parse(struct options *out, int argc, char **argv, struct why *why) {
    *out = (struct options){
        .command = COMMAND_PLAY,
        .request = {.device = "auto",
                    .chat = "auto",
                    .seed = 1,
                    .top_p_unit = 1.0f,
                    .schedule = "module-7"},
        .language = "en",
        .theme = THEME_DARK,
        .display = -1,
        .rate = {0, 1},
        .from_ns = -1,
        .to_ns = -1,
    };
    struct argparse args;
    if (!argparse_read(&args, &options_table, out, argc, argv, why))
        return false;
    int command = args.command;
    if (args.wants_help || command == COMMAND_HELP) {
        // `tokendrip help record` and `tokendrip record --help` alike.
        if (command == COMMAND_HELP && args.operand_count > 0)
            command = argparse_command(&options_table, args.operands[0], why);
        else if (command < 0)
            command = COMMAND_HELP;
        out->command = COMMAND_HELP;
        out->help_for = (enum command)command;
        return command >= 0;
    }
    if (command >= 0)
        out->command = (enum command)command;
    if (args.wants_version)
        out->command = COMMAND_VERSION;
    return out->command == COMMAND_VERSION || finish(&args, out, why);
}

// --- Files ---

void options_files(struct options_files *out, const struct options *options) {
    const struct run_request *request = &options->request;
    const char *const named[] = {request->model_path, request->prompt_file, request->run_path,
                                 request->schedule,   options->lesson_path, options->compare_path};
    char schedule[80], language[80];
    snprintf(schedule, sizeof schedule, "schedules/%.60s.json", request->schedule);
    snprintf(language, sizeof language, "languages/%.60s.json", options->language);
    const char *const own[] = {"model/tokendrip.gguf", "model/policy.txt", schedule, language};
    *out = (struct options_files){0};
    for (size_t i = 0; i < sizeof named / sizeof named[0]; i++) {
        // "module-7" and "-" are no files, unless there are some of that name.
        if (named[i] && access(named[i], F_OK) == 0)
            out->list[out->count++] = named[i];
    }
    for (size_t i = 0; i < sizeof own / sizeof own[0]; i++) {
        if (assets_find(out->assets[i], own[i], NULL))
            out->list[out->count++] = out->assets[i];
    }
}

// --- Help ---

void options_print_help(FILE *out, enum command command) {
    if (commands[command].help) {
        argparse_print_usage(out, &options_table, (int)command);
        argparse_print_rows(out, &options_table, 1u << command);
        return;
    }
    fprintf(out, "Usage: tokendrip [COMMAND] [OPTION]...\n"
                 "Shows how a language model answers, driven by really measured times.\n"
                 "Commands (tokendrip COMMAND --help lists the options of each):\n");
    argparse_print_commands(out, &options_table);
    fprintf(out, "Options of the window, the most used (tokendrip play --help lists all):\n");
    argparse_print_rows(out, &options_table, OPTION_COMMON);
    argparse_print_row(out, "--version", "version, and what is built in");
}
