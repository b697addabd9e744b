// The command line: every row of the option table keeps its own promises (range
// ends, refusals, commands, help), and what no row can know is checked by name.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "app/options/options.h"
#include "compute/base/why.h"
#include "compute/measure/generate.h"
#include "compute/measure/measure.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_ARGS = 12 };

// Parses "record out.mp4 --fps 60": words parted by one space.
static bool parse_line(struct options *out, struct why *why, const char *line) {
    // The options point into the words, so they stay until the next call.
    static char words[512];
    char *argv[MAX_ARGS + 1] = {(char *)"tokendrip"};
    int argc = 1;
    snprintf(words, sizeof words, "%s", line);
    for (char *word = strtok(words, " "); word && argc < MAX_ARGS; word = strtok(NULL, " "))
        argv[argc++] = word;
    why->text[0] = '\0';
    return options_parse(out, argc, argv, why);
}

// A command that takes the row, with what else it needs; `value` may hold spaces.
static bool parse_row(struct options *out, struct why *why, const struct option_row *row,
                      const char *value, bool separate) {
    static char joined[256], dashed[64];
    char *argv[MAX_ARGS] = {(char *)"tokendrip"};
    int argc = 1;
    enum command command = COMMAND_PLAY;
    while (!(row->commands & 1u << command))
        command++;
    argv[argc++] = (char *)(uintptr_t)options_table.commands[command].name;
    if (command == COMMAND_RECORD || command == COMMAND_INSPECT)
        argv[argc++] = (char *)"out.mp4";
    snprintf(dashed, sizeof dashed, "--%s", row->name);
    snprintf(joined, sizeof joined, "--%s=%s", row->name, value ? value : "");
    argv[argc++] = value && !separate ? joined : dashed;
    if (value && separate)
        argv[argc++] = (char *)(uintptr_t)value;
    why->text[0] = '\0';
    return options_parse(out, argc, argv, why);
}

static void assert_refused(const struct option_row *row, const char *value, const char *hint) {
    struct options options;
    struct why why;
    if (parse_row(&options, &why, row, value, false))
        fail_msg("--%s=%s was taken", row->name, value);
    if (!strstr(why.text, row->name) || !strstr(why.text, hint) || strchr(why.text, '\n'))
        fail_msg("--%s=%s: \"%s\" does not say %s", row->name, value, why.text, hint);
}

static void assert_taken(struct options *out, const struct option_row *row, const char *value) {
    struct why why;
    if (!parse_row(out, &why, row, value, false))
        fail_msg("--%s=%s was refused: %s", row->name, value, why.text);
    struct options separate;
    if (!parse_row(&separate, &why, row, value, true))
        fail_msg("--%s %s was refused: %s", row->name, value, why.text);
}

static const void *field(const struct options *options, const struct option_row *row) {
    return (const char *)options + row->offset;
}

// --- A check for each type ---

