// See options.h. The table below is the whole command line: a new option is a new
// row and a field. Values are parsed by type, never by option; what no single
// row can know (two options that exclude each other) is a second table. Exact
// integers throughout: a rate or a time never passes through a float, and no
// locale can change what a decimal point is.
#include "app/options/options.h"

#include "compute/base/why.h"
#include "compute/measure/measure.h"

#include <limits.h>
#include <string.h>

enum {
    PLAY = 1u << COMMAND_PLAY,
    RECORD = 1u << COMMAND_RECORD,
    MEASURE = 1u << COMMAND_MEASURE,
    DESCRIBE = 1u << COMMAND_DESCRIBE,
    MEASURES = PLAY | RECORD | MEASURE | DESCRIBE, // makes or shows a measurement
    SHOWS = PLAY | RECORD | DESCRIBE,              // can also show a saved run or a lesson
    DRAWS = PLAY | RECORD,
    COMMON = OPTION_COMMON,

    MAX_TOKENS = RUN_MAX_TOKENS - 1,
    MAX_CHAPTERS = 16,
    MAX_PAGES = 3,
    NAME_COLUMNS = 31, // of --help
};

static const char *const clock_names[] = {"measured", "lesson", NULL};
static const char *const counting_names[] = {"engine", "lesson", NULL};
static const char *const weights_names[] = {"f16", "bf16", "q8_0", "q4_0", NULL};
static const char *const mode_names[] = {"stage", "show", "lesson", "lab", NULL};
static const char *const theme_names[] = {"dark", "projector", "contrast", NULL};

#define FIELD(name) offsetof(struct options, name)
// Choices are stored through an int.
_Static_assert(sizeof(enum theme_id) == sizeof(int), "an enum is as large as an int");

static const struct option_row rows[] = {
    {"device", OPTION_DEVICE, MEASURES | COMMON, FIELD(device), "auto|cpu|cuda[:N]", NULL, 0, 63,
     "where the model runs"},
    {"model", OPTION_TEXT, MEASURES | COMMON, FIELD(model_path), "FILE.gguf", NULL, 0, 0,
     "a model instead of the bundled one"},
    {"shape", OPTION_TEXT, MEASURES | COMMON, FIELD(shape), "NAME", NULL, 0, 0,
     "random weights, as many as llama-3-8b ..."},
    {"weights", OPTION_CHOICE, MEASURES, FIELD(weights), NULL, weights_names, WEIGHTS_F16, 0,
     "how --shape stores its numbers"},
    {"prompt", OPTION_TEXT, MEASURES | COMMON, FIELD(prompt), "TEXT", NULL, 0, 0, "what is asked"},
    {"prompt-file", OPTION_TEXT, MEASURES, FIELD(prompt_file), "FILE", NULL, 0, 0,
     "the prompt from a file, - from stdin"},
    {"prompt-tokens", OPTION_INT, MEASURES | COMMON, FIELD(prompt_tokens), "N", NULL, 1, MAX_TOKENS,
     "a prompt of exactly N tokens"},
    {"answer-tokens", OPTION_INT, MEASURES | COMMON, FIELD(answer_tokens), "N", NULL, 1, MAX_TOKENS,
     "exactly N answer tokens"},
    {"seed", OPTION_SEED, MEASURES, FIELD(seed), "N", NULL, 0, INT64_MAX,
     "for the sampler and a shape's weights"},
    {"temperature", OPTION_REAL, MEASURES, FIELD(temperature), "X", NULL, 0, 10000,
     "0 (default) takes the likeliest token"},
    {"top-p", OPTION_REAL, MEASURES, FIELD(top_p_unit), "X", NULL, 1, 1000,
     "sample from this share of likelihood"},
    {"threads", OPTION_INT, MEASURES, FIELD(threads), "N", NULL, 1, 1024,
     "default: physical cores"},
    {"repeats", OPTION_INT, MEASURES, FIELD(repeats), "N", NULL, 1, MEASURE_MAX_REPEATS,
     "warm runs that count"},
    {"run", OPTION_TEXT, SHOWS | COMMON, FIELD(run_path), "FILE", NULL, 0, 0, "replay a saved run"},
    {"clock", OPTION_CHOICE, SHOWS | COMMON, FIELD(clock), NULL, clock_names, 0, 0,
     "this machine, or lesson units"},
    {"schedule", OPTION_TEXT, SHOWS | COMMON, FIELD(schedule), "NAME|FILE", NULL, 0, 0,
     "lesson: module-7, stage-0 or a file"},
    {"counting", OPTION_CHOICE, SHOWS, FIELD(counting), NULL, counting_names, COUNTING_ENGINE, 0,
     "who pays for the first token"},
    {"mode", OPTION_CHOICE, DRAWS | COMMON, FIELD(mode), NULL, mode_names, 0, 0,
     "what is shown beside the stage"},
    {"lesson", OPTION_TEXT, SHOWS | COMMON, FIELD(lesson_path), "FILE", NULL, 0, 0,
     "a lesson file of your own"},
    {"lang", OPTION_TEXT, SHOWS | COMMON, FIELD(language), "xx", NULL, 0, 0,
     "the lesson's language: en, de"},
    {"chapter", OPTION_INT, DRAWS, FIELD(chapter), "N", NULL, 1, MAX_CHAPTERS,
     "where the lesson starts"},
    {"page", OPTION_INT, DRAWS, FIELD(page), "N", NULL, 1, MAX_PAGES, "Lab's plots"},
    {"compare", OPTION_TEXT, DRAWS, FIELD(compare_path), "FILE", NULL, 0, 0,
     "a saved run to show beside, in Lab"},
    {"describe", OPTION_FLAG, PLAY | COMMON, FIELD(is_describing), NULL, NULL, 0, 1,
     "print each step's line, to be read aloud"},
    {"calm", OPTION_FLAG, DRAWS | COMMON, FIELD(is_calm), NULL, NULL, 0, 1, "reduced motion"},
    {"fresh", OPTION_FLAG, PLAY, FIELD(is_fresh), NULL, NULL, 0, 1, "ignore what was remembered"},
    {"theme", OPTION_CHOICE, DRAWS | COMMON, FIELD(theme), NULL, theme_names, 0, 0, "colours"},
    {"projector", OPTION_FLAG, DRAWS | COMMON, FIELD(is_projector), NULL, NULL, 0, 1,
     "light theme, show mode, full screen"},
    {"fullscreen", OPTION_FLAG, PLAY | COMMON, FIELD(is_fullscreen), NULL, NULL, 0, 1,
     "start full screen"},
    {"display", OPTION_INT, PLAY, FIELD(display), "N", NULL, 0, 63, "on this display"},
    {"text-step", OPTION_INT, DRAWS | COMMON, FIELD(text_step), "N", NULL, -4, 8, "text size"},
    {"speed", OPTION_RATE, DRAWS | COMMON, FIELD(rate), "X", NULL, 1, INT64_C(1000000000),
     "1 is real time, 1/200 is 200x slower"},
    {"size", OPTION_SIZE, DRAWS | COMMON, FIELD(width_px), "WxH", NULL, 64, 8192, "in pixels"},
    {"fps", OPTION_FPS, RECORD, FIELD(fps_num), "N", NULL, 1000000, 240000000,
     "frames a second: 60, 30000/1001, 29.97"},
    {"from", OPTION_TIME, RECORD, FIELD(from_ns), "TIME", NULL, 0, INT64_C(86400000000000),
     "start here in screen time: 2s, 500ms"},
    {"to", OPTION_TIME, RECORD, FIELD(to_ns), "TIME", NULL, 1, INT64_C(86400000000000),
     "stop here in screen time"},
    {"overwrite", OPTION_FLAG, RECORD, FIELD(overwrite), NULL, NULL, 0, 1, "replace what is there"},
    {"json", OPTION_TEXT, MEASURE, FIELD(json_path), "FILE", NULL, 0, 0,
     "figures as JSON, - for stdout"},
    {"csv", OPTION_TEXT, MEASURE, FIELD(csv_path), "FILE", NULL, 0, 0,
     "figures as CSV, - for stdout"},
    {"save", OPTION_TEXT, MEASURE, FIELD(save_path), "RUN", NULL, 0, 0,
     "the run, for --run and for Perfetto"},
    {"text", OPTION_FLAG, MEASURE, FIELD(text_only), NULL, NULL, 0, 1, "the answer's words alone"},
    {"sweep", OPTION_FLAG, MEASURE, FIELD(is_sweep), NULL, NULL, 0, 1,
     "prefill by length, step by context"},
    {"observer", OPTION_FLAG, MEASURE, FIELD(is_observer), NULL, NULL, 0, 1,
     "what the marks cost a step"},
    {"quiet", OPTION_FLAG, RECORD | MEASURE | DESCRIBE, FIELD(is_quiet), NULL, NULL, 0, 1,
     "no progress, no closing line"},
};

enum { ROWS = sizeof rows / sizeof rows[0] };