static void check_int(const struct option_row *row) {
    struct options options;
    char text[32], hint[32];
    for (int64_t value = row->min;; value = row->max) {
        snprintf(text, sizeof text, "%lld", (long long)value);
        assert_taken(&options, row, text);
        assert_int_equal(*(const int *)field(&options, row), value);
        if (value == row->max)
            break;
    }
    snprintf(hint, sizeof hint, "from %lld to %lld", (long long)row->min, (long long)row->max);
    snprintf(text, sizeof text, "%lld", (long long)row->min - 1);
    assert_refused(row, text, hint);
    snprintf(text, sizeof text, "%lld", (long long)row->max + 1);
    assert_refused(row, text, hint);
    static const char *const bad[] = {"", "x", "1x", "1.5", "+1", " 1", "0x10", "4294967297", "-"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        assert_refused(row, bad[i], hint);
}

static void check_seed(const struct option_row *row) {
    struct options options;
    assert_taken(&options, row, "0");
    assert_true(options.request.seed == 0);
    assert_taken(&options, row, "18446744073709551615");
    assert_true(options.request.seed == UINT64_MAX);
    static const char *const bad[] = {"18446744073709551616", "99999999999999999999", "-1", "",
                                      "a"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        assert_refused(row, bad[i], "18446744073709551615");
}

static void check_real(const struct option_row *row) {
    struct options options;
    char text[32];
    for (int64_t value = row->min;; value = row->max) {
        snprintf(text, sizeof text, "%.3f", (double)value / 1000);
        assert_taken(&options, row, text);
        assert_true(fabs(*(const float *)field(&options, row) - (double)value / 1000) < 1e-6);
        if (value == row->max)
            break;
    }
    snprintf(text, sizeof text, "%.3f", (double)row->max / 1000 + 0.001);
    assert_refused(row, text, "a number from");
    static const char *const bad[] = {"", "x", "-0.1", "1e0", "nan", "inf", "0.5x", "1,5"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        assert_refused(row, bad[i], "a number from");
}

static void check_rate(const struct option_row *row) {
    static const struct {
        const char *text;
        int num, den;
    } good[] = {{"1", 1, 1},
                {"2", 2, 1},
                {"0.5", 1, 2},
                {"1/200", 1, 200},
                {"0.005", 1, 200},
                {"2/400", 1, 200},
                {".25", 1, 4},
                {"1.25", 5, 4},
                {"1/1000000", 1, 1000000},
                {"0.000001", 1, 1000000},
                {"1000", 1000, 1}};
    struct options options;
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        assert_taken(&options, row, good[i].text);
        assert_int_equal(options.rate.num, good[i].num);
        assert_int_equal(options.rate.den, good[i].den);
    }
    static const char *const bad[] = {"0",         "1/0",   "0/1",       "-1",           "",
                                      "x",         "1/2/3", "1001",      "1000.1",       "1.",
                                      "/2",        "1/",    "1/1000001", "1000000000/1", "1x",
                                      "0.0000009", "1 /2"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        assert_refused(row, bad[i], "1/200");
}

static void check_fps(const struct option_row *row) {
    static const struct {
        const char *text;
        int num, den;
    } good[] = {{"60", 60, 1},
                {"1", 1, 1},
                {"240", 240, 1},
                {"29.97", 30000, 1001},
                {"23.976", 24000, 1001},
                {"59.94", 60000, 1001},
                {"30000/1001", 30000, 1001},
                {"12.5", 25, 2},
                {"120/2", 60, 1}};
    struct options options;
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        assert_taken(&options, row, good[i].text);
        assert_int_equal(options.fps_num, good[i].num);
        assert_int_equal(options.fps_den, good[i].den);
    }
    static const char *const bad[] = {"0", "0.99", "240.1", "241", "", "x", "-60", "60fps", "1/2"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        assert_refused(row, bad[i], "29.97");
}

static void check_size(const struct option_row *row) {
    struct options options;
    assert_taken(&options, row, "64x64");
    assert_int_equal(options.width_px, 64);
    assert_taken(&options, row, "8192x8192");
    assert_int_equal(options.height_px, 8192);
    assert_taken(&options, row, "1920X1080");
    assert_int_equal(options.width_px, 1920);
    assert_int_equal(options.height_px, 1080);
    static const char *const bad[] = {"63x64", "64x63",     "8193x64",     "64x8193",       "1920",
                                      "x",     "1920x",     "x1080",       "1920x1080x3",   "",
                                      "-1x64", "1920*1080", "20000x20000", "99999999999x64"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        assert_refused(row, bad[i], "1920x1080");
}

static void check_time(const struct option_row *row) {
    static const struct {
        const char *text;
        int64_t ns;
    } good[] = {{"2s", 2000000000},         {"500ms", 500000000},    {"1.5s", 1500000000},
                {"3", 3000000000},          {"0.000000001s", 1},     {"0.000001ms", 1},
                {"1min", 60000000000},      {"0.5min", 30000000000}, {"1440min", 86400000000000},
                {"86400s", 86400000000000}, {"0.1ms", 100000},       {"1.000000001s", 1000000001}};
    struct options options;
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        assert_taken(&options, row, good[i].text);
        if (*(const int64_t *)field(&options, row) != good[i].ns)
            fail_msg("%s gave %lld", good[i].text,
                     (long long)*(const int64_t *)field(&options, row));
    }
    if (row->min == 0)
        assert_taken(&options, row, "0");
    else
        assert_refused(row, "0", "a time from ");
    static const char *const bad[] = {"86400.1s", "1441min", "-1s",  "",           "s",
                                      "2sec",     "2 s",     "1:30", "999999999s", "0.0000001ms"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        assert_refused(row, bad[i], "a time from ");
}

static void check_choice(const struct option_row *row) {
    struct options options;
    for (int i = 0; row->choices[i]; i++) {
        assert_taken(&options, row, row->choices[i]);
        assert_int_equal(*(const int *)field(&options, row), row->min + i);
        assert_refused(row, "other", row->choices[i]);
    }
    assert_refused(row, "", row->choices[0]);
}

static void check_device(const struct option_row *row) {
    static const char *const good[] = {"auto", "cpu", "cuda", "cuda:0", "cuda:63"};
    static const char *const bad[] = {"", "gpu", "cuda:", "cuda:64", "cuda:-1", "cuda:x", "CPU"};
    struct options options;
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        assert_taken(&options, row, good[i]);
        assert_string_equal(options.request.device, good[i]);
    }
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        assert_refused(row, bad[i], "cpu");
}

static void check_chat(const struct option_row *row) {
    static const char *const good[] = {"auto", "none", "chatml", "llama3", "mistral-v7-tekken"};
    static const char *const bad[] = {"", "Auto", "chat", "mistral"};
    struct options options;
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        assert_taken(&options, row, good[i]);
        assert_string_equal(options.request.chat, good[i]);
    }
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        assert_refused(row, bad[i], "auto, none, chatml, llama3, gemma");
}

static void check_text(const struct option_row *row) {
    struct options options;
    if (strcmp(row->name, "chat") == 0) {
        check_chat(row);
        return;
    }
    if (row->accepts) {
        check_device(row);
        return;
    }
    assert_taken(&options, row, "some text, = and --dashes");
    assert_string_equal(*(const char *const *)field(&options, row), "some text, = and --dashes");
    assert_refused(row, "", "not empty");
}

static void check_flag(const struct option_row *row) {
    struct options options;
    struct why why;
    assert_true(parse_row(&options, &why, row, NULL, true));
    assert_int_equal(*(const bool *)field(&options, row), true);
    assert_false(parse_row(&options, &why, row, "yes", false));
    assert_non_null(strstr(why.text, "takes no value"));
    // Without it, the other way round.
    assert_true(parse_line(&options, &why, ""));
    assert_int_equal(*(const bool *)field(&options, row), false);
}

static void every_row_takes_its_range_and_refuses_the_rest(void **state) {
    static void (*const checks[])(const struct option_row *) = {
        [OPTION_FLAG] = check_flag, [OPTION_TEXT] = check_text, [OPTION_CHOICE] = check_choice,
        [OPTION_INT] = check_int,   [OPTION_SEED] = check_seed, [OPTION_REAL] = check_real,
        [OPTION_RATE] = check_rate, [OPTION_FPS] = check_fps,   [OPTION_SIZE] = check_size,
        [OPTION_TIME] = check_time,
    };
    (void)state;
    const struct option_row *rows = options_table.rows;
    int count = options_table.row_count;
    assert_true(count > 20);
    for (int i = 0; i < count; i++)
        checks[rows[i].type](&rows[i]);
}

static void a_row_without_its_value_is_refused(void **state) {
    (void)state;
    const struct option_row *rows = options_table.rows;
    int count = options_table.row_count;
    struct options options;
    struct why why;
    char line[128];
    for (int i = 0; i < count; i++) {
        if (rows[i].type == OPTION_FLAG)
            continue;
        assert_false(parse_row(&options, &why, &rows[i], NULL, true));
        assert_non_null(strstr(why.text, "needs a value"));
        // An option that follows is not its value.
        snprintf(line, sizeof line, "record x.mp4 --%s --theme dark", rows[i].name);
        assert_false(parse_line(&options, &why, line));
        assert_non_null(strstr(why.text, "needs a value before --theme"));
    }
}

static void a_row_is_refused_by_commands_that_do_not_take_it(void **state) {
    (void)state;
    const struct option_row *rows = options_table.rows;
    int count = options_table.row_count;
    static const char *const values[] = {
        [OPTION_TEXT] = "x",       [OPTION_INT] = "2",    [OPTION_SEED] = "1",
        [OPTION_REAL] = "0.5",     [OPTION_RATE] = "1/2", [OPTION_FPS] = "30",
        [OPTION_SIZE] = "640x480", [OPTION_TIME] = "2s",  [OPTION_FLAG] = "",
    };
    for (int i = 0; i < count; i++) {
        for (int command = COMMAND_PLAY; command <= COMMAND_INSPECT; command++) {
            struct options options;
            struct why why;
            char line[128], value[32], says[64];
            const char *some = rows[i].choices   ? rows[i].choices[0]
                               : rows[i].accepts ? "auto"
                                                 : values[rows[i].type];
            snprintf(value, sizeof value, "%s%s", some[0] ? " " : "", some);
            snprintf(line, sizeof line, "%s --%s%s%s", options_table.commands[command].name,
                     rows[i].name, value,
                     command == COMMAND_RECORD || command == COMMAND_INSPECT ? " out.mp4" : "");
            bool taken = parse_line(&options, &why, line);
            snprintf(says, sizeof says, "%s takes no --%s", options_table.commands[command].name,
                     rows[i].name);
            if (rows[i].commands & 1u << command)
                assert_null(strstr(why.text, "takes no --"));
            else if (taken || !strstr(why.text, says))
                fail_msg("%s: \"%s\"", line, why.text);
        }
    }
}

static void rows_have_names_and_fields_of_their_own_and_help(void **state) {
    (void)state;
    const struct option_row *rows = options_table.rows;
    int count = options_table.row_count;
    for (int i = 0; i < count; i++) {
        assert_true(rows[i].help && rows[i].help[0]);
        assert_true((rows[i].value || rows[i].choices) == (rows[i].type != OPTION_FLAG));
        for (int j = 0; j < i; j++) {
            assert_string_not_equal(rows[i].name, rows[j].name);
            assert_int_not_equal(rows[i].offset, rows[j].offset);
        }
    }
}

static char *help_text(enum command command);

static bool is_numeric(const struct option_row *row) {
    return row->type == OPTION_INT || row->type == OPTION_REAL || row->type == OPTION_RATE ||
           row->type == OPTION_FPS || row->type == OPTION_SIZE || row->type == OPTION_TIME;
}

// The ends that help names are taken, and what lies beyond them is refused.
static void help_names_the_range_that_is_taken(void **state) {
    (void)state;
    int seen = 0;
    for (int i = 0; i < options_table.row_count; i++) {
        const struct option_row *row = &options_table.rows[i];
        if (!is_numeric(row))
            continue;
        enum command command = 0;
        while (!(row->commands & 1u << command))
            command++;
        char *help = help_text(command), name[64], low[64], high[64], value[160];
        snprintf(name, sizeof name, "  --%s ", row->name);
        const char *line = strstr(help, name);
        const char *dots = line ? strstr(line, "..") : NULL;
        if (!dots || dots > strchr(line, '\n'))
            fail_msg("--%s: no range in its help", row->name);
        const char *range = dots;
        while (*range != '(')
            range--;
        snprintf(low, sizeof low, "%.*s", (int)(dots - range) - 1, range + 1);
        double least = strtod(low, NULL), most = strtod(dots + 2, NULL);
        bool is_size = row->type == OPTION_SIZE;
        struct options options;
        snprintf(low, sizeof low, "%.9f", least);
        snprintf(high, sizeof high, "%.9f", most);
        if (row->type == OPTION_INT || is_size) {
            snprintf(low, sizeof low, "%.0f", least);
            snprintf(high, sizeof high, "%.0f", most);
        }
        snprintf(value, sizeof value, is_size ? "%sx%s" : "%s", low, low);
        assert_taken(&options, row, value);
        snprintf(value, sizeof value, is_size ? "%sx%s" : "%s", high, high);
        assert_taken(&options, row, value);
        snprintf(high, sizeof high, "%.0f", most + 1);
        snprintf(value, sizeof value, is_size ? "%sx%s" : "%s", high, high);
        assert_refused(row, value, "");
        free(help);
        seen++;
    }
    assert_true(seen >= 14);
}

// What the parser lets through the engine takes, and what it does not the engine refuses.
static void the_engine_has_the_same_ranges(void **state) {
    static const int32_t prompt[] = {1};
    struct why why;
    (void)state;
    struct generate generate = {
        .prompt = prompt, .prompt_count = 1, .vocab = 2, .context = 8, .answer_limit = 1};
    const struct option_row *hot = argparse_row(&options_table, "temperature");
    const struct option_row *top = argparse_row(&options_table, "top-p");
    for (int i = 0; i < 2; i++) {
        generate.sampler = (struct sampler){(float)(i ? hot->max : 1) / 1000,
                                            (float)(i ? top->max : top->min) / 1000, 1, 0};
        assert_true(generate_check(&generate, &why));
    }
    generate.sampler.temperature = (float)(hot->max + 1) / 1000;
    assert_false(generate_check(&generate, &why));
    generate.sampler = (struct sampler){1, (float)top->min / 2000, 1, 0};
    assert_false(generate_check(&generate, &why));
    generate.sampler = (struct sampler){1, 1.001f, 1, 0};
    assert_false(generate_check(&generate, &why));
    assert_int_equal(argparse_row(&options_table, "threads")->max, BACKEND_MAX_THREADS);
    assert_int_equal(argparse_row(&options_table, "repeats")->max, MEASURE_MAX_REPEATS);
    assert_int_equal(argparse_row(&options_table, "prompt-tokens")->max, RUN_MAX_TOKENS - 1);
    assert_int_equal(argparse_row(&options_table, "answer-tokens")->max, RUN_MAX_TOKENS - 1);
}

static char *help_text(enum command command) {
    char *text = NULL;
    size_t bytes = 0;
    FILE *out = open_memstream(&text, &bytes);
    options_print_help(out, command);
    fclose(out);
    return text;
}

static void assert_fits_a_screen(const char *text) {
    int lines = 0, columns = 0, widest = 0;
    for (const char *c = text; *c; c++) {
        columns = *c == '\n' ? 0 : columns + 1;
        widest = columns > widest ? columns : widest;
        lines += *c == '\n';
    }
    assert_in_range(lines, 1, 40);
    assert_in_range(widest, 1, 80);
}

// True if the row has its line.
static bool shows(const char *text, const struct option_row *row) {
    char dashed[64];
    snprintf(dashed, sizeof dashed, "\n  --%s ", row->name);
    return strstr(text, dashed) && strstr(text, row->help);
}

static void help_of_a_command_shows_its_rows_and_fits_a_screen(void **state) {
    (void)state;
    const struct option_row *rows = options_table.rows;
    int count = options_table.row_count;
    for (int command = COMMAND_PLAY; command <= COMMAND_INSPECT; command++) {
        char *text = help_text((enum command)command);
        assert_fits_a_screen(text);
        for (int i = 0; i < count; i++)
            assert_int_equal(shows(text, &rows[i]), (rows[i].commands >> command & 1u) != 0);
        free(text);
    }
}

static void help_of_the_program_shows_commands_and_common_rows(void **state) {
    (void)state;
    const struct option_row *rows = options_table.rows;
    int count = options_table.row_count, common = 0;
    char *whole = help_text(COMMAND_HELP);
    assert_fits_a_screen(whole);
    for (int command = COMMAND_PLAY; command <= COMMAND_INSPECT; command++)
        assert_non_null(strstr(whole, options_table.commands[command].name));
    for (int i = 0; i < count; i++) {
        bool is_common = (rows[i].commands & OPTION_COMMON) != 0;
        assert_int_equal(shows(whole, &rows[i]), is_common);
        // They are of the window: what stands there must work without a command.
        assert_true(!is_common || rows[i].commands & 1u << COMMAND_PLAY);
        common += is_common;
    }
    assert_in_range(common, 10, 25);
    // Where the others are.
    assert_non_null(strstr(whole, "tokendrip play --help"));
    assert_non_null(strstr(whole, "\n  --version "));
    free(whole);
}

static void defaults_are_the_documented_ones(void **state) {
    (void)state;
    struct options o;
    struct why why;
    assert_true(parse_line(&o, &why, ""));
    assert_int_equal(o.command, COMMAND_PLAY);
    assert_string_equal(o.request.device, "auto");
    assert_null(o.request.model_path);
    assert_int_equal(o.request.prompt_tokens, 0);
    assert_int_equal(o.request.clock, CLOCK_MEASURED);
    assert_string_equal(o.request.schedule, "module-7");
    assert_int_equal(o.request.counting, COUNTING_DEFAULT);
    assert_int_equal(o.theme, THEME_DARK);
    assert_int_equal(o.display, -1);
    assert_int_equal(o.rate.num, 0);
    assert_int_equal(o.from_ns, -1);
    assert_int_equal(o.to_ns, -1);
    assert_int_equal(o.width_px, 0);
    assert_true(o.request.top_p_unit == 1.0f && o.request.temperature == 0.0f);
    assert_int_equal(o.mode, MODE_STAGE);
    assert_string_equal(o.language, "en");
    assert_null(o.lesson_path);
    assert_null(o.compare_path);
    assert_int_equal(o.chapter, 0);
    assert_int_equal(o.page, 0);
    assert_false(o.is_theme_given || o.is_mode_given || o.is_clock_given || o.is_text_step_given);
}

static void what_contradicts_or_lacks_something_is_refused(void **state) {
    static const struct {
        const char *line, *says;
    } cases[] = {
        {"recrod", "Did you mean record?"},
        {"xyzzy", "The commands are play, record"},
        {"record", "record needs OUT"},
        {"inspect", "inspect needs FILE"},
        {"record a.mp4 b.mp4", "\"b.mp4\" is one too many"},
        {"measure x", "\"x\" is one too many"},
        {"--promt x", "Did you mean --prompt?"},
        {"--prompt-tok 3", "Did you mean --prompt-tokens?"},
        {"--zzzzzz", "tokendrip --help"},
        {"-v", "two dashes"},
        {"--help=yes", "--help takes no value"},
        {"--run r.json --model m.gguf", "no --model to choose"},
        {"--run r.json --shape llama-3-8b", "no --shape to choose"},
        {"describe --clock lesson --weights f16", "no --weights to choose"},
        {"measure --shape llama-3-8b --model m.gguf", "--shape makes its own weights"},
        {"describe --run r.json --threads 2", "no --threads to choose"},
        {"describe --run r.json --clock lesson", "Leave one of them out"},
        {"describe --clock lesson --model m.gguf", "no --model to choose"},
        {"describe --schedule stage-0 --prompt x", "no --prompt to choose"},
        {"record a.mp4 --schedule stage-0 --clock measured", "--schedule belongs to"},
        {"record a.mp4 --from 3s --to 500ms", "--from must lie before --to"},
        {"record a.mp4 --from 2s --to 2s", "--from must lie before --to"},
        {"measure --prompt a --prompt-file b", "Leave one of them out"},
        {"measure --json - --csv -", "standard output"},
        {"measure --text --json -", "standard output"},
        {"measure --save -", "--save run.json"},
        {"help recrod", "Did you mean record?"},
        {"--lesson own.json --lang de", "Leave one of them out"},
        {"describe --lesson own.json --lang en", "Leave one of them out"},
        {"record a.mp4 --chapter 2 --mode lab", "--chapter belongs to --mode lesson"},
        {"--display 0", "--display"},
        {"record a.mp4 --page 2 --mode lesson", "--page belongs to --mode lab"},
        {"record a.mp4 --page 2 --chapter 2", "--page belongs to --mode lab"},
        {"record a.mp4 --compare r.json --mode stage", "--compare belongs to --mode lab"},
        {"record a.mp4 --lesson own.json --mode show", "--lesson belongs to --mode lesson"},
        {"record a.mp4 --fresh", "record takes no --fresh"},
        {"record a.mp4 --describe", "record takes no --describe"},
        {"--sweep", "It belongs to: measure"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct options options;
        struct why why;
        if (parse_line(&options, &why, cases[i].line))
            fail_msg("taken: %s", cases[i].line);
        if (!strstr(why.text, cases[i].says) || strchr(why.text, '\n'))
            fail_msg("%s: \"%s\"", cases[i].line, why.text);
    }
}

static void what_goes_together_is_taken(void **state) {
    (void)state;
    struct options o;
    struct why why;
    assert_true(parse_line(&o, &why, "record out.mp4 --clock lesson --prompt-tokens 5"));
    assert_int_equal(o.command, COMMAND_RECORD);
    assert_string_equal(o.operand, "out.mp4");
    assert_true(parse_line(&o, &why, "--theme dark record --size 640x480 -"));
    assert_string_equal(o.operand, "-");
    assert_true(parse_line(&o, &why, "record -- --odd-name.mp4"));
    assert_string_equal(o.operand, "--odd-name.mp4");
    assert_true(parse_line(&o, &why, "describe --schedule stage-0"));
    assert_int_equal(o.request.clock, CLOCK_LESSON);
    assert_true(parse_line(&o, &why, "--clock measured --schedule stage-0 --model m.gguf"));
    assert_int_equal(o.request.clock, CLOCK_MEASURED);
    assert_true(parse_line(&o, &why, "measure --json - --csv f.csv --save r.json"));
    assert_true(parse_line(&o, &why, "record a.mp4 --calm --lang de --chapter 2"));
    assert_true(o.is_calm && o.chapter == 2);
    assert_string_equal(o.language, "de");
    assert_true(parse_line(&o, &why, "record a.mp4 --compare r.json --page 3"));
    assert_true(o.page == 3);
    assert_string_equal(o.compare_path, "r.json");
    assert_true(parse_line(&o, &why, "--describe --fresh --calm --lesson own.json"));
    assert_true(o.is_describing && o.is_fresh && o.is_calm);
    assert_string_equal(o.lesson_path, "own.json");
    assert_true(parse_line(&o, &why, "describe --lesson own.json --clock lesson"));
    assert_true(parse_line(&o, &why, "measure --sweep --observer --json - --save r.json"));
    assert_true(o.is_sweep && o.is_overhead);
    assert_true(parse_line(&o, &why, "--seed 3 --seed 4"));
    assert_true(o.request.seed == 4);
}

static void a_projector_brings_its_theme_and_mode_unless_told_otherwise(void **state) {
    (void)state;
    struct options o;
    struct why why;
    assert_true(parse_line(&o, &why, "--projector"));
    assert_int_equal(o.theme, THEME_PROJECTOR);
    assert_int_equal(o.mode, MODE_SHOW);
    assert_false(o.is_theme_given);
    assert_true(parse_line(&o, &why, "--theme contrast --mode stage --projector"));
    assert_int_equal(o.theme, THEME_CONTRAST);
    assert_int_equal(o.mode, MODE_STAGE);
    assert_true(o.is_theme_given);
}

static void an_option_of_one_mode_chooses_it(void **state) {
    static const struct {
        const char *line;
        enum mode_choice mode;
        bool is_given;
    } cases[] = {
        {"", MODE_STAGE, false},
        {"--theme dark --calm --lang de", MODE_STAGE, false},
        {"--mode stage", MODE_STAGE, true},
        {"--mode lab", MODE_LAB, true},
        {"--projector", MODE_SHOW, true},
        {"--chapter 3", MODE_LESSON, true},
        {"--lesson own.json", MODE_LESSON, true},
        {"--page 2", MODE_LAB, true},
        {"--compare r.json", MODE_LAB, true},
        {"--compare r.json --chapter 1", MODE_LESSON, true},
        {"--projector --chapter 3", MODE_LESSON, true},
        // The window can go to the chapter later.
        {"--mode show --chapter 3", MODE_SHOW, true},
        {"record a.mp4 --chapter 3", MODE_LESSON, true},
        {"record a.mp4 --page 3 --compare r.json", MODE_LAB, true},
        {"record a.mp4 --mode lab --lesson own.json", MODE_LAB, true},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct options o;
        struct why why;
        if (!parse_line(&o, &why, cases[i].line))
            fail_msg("%s: %s", cases[i].line, why.text);
        if (o.mode != cases[i].mode || o.is_mode_given != cases[i].is_given)
            fail_msg("\"%s\" gives mode %d, given %d", cases[i].line, o.mode, o.is_mode_given);
    }
}

static void what_says_which_clock_counts_as_given(void **state) {
    static const struct {
        const char *line;
        bool is_given;
    } cases[] = {
        {"", false},
        {"--clock measured", true},
        {"--clock lesson", true},
        {"--schedule stage-0", true},
        {"--run r.json", true},
        {"--prompt x", true},
        {"--device cpu", true},
        // Both clocks have lengths.
        {"--prompt-tokens 5 --answer-tokens 3", false},
        {"--theme dark --mode lab", false},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct options o;
        struct why why;
        assert_true(parse_line(&o, &why, cases[i].line));
        if (o.is_clock_given != cases[i].is_given)
            fail_msg("\"%s\"", cases[i].line);
    }
    struct options o;
    struct why why;
    assert_true(parse_line(&o, &why, "--text-step 0"));
    assert_true(o.is_text_step_given);
}

static void help_and_version_win_over_what_is_missing(void **state) {
    static const struct {
        const char *line;
        enum command command, help_for;
    } cases[] = {
        {"--help", COMMAND_HELP, COMMAND_HELP},
        {"-h", COMMAND_HELP, COMMAND_HELP},
        {"help", COMMAND_HELP, COMMAND_HELP},
        {"help help", COMMAND_HELP, COMMAND_HELP},
        {"play --help", COMMAND_HELP, COMMAND_PLAY},
        {"help play", COMMAND_HELP, COMMAND_PLAY},
        {"record --help", COMMAND_HELP, COMMAND_RECORD},
        {"--help measure", COMMAND_HELP, COMMAND_MEASURE},
        {"help inspect", COMMAND_HELP, COMMAND_INSPECT},
        {"--version", COMMAND_VERSION, COMMAND_PLAY},
        {"record --version", COMMAND_VERSION, COMMAND_PLAY},
        {"version", COMMAND_VERSION, COMMAND_PLAY},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct options o;
        struct why why;
        if (!parse_line(&o, &why, cases[i].line))
            fail_msg("%s: %s", cases[i].line, why.text);
        assert_int_equal(o.command, cases[i].command);
        assert_int_equal(o.help_for, cases[i].help_for);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_row_takes_its_range_and_refuses_the_rest),
        cmocka_unit_test(a_row_without_its_value_is_refused),
        cmocka_unit_test(a_row_is_refused_by_commands_that_do_not_take_it),
        cmocka_unit_test(rows_have_names_and_fields_of_their_own_and_help),
        cmocka_unit_test(help_names_the_range_that_is_taken),
        cmocka_unit_test(the_engine_has_the_same_ranges),
        cmocka_unit_test(help_of_a_command_shows_its_rows_and_fits_a_screen),
        cmocka_unit_test(help_of_the_program_shows_commands_and_common_rows),
        cmocka_unit_test(defaults_are_the_documented_ones),
        cmocka_unit_test(what_contradicts_or_lacks_something_is_refused),
        cmocka_unit_test(what_goes_together_is_taken),
        cmocka_unit_test(a_projector_brings_its_theme_and_mode_unless_told_otherwise),
        cmocka_unit_test(an_option_of_one_mode_chooses_it),
        cmocka_unit_test(what_says_which_clock_counts_as_given),
        cmocka_unit_test(help_and_version_win_over_what_is_missing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