static const struct {
    const char *name, *operand, *help, *example;
} commands[COMMAND_COUNT] = {
    [COMMAND_PLAY] = {"play", NULL, "the window (without a command)", NULL},
    [COMMAND_RECORD] = {"record", "OUT", "a film or stills, without a display", "out.mp4"},
    [COMMAND_MEASURE] = {"measure", NULL, "a table of measured times", NULL},
    [COMMAND_DESCRIBE] = {"describe", NULL, "the whole walk as text, step by step", NULL},
    [COMMAND_DEVICES] = {"devices", NULL, "what can measure here, and why not the rest", NULL},
    [COMMAND_INSPECT] = {"inspect", "FILE", "what a GGUF file holds", "model.gguf"},
    [COMMAND_HELP] = {"help", NULL, NULL, NULL},
    [COMMAND_VERSION] = {"version", NULL, NULL, NULL},
};

// What --run and a lesson leave no room for: they come with their own model,
// prompt and answer.
static const char *const measuring_options[] = {
    "device",        "model", "shape",       "weights", "prompt",  "prompt-file", "prompt-tokens",
    "answer-tokens", "seed",  "temperature", "top-p",   "threads", "repeats",     NULL};
// A lesson can be stretched to other counts.
static const char *const lesson_options[] = {"prompt-tokens", "answer-tokens", NULL};

// Options of one mode choose it; the first that is given decides.
static const struct {
    const char *name;
    enum mode_choice mode;
} mode_options[] = {
    {"chapter", MODE_LESSON}, {"page", MODE_LAB}, {"compare", MODE_LAB}, {"lesson", MODE_LESSON}};
enum { MODE_OPTIONS = sizeof mode_options / sizeof mode_options[0] };

// Parsing in progress.
struct parse {
    struct options *options;
    bool given[ROWS];
    bool has_command, wants_help, wants_version;
    const char *operands[2];
    int operand_count;
};

// --- Numbers ---

static int64_t greatest_divisor(int64_t a, int64_t b) {
    while (b != 0) {
        int64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

// Up to nine digits. Returns what follows them, NULL when there are none or more.
static const char *read_digits(const char *text, int64_t *value, int *digits) {
    *value = 0;
    *digits = 0;
    for (; *text >= '0' && *text <= '9'; text++) {
        if (++*digits > 9)
            return NULL;
        *value = *value * 10 + (*text - '0');
    }
    return *digits ? text : NULL;
}

// "12", "12.5", ".5": value = num / den, den a power of ten up to 10^9. Returns
// what follows, NULL when that is no decimal.
static const char *read_decimal(const char *text, int64_t *num, int64_t *den) {
    int64_t whole = 0, part = 0;
    int digits = 0;
    *den = 1;
    if (*text != '.') {
        text = read_digits(text, &whole, &digits);
        if (!text)
            return NULL;
    }
    if (*text == '.') {
        text = read_digits(text + 1, &part, &digits);
        if (!text)
            return NULL;
        for (int i = 0; i < digits; i++)
            *den *= 10;
    }
    *num = whole * *den + part;
    return text;
}

// "A/B" or a decimal, in lowest terms, both parts within 31 bits, A and B > 0.
static bool parse_ratio(const char *text, int32_t *num, int32_t *den) {
    int64_t a = 0, b = 1;
    int digits = 0;
    const char *rest = NULL;
    if (strchr(text, '/')) {
        rest = read_digits(text, &a, &digits);
        if (!rest || *rest != '/')
            return false;
        rest = read_digits(rest + 1, &b, &digits);
    } else {
        rest = read_decimal(text, &a, &b);
    }
    if (!rest || *rest || a <= 0 || b <= 0)
        return false;
    int64_t common = greatest_divisor(a, b);
    a /= common;
    b /= common;
    if (a > INT32_MAX || b > INT32_MAX)
        return false;
    *num = (int32_t)a;
    *den = (int32_t)b;
    return true;
}

// True if min <= num / den <= max, both in millionths. Fits: 2^31 * 10^9 < 2^62.
static bool ratio_within(int32_t num, int32_t den, int64_t min, int64_t max) {
    return num * INT64_C(1000000) >= min * den && num * INT64_C(1000000) <= max * den;
}

static bool parse_int(const char *text, int64_t min, int64_t max, int *out) {
    bool is_negative = *text == '-';
    int64_t value = 0;
    int digits = 0;
    const char *rest = read_digits(text + is_negative, &value, &digits);
    if (!rest || *rest)
        return false;
    if (is_negative)
        value = -value;
    if (value < min || value > max)
        return false;
    *out = (int)value;
    return true;
}

static bool parse_seed(const char *text, uint64_t *out) {
    uint64_t value = 0;
    if (!*text)
        return false;
    for (; *text; text++) {
        if (*text < '0' || *text > '9')
            return false;
        uint64_t digit = (uint64_t)(*text - '0');
        if (value > (UINT64_MAX - digit) / 10)
            return false;
        value = value * 10 + digit;
    }
    *out = value;
    return true;
}

static bool parse_real(const char *text, int64_t min, int64_t max, float *out) {
    int64_t num = 0, den = 1;
    const char *rest = read_decimal(text, &num, &den);
    if (!rest || *rest || num > INT64_MAX / 1000)
        return false;
    if (num * 1000 < min * den || num * 1000 > max * den)
        return false;
    *out = (float)((double)num / (double)den);
    return true;
}

static bool parse_fps(const char *text, const struct option_row *row, struct options *out) {
    // The broadcast rates are written short but mean 1001 denominators.
    static const struct {
        const char *text;
        int num;
    } broadcast[] = {
        {"23.976", 24000}, {"23.98", 24000}, {"29.97", 30000}, {"59.94", 60000}, {"119.88", 120000},
    };
    for (size_t i = 0; i < sizeof broadcast / sizeof broadcast[0]; i++) {
        if (strcmp(text, broadcast[i].text) == 0) {
            out->fps_num = broadcast[i].num;
            out->fps_den = 1001;
            return true;
        }
    }
    int32_t num = 0, den = 0;
    if (!parse_ratio(text, &num, &den) || !ratio_within(num, den, row->min, row->max))
        return false;
    out->fps_num = num;
    out->fps_den = den;
    return true;
}

static bool parse_size(const char *text, const struct option_row *row, struct options *out) {
    int64_t width = 0, height = 0;
    int digits = 0;
    const char *rest = read_digits(text, &width, &digits);
    if (!rest || (*rest != 'x' && *rest != 'X'))
        return false;
    rest = read_digits(rest + 1, &height, &digits);
    if (!rest || *rest)
        return false;
    if (width < row->min || width > row->max || height < row->min || height > row->max)
        return false;
    out->width_px = (int)width;
    out->height_px = (int)height;
    return true;
}

static bool parse_time(const char *text, int64_t min, int64_t max, int64_t *out) {
    static const struct {
        const char *name;
        int64_t ns;
    } units[] = {
        {"", 1000000000}, {"s", 1000000000}, {"ms", 1000000}, {"min", INT64_C(60000000000)}};
    int64_t num = 0, den = 1;
    const char *rest = read_decimal(text, &num, &den);
    for (size_t i = 0; rest && i < sizeof units / sizeof units[0]; i++) {
        if (strcmp(rest, units[i].name) != 0)
            continue;
        int64_t common = greatest_divisor(units[i].ns, den);
        int64_t scale = units[i].ns / common;
        // A fraction finer than a nanosecond is refused, not rounded.
        if (num % (den / common) != 0)
            return false;
        num /= den / common;
        if (num > max / scale)
            return false;
        *out = num * scale;
        return *out >= min;
    }
    return false;
}

static bool is_device(const char *text, int64_t max) {
    if (strcmp(text, "auto") == 0 || strcmp(text, "cpu") == 0 || strcmp(text, "cuda") == 0)
        return true;
    int index = 0;
    return strncmp(text, "cuda:", 5) == 0 && parse_int(text + 5, 0, max, &index) && text[5] != '-';
}

static bool parse_choice(const char *text, const struct option_row *row, void *field) {
    for (int i = 0; row->choices[i]; i++) {
        if (strcmp(text, row->choices[i]) == 0) {
            int value = (int)row->min + i;
            memcpy(field, &value, sizeof value);
            return true;
        }
    }
    return false;
}

// --- Rows ---

const struct option_row *options_rows(int *count) {
    *count = ROWS;
    return rows;
}

const char *options_command_name(enum command command) {
    return commands[command].name;
}

static int find_row(const char *name, size_t length) {
    for (int i = 0; i < ROWS; i++) {
        if (strlen(rows[i].name) == length && memcmp(rows[i].name, name, length) == 0)
            return i;
    }
    return -1;
}

// "measured|lesson", "WxH from 64 to 8192", ...: what a value may be.
static void describe_value(char *out, size_t bytes, const struct option_row *row) {
    switch (row->type) {
    case OPTION_CHOICE:
        out[0] = '\0';
        for (int i = 0; row->choices[i]; i++) {
            size_t used = strlen(out);
            snprintf(out + used, bytes - used, "%s%s", i ? "|" : "", row->choices[i]);
        }
        break;
    case OPTION_INT:
        snprintf(out, bytes, "a whole number from %lld to %lld", (long long)row->min,
                 (long long)row->max);
        break;
    case OPTION_SEED:
        snprintf(out, bytes, "a whole number from 0 to 18446744073709551615");
        break;
    case OPTION_REAL:
        snprintf(out, bytes, "a number from %g to %g", (double)row->min / 1e3,
                 (double)row->max / 1e3);
        break;
    case OPTION_RATE:
        snprintf(out, bytes, "a number or fraction from 1/1000000 to %lld, like 2, 0.5 or 1/200",
                 (long long)(row->max / 1000000));
        break;
    case OPTION_FPS:
        snprintf(out, bytes, "a rate from %lld to %lld, like 60, 29.97 or 30000/1001",
                 (long long)(row->min / 1000000), (long long)(row->max / 1000000));
        break;
    case OPTION_SIZE:
        snprintf(out, bytes, "WIDTHxHEIGHT, each from %lld to %lld, like 1920x1080",
                 (long long)row->min, (long long)row->max);
        break;
    case OPTION_TIME:
        snprintf(out, bytes, "a time up to %lld s%s, like 2s or 500ms",
                 (long long)(row->max / 1000000000), row->min > 0 ? ", not 0" : "");
        break;
    case OPTION_DEVICE:
        snprintf(out, bytes, "auto, cpu, cuda or cuda:N");
        break;
    case OPTION_FLAG:
    case OPTION_TEXT:
        snprintf(out, bytes, "a %s that is not empty", row->value ? row->value : "value");
        break;
    }
}

static bool store_value(struct options *options, const struct option_row *row, const char *value) {
    void *field = (char *)options + row->offset;
    switch (row->type) {
    case OPTION_FLAG:
        return false;
    case OPTION_TEXT:
        memcpy(field, &value, sizeof value);
        return *value != '\0';
    case OPTION_DEVICE:
        memcpy(field, &value, sizeof value);
        return is_device(value, row->max);
    case OPTION_CHOICE:
        return parse_choice(value, row, field);
    case OPTION_INT:
        return parse_int(value, row->min, row->max, field);
    case OPTION_SEED:
        return parse_seed(value, field);
    case OPTION_REAL:
        return parse_real(value, row->min, row->max, field);
    case OPTION_RATE: {
        struct playhead_rate *rate = field;
        return parse_ratio(value, &rate->num, &rate->den) &&
               ratio_within(rate->num, rate->den, row->min, row->max);
    }
    case OPTION_FPS:
        return parse_fps(value, row, options);
    case OPTION_SIZE:
        return parse_size(value, row, options);
    case OPTION_TIME:
        return parse_time(value, row->min, row->max, field);
    }
    return false;
}

// --- Suggestions ---

// Edit distance of two short names; longer ones count as far apart.
static int edit_distance(const char *a, size_t a_length, const char *b) {
    enum { MAX = 32 };
    size_t b_length = strlen(b);
    int row[MAX + 1];
    if (a_length > MAX || b_length > MAX)
        return MAX;
    for (size_t j = 0; j <= b_length; j++)
        row[j] = (int)j;
    for (size_t i = 1; i <= a_length; i++) {
        int diagonal = row[0];
        row[0] = (int)i;
        for (size_t j = 1; j <= b_length; j++) {
            int best = diagonal + (a[i - 1] != b[j - 1]);
            if (row[j] + 1 < best)
                best = row[j] + 1;
            if (row[j - 1] + 1 < best)
                best = row[j - 1] + 1;
            diagonal = row[j];
            row[j] = best;
        }
    }
    return row[b_length];
}

// Keeps `name` in *best when it is nearer than what is there.
static void keep_nearer(const char *text, size_t length, const char *name, const char **best,
                        int *best_distance) {
    int distance = edit_distance(text, length, name);
    // "--prompt-tok" has lost its end, not its way.
    if (length >= 3 && strncmp(name, text, length) == 0)
        distance = 1;
    if (distance < *best_distance) {
        *best_distance = distance;
        *best = name;
    }
}

static bool refuse_option(const char *name, size_t length, char *why) {
    const char *best = NULL;
    int distance = length < 5 ? 2 : 4;
    for (int i = 0; i < ROWS; i++)
        keep_nearer(name, length, rows[i].name, &best, &distance);
    keep_nearer(name, length, "help", &best, &distance);
    keep_nearer(name, length, "version", &best, &distance);
    if (best)
        return why_set(why, "there is no option --%.*s. Did you mean --%s?",
                       (int)(length > 60 ? 60 : length), name, best);
    return why_set(why, "there is no option --%.*s. tokendrip --help lists the options.",
                   (int)(length > 60 ? 60 : length), name);
}

static bool refuse_command(const char *name, char *why) {
    const char *best = NULL;
    int distance = 4;
    for (int i = 0; i < COMMAND_COUNT; i++)
        keep_nearer(name, strlen(name), commands[i].name, &best, &distance);
    if (best)
        return why_set(why, "there is no command \"%.60s\". Did you mean %s?", name, best);
    return why_set(why,
                   "there is no command \"%.60s\". The commands are play, record, measure, "
                   "describe, devices and inspect.",
                   name);
}

// --- Parsing ---

static void take_flag(struct parse *parse, int row) {
    bool value = rows[row].max != 0;
    memcpy((char *)parse->options + rows[row].offset, &value, sizeof value);
    parse->given[row] = true;
}

static bool take_value(struct parse *parse, int row, const char *value, char *why) {
    if (store_value(parse->options, &rows[row], value)) {
        parse->given[row] = true;
        return true;
    }
    char allowed[120];
    describe_value(allowed, sizeof allowed, &rows[row]);
    return why_set(why, "--%s takes %s, not \"%.40s\".", rows[row].name, allowed, value);
}

// argv[*at] is an option; moves *at past a separate value.
static bool take_option(struct parse *parse, int argc, char **argv, int *at, char *why) {
    const char *name = argv[*at] + 2;
    const char *equals = strchr(name, '=');
    size_t length = equals ? (size_t)(equals - name) : strlen(name);
    bool is_help = length == 4 && memcmp(name, "help", 4) == 0;
    bool is_version = length == 7 && memcmp(name, "version", 7) == 0;
    int row = find_row(name, length);
    if (row < 0 && !is_help && !is_version)
        return refuse_option(name, length, why);
    if (row < 0 || rows[row].type == OPTION_FLAG) {
        if (equals)
            return why_set(why, "--%.*s takes no value. Leave out \"%.40s\".", (int)length, name,
                           equals);
        parse->wants_help |= is_help;
        parse->wants_version |= is_version;
        if (row >= 0)
            take_flag(parse, row);
        return true;
    }
    if (equals)
        return take_value(parse, row, equals + 1, why);
    char allowed[120];
    describe_value(allowed, sizeof allowed, &rows[row]);
    if (*at + 1 >= argc)
        return why_set(why, "--%s needs a value: %s.", rows[row].name, allowed);
    const char *value = argv[*at + 1];
    if (value[0] == '-' && value[1] == '-')
        return why_set(why,
                       "--%s needs a value before %.40s. A value that starts with -- is "
                       "written --%s=VALUE.",
                       rows[row].name, value, rows[row].name);
    ++*at;
    return take_value(parse, row, value, why);
}

static bool take_operand(struct parse *parse, const char *text, char *why) {
    if (!parse->has_command) {
        for (int i = 0; i < COMMAND_COUNT; i++) {
            if (strcmp(text, commands[i].name) == 0) {
                parse->options->command = (enum command)i;
                parse->has_command = true;
                return true;
            }
        }
        return refuse_command(text, why);
    }
    if (parse->operand_count < 2)
        parse->operands[parse->operand_count] = text;
    parse->operand_count++;
    return true;
}

static bool take_arguments(struct parse *parse, int argc, char **argv, char *why) {
    bool only_operands = false;
    for (int i = 1; i < argc; i++) {
        const char *text = argv[i];
        if (!only_operands && strcmp(text, "--") == 0) {
            only_operands = true;
        } else if (!only_operands && strcmp(text, "-h") == 0) {
            parse->wants_help = true;
        } else if (!only_operands && text[0] == '-' && text[1] == '-') {
            if (!take_option(parse, argc, argv, &i, why))
                return false;
        } else if (!only_operands && text[0] == '-' && text[1]) {
            return why_set(why,
                           "there is no option %.40s. Options have two dashes; "
                           "tokendrip --help lists them.",
                           text);
        } else if (!take_operand(parse, text, why)) {
            return false;
        }
    }
    return true;
}

// --- What no single row can know ---

static bool check_commands(const struct parse *parse, char *why) {
    enum command command = parse->options->command;
    for (int i = 0; i < ROWS; i++) {
        if (!parse->given[i] || rows[i].commands & 1u << command)
            continue;
        char takers[80] = "";
        for (int c = 0; c < COMMAND_COUNT; c++) {
            size_t used = strlen(takers);
            if (rows[i].commands & 1u << c)
                snprintf(takers + used, sizeof takers - used, "%s%s", used ? ", " : "",
                         commands[c].name);
        }
        return why_set(why, "%s takes no --%s. It belongs to: %s.", commands[command].name,
                       rows[i].name, takers);
    }
    return true;
}

static bool check_operands(struct parse *parse, char *why) {
    enum command command = parse->options->command;
    bool wants_one = commands[command].operand != NULL;
    if (wants_one && parse->operand_count == 0)
        return why_set(why, "%s needs %s: tokendrip %s %s", commands[command].name,
                       commands[command].operand, commands[command].name,
                       commands[command].example);
    if (parse->operand_count > wants_one)
        return why_set(why, "%s takes %s, and \"%.60s\" is one too many.", commands[command].name,
                       wants_one ? "one name" : "no further word", parse->operands[wants_one]);
    parse->options->operand = parse->operands[0];
    if (wants_one && !parse->options->operand[0])
        return why_set(why, "%s needs a name that is not empty: tokendrip %s %s",
                       commands[command].name, commands[command].name, commands[command].example);
    return true;
}

static bool is_given(const struct parse *parse, const char *name) {
    return parse->given[find_row(name, strlen(name))];
}

static bool is_listed(const char *const *names, const char *name) {
    for (int i = 0; names[i]; i++) {
        if (strcmp(names[i], name) == 0)
            return true;
    }
    return false;
}

// --run and the lesson clock bring their own model, prompt and answer.
static bool check_sources(struct parse *parse, char *why) {
    struct options *options = parse->options;
    bool is_play = options->command == COMMAND_PLAY;
    if (is_given(parse, "schedule") && !is_given(parse, "clock"))
        options->clock = CLOCK_LESSON;
    // The window can swap clocks while it runs (key U); a film cannot.
    if (!is_play && is_given(parse, "schedule") && options->clock == CLOCK_MEASURED)
        return why_set(why, "--schedule belongs to --clock lesson. Leave one of them out.");
    if (!is_play && options->run_path && options->clock == CLOCK_LESSON)
        return why_set(why, "--run replays a saved run, and the lesson clock makes its own. "
                            "Leave one of them out.");
    for (int i = 0; measuring_options[i]; i++) {
        const char *name = measuring_options[i];
        if (!is_given(parse, name))
            continue;
        if (options->run_path)
            return why_set(why,
                           "--run replays a saved run, so there is no --%s to choose. Leave "
                           "one of them out.",
                           name);
        if (!is_play && options->clock == CLOCK_LESSON && !is_listed(lesson_options, name))
            return why_set(why,
                           "a lesson runs no model, so there is no --%s to choose. Leave it "
                           "out, or take --clock measured.",
                           name);
    }
    return true;
}

// Whether the command line says which clock, if only by something that a lesson has not.
static bool chooses_clock(const struct parse *parse) {
    if (is_given(parse, "clock") || is_given(parse, "schedule") || is_given(parse, "run"))
        return true;
    for (int i = 0; measuring_options[i]; i++) {
        const char *name = measuring_options[i];
        if (is_given(parse, name) && !is_listed(lesson_options, name))
            return true;
    }
    return false;
}

// The mode that the command line asks for, in the end.
static void choose_mode(struct parse *parse) {
    struct options *options = parse->options;
    options->is_mode_given = is_given(parse, "mode") || options->is_projector;
    if (is_given(parse, "mode"))
        return;
    if (options->is_projector)
        options->mode = MODE_SHOW;
    for (int i = MODE_OPTIONS - 1; i >= 0; i--) {
        if (!is_given(parse, mode_options[i].name))
            continue;
        options->mode = mode_options[i].mode;
        options->is_mode_given = true;
    }
}

// The window can swap modes while it runs (key Tab); a film cannot.
static bool check_mode(const struct parse *parse, char *why) {
    const struct options *options = parse->options;
    for (int i = 0; options->command == COMMAND_RECORD && i < MODE_OPTIONS; i++) {
        enum mode_choice mode = mode_options[i].mode;
        // Lab takes its words from the lesson, too.
        bool fits = mode == options->mode || (mode == MODE_LESSON && options->mode == MODE_LAB &&
                                              strcmp(mode_options[i].name, "lesson") == 0);
        if (is_given(parse, mode_options[i].name) && !fits)
            return why_set(why,
                           "--%s belongs to --mode %s, and this film is of --mode %s. Leave "
                           "one of them out.",
                           mode_options[i].name, mode_names[mode], mode_names[options->mode]);
    }
    return true;
}

static bool is_stdout(const char *path) {
    return path && strcmp(path, "-") == 0;
}

static bool check_pairs(const struct parse *parse, char *why) {
    const struct options *options = parse->options;
    if (options->shape && options->model_path)
        return why_set(why, "--shape makes its own weights and --model reads them from a file. "
                            "Leave one of them out.");
    if (options->prompt && options->prompt_file)
        return why_set(why, "--prompt and --prompt-file both give the prompt. Leave one of them "
                            "out.");
    if (options->lesson_path && is_given(parse, "lang"))
        return why_set(why, "--lesson is a file with its own language, and --lang picks one of "
                            "the program's lessons. Leave one of them out.");
    if (options->from_ns >= 0 && options->to_ns >= 0 && options->from_ns >= options->to_ns)
        return why_set(why, "--from must lie before --to. Swap them, or leave one out.");
    int to_stdout =
        is_stdout(options->json_path) + is_stdout(options->csv_path) + options->text_only;
    if (to_stdout > 1)
        return why_set(why, "only one of --json -, --csv - and --text can have standard output. "
                            "Give the others a file.");
    if (is_stdout(options->save_path))
        return why_set(why, "--save needs a file name: --save run.json");
    return true;
}

static bool finish(struct parse *parse, char *why) {
    struct options *options = parse->options;
    options->is_theme_given = is_given(parse, "theme");
    if (options->is_projector && !options->is_theme_given)
        options->theme = THEME_PROJECTOR;
    options->is_clock_given = chooses_clock(parse);
    options->is_text_step_given = is_given(parse, "text-step");
    choose_mode(parse);
    return check_commands(parse, why) && check_operands(parse, why) && check_sources(parse, why) &&
           check_mode(parse, why) && check_pairs(parse, why);
}

// `tokendrip help record` and `tokendrip record --help` alike.
static bool finish_help(struct parse *parse, char *why) {
    struct options *options = parse->options;
    options->help_for = parse->has_command ? options->command : COMMAND_HELP;
    if (options->command == COMMAND_HELP && parse->operand_count > 0) {
        parse->has_command = false;
        if (!take_operand(parse, parse->operands[0], why))
            return false;
        options->help_for = options->command;
    }
    options->command = COMMAND_HELP;
    return true;
}

bool options_parse(struct options *out, int argc, char **argv, char why[256]) {
    *out = (struct options){
        .command = COMMAND_PLAY,
        .help_for = COMMAND_PLAY,
        .device = "auto",
        .seed = 1,
        .top_p_unit = 1.0f,
        .schedule = "module-7",
        .language = "en",
        .theme = THEME_DARK,
        .display = -1,
        .rate = {0, 1},
        .from_ns = -1,
        .to_ns = -1,
    };
    struct parse parse = {.options = out};
    if (!take_arguments(&parse, argc, argv, why))
        return false;
    if (parse.wants_help || out->command == COMMAND_HELP)
        return finish_help(&parse, why);
    if (parse.wants_version)
        out->command = COMMAND_VERSION;
    if (out->command == COMMAND_VERSION)
        return true;
    return finish(&parse, why);
}

// --- Help ---

static void print_row(FILE *out, const struct option_row *row) {
    char left[80] = "", names[64] = "";
    if (row->type == OPTION_CHOICE)
        describe_value(names, sizeof names, row);
    else if (row->value)
        snprintf(names, sizeof names, "%s", row->value);
    snprintf(left, sizeof left, "--%s%s%s", row->name, names[0] ? " " : "", names);
    fprintf(out, "  %-*s  %s", NAME_COLUMNS, left, row->help);
    if (row->type == OPTION_INT)
        fprintf(out, " (%lld..%lld)", (long long)row->min, (long long)row->max);
    fputc('\n', out);
}

static void print_program(FILE *out) {
    fprintf(out, "Usage: tokendrip [COMMAND] [OPTION]...\n"
                 "Shows how a language model answers, driven by really measured times.\n"
                 "Commands (tokendrip COMMAND --help lists the options of each):\n");
    for (int i = 0; i < COMMAND_COUNT; i++) {
        char left[32];
        if (!commands[i].help)
            continue;
        snprintf(left, sizeof left, "%s%s%s", commands[i].name, commands[i].operand ? " " : "",
                 commands[i].operand ? commands[i].operand : "");
        fprintf(out, "  %-*s  %s\n", 14, left, commands[i].help);
    }
    fprintf(out, "Options of the window, the most used (tokendrip play --help lists all):\n");
}

static void print_usage(FILE *out, enum command command) {
    bool has_operand = commands[command].operand != NULL;
    fprintf(out, "Usage: tokendrip %s%s%s [OPTION]...\n", commands[command].name,
            has_operand ? " " : "", has_operand ? commands[command].operand : "");
    fprintf(out, "%c%s.\n", commands[command].help[0] - 'a' + 'A', commands[command].help + 1);
    if (command == COMMAND_RECORD)
        fprintf(out,
                "OUT ends in .mp4, .webm, .gif, .y4m or .png; a folder gets a still an event;\n"
                "- writes Y4M to standard output.\n");
}

void options_print_help(FILE *out, enum command command) {
    bool is_whole = command == COMMAND_HELP || command == COMMAND_VERSION;
    unsigned wanted = is_whole ? OPTION_COMMON : 1u << command;
    if (is_whole)
        print_program(out);
    else
        print_usage(out, command);
    for (int i = 0; i < ROWS; i++) {
        if (rows[i].commands & wanted)
            print_row(out, &rows[i]);
    }
    fprintf(out, "  %-*s  this text\n", NAME_COLUMNS, "--help");
    if (is_whole)
        fprintf(out, "  %-*s  version, and what is built in\n", NAME_COLUMNS, "--version");
}
