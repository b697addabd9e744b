// See argparse.h. Values are parsed by type, never by option. Exact integers throughout: a
// rate or a time never passes through a float, and no locale changes the decimal point.
#include "app/options/argparse.h"

#include "compute/base/spoken.h"
#include "compute/base/why.h"

#include <string.h>

enum {
    ALLOWED_BYTES = 120,
    NAME_COLUMNS = 31,    // of --help
    COMMAND_COLUMNS = 15, // of --help
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
static bool parse_ratio(const char *text, int32_t pair[2]) {
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
    pair[0] = (int32_t)a;
    pair[1] = (int32_t)b;
    return true;
}

// A ratio within min .. max millionths. Fits: 2^31 * 10^9 < 2^62.
static bool parse_rate(const char *text, const struct option_row *row, int32_t pair[2]) {
    return parse_ratio(text, pair) && pair[0] * INT64_C(1000000) >= row->min * pair[1] &&
           pair[0] * INT64_C(1000000) <= row->max * pair[1];
}

static bool parse_fps(const char *text, const struct option_row *row, int32_t pair[2]) {
    // The broadcast rates are written short but have a denominator of 1001.
    static const struct {
        const char *text;
        int32_t num;
    } broadcast[] = {
        {"23.976", 24000}, {"23.98", 24000}, {"29.97", 30000}, {"59.94", 60000}, {"119.88", 120000},
    };
    for (size_t i = 0; i < sizeof broadcast / sizeof broadcast[0]; i++) {
        if (strcmp(text, broadcast[i].text) == 0) {
            pair[0] = broadcast[i].num;
            pair[1] = 1001;
            return true;
        }
    }
    return parse_rate(text, row, pair);
}

static bool parse_size(const char *text, const struct option_row *row, int32_t pair[2]) {
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
    pair[0] = (int32_t)width;
    pair[1] = (int32_t)height;
    return true;
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

static int find_row(const struct argparse_table *table, const char *name, size_t length) {
    for (int i = 0; i < table->row_count; i++) {
        const char *candidate = table->rows[i].name;
        if (strlen(candidate) == length && memcmp(candidate, name, length) == 0)
            return i;
    }
    return -1;
}

const struct option_row *argparse_row(const struct argparse_table *table, const char *name) {
    return &table->rows[find_row(table, name, strlen(name))];
}

bool argparse_given(const struct argparse *args, const char *name) {
    return args->given[find_row(args->table, name, strlen(name))];
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
        snprintf(out, bytes, why_spoken("a whole number from %lld to %lld"), (long long)row->min,
                 (long long)row->max);
        break;
    case OPTION_SEED:
        snprintf(out, bytes, "%s", why_spoken("a whole number from 0 to 18446744073709551615"));
        break;
    case OPTION_REAL:
        snprintf(out, bytes, why_spoken("a number from %g to %g"), (double)row->min / 1e3,
                 (double)row->max / 1e3);
        break;
    case OPTION_RATE:
        snprintf(out, bytes,
                 why_spoken("a number or fraction from 1/1000000 to %lld, like 2, 0.5 or 1/200"),
                 (long long)(row->max / 1000000));
        break;
    case OPTION_FPS:
        snprintf(out, bytes, why_spoken("a rate from %lld to %lld, like 60, 29.97 or 30000/1001"),
                 (long long)(row->min / 1000000), (long long)(row->max / 1000000));
        break;
    case OPTION_SIZE:
        snprintf(out, bytes, why_spoken("WIDTHxHEIGHT, each from %lld to %lld, like 1920x1080"),
                 (long long)row->min, (long long)row->max);
        break;
    case OPTION_TIME:
        snprintf(out, bytes, why_spoken("a time from %g to %g s, like 2s or 500ms"),
                 (double)row->min / 1e9, (double)row->max / 1e9);
        break;
    case OPTION_FLAG:
    case OPTION_TEXT:
        if (row->allowed)
            snprintf(out, bytes, "%s", row->allowed);
        else
            snprintf(out, bytes, why_spoken("a %s that is not empty"),
                     row->value ? row->value : "value");
        break;
    }
}

static bool store_value(void *fields, const struct option_row *row, const char *value) {
    void *field = (char *)fields + row->offset;
    int32_t pair[2];
    bool ok = false;
    switch (row->type) {
    case OPTION_FLAG:
        return false;
    case OPTION_TEXT:
        memcpy(field, &value, sizeof value);
        return row->accepts ? row->accepts(value) : *value != '\0';
    case OPTION_CHOICE:
        return parse_choice(value, row, field);
    case OPTION_INT:
        return parse_int(value, row->min, row->max, field);
    case OPTION_SEED:
        return parse_seed(value, field);
    case OPTION_REAL:
        return parse_real(value, row->min, row->max, field);
    case OPTION_TIME:
        return parse_time(value, row->min, row->max, field);
    case OPTION_RATE:
        ok = parse_rate(value, row, pair);
        break;
    case OPTION_FPS:
        ok = parse_fps(value, row, pair);
        break;
    case OPTION_SIZE:
        ok = parse_size(value, row, pair);
        break;
    }
    if (ok)
        memcpy(field, pair, sizeof pair);
    return ok;
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

static bool refuse_option(const struct argparse_table *table, const char *name, size_t length,
                          struct why *why) {
    const char *best = NULL;
    int distance = length < 5 ? 2 : 4, shown = length > 60 ? 60 : (int)length;
    for (int i = 0; i < table->row_count; i++)
        keep_nearer(name, length, table->rows[i].name, &best, &distance);
    keep_nearer(name, length, "help", &best, &distance);
    keep_nearer(name, length, "version", &best, &distance);
    if (best)
        return why_set(why, "there is no option --%.*s. Did you mean --%s?", shown, name, best);
    return why_set(why, "there is no option --%.*s. %s --help lists the options.", shown, name,
                   table->program);
}

// "play, record and inspect": the commands that help lists.
static void list_commands(char *out, size_t bytes, const struct argparse_table *table) {
    size_t used = 0;
    int left = 0;
    for (int i = 0; i < table->command_count; i++)
        left += table->commands[i].help != NULL;
    for (int i = 0; i < table->command_count && used < bytes; i++) {
        if (table->commands[i].help)
            used += (size_t)snprintf(out + used, bytes - used, "%s%s", table->commands[i].name,
                                     --left == 0 ? ""
                                     : left == 1 ? " and "
                                                 : ", ");
    }
}

int argparse_command(const struct argparse_table *table, const char *name, struct why *why) {
    const char *best = NULL;
    char all[100] = "";
    int distance = 4;
    for (int i = 0; i < table->command_count; i++) {
        if (strcmp(name, table->commands[i].name) == 0)
            return i;
        keep_nearer(name, strlen(name), table->commands[i].name, &best, &distance);
    }
    list_commands(all, sizeof all, table);
    if (best)
        why_set(why, "there is no command \"%.60s\". Did you mean %s?", name, best);
    else
        why_set(why, "there is no command \"%.60s\". The commands are %s.", name, all);
    return -1;
}

// --- Parsing ---

static bool take_value(struct argparse *args, int row, const char *value, struct why *why) {
    const struct option_row *at = &args->table->rows[row];
    char allowed[ALLOWED_BYTES];
    args->given[row] = true;
    if (store_value(args->fields, at, value))
        return true;
    describe_value(allowed, sizeof allowed, at);
    return why_set(why, "--%s takes %s, not \"%.40s\".", at->name, allowed, value);
}

// An option without a value: a flag, --help or --version. False: not one of them.
static bool take_flag(struct argparse *args, int row, const char *name, size_t length) {
    static const bool set = true;
    if (row < 0) {
        bool is_help = length == 4 && memcmp(name, "help", 4) == 0;
        bool is_version = length == 7 && memcmp(name, "version", 7) == 0;
        args->wants_help |= is_help;
        args->wants_version |= is_version;
        return is_help || is_version;
    }
    if (args->table->rows[row].type != OPTION_FLAG)
        return false;
    memcpy((char *)args->fields + args->table->rows[row].offset, &set, sizeof set);
    args->given[row] = true;
    return true;
}

// `text` is an option, `next` the argument after it or NULL. *uses_next: it was the value.
static bool take_option(struct argparse *args, const char *text, const char *next, bool *uses_next,
                        struct why *why) {
    const char *name = text + 2, *equals = strchr(name, '=');
    size_t length = equals ? (size_t)(equals - name) : strlen(name);
    int row = find_row(args->table, name, length);
    if (take_flag(args, row, name, length))
        return !equals || why_set(why, "--%.*s takes no value. Leave out \"%.40s\".", (int)length,
                                  name, equals);
    if (row < 0)
        return refuse_option(args->table, name, length, why);
    if (equals)
        return take_value(args, row, equals + 1, why);
    const struct option_row *at = &args->table->rows[row];
    char allowed[ALLOWED_BYTES];
    describe_value(allowed, sizeof allowed, at);
    if (!next)
        return why_set(why, "--%s needs a value: %s.", at->name, allowed);
    if (next[0] == '-' && next[1] == '-')
        return why_set(why,
                       "--%s needs a value before %.40s. A value that starts with -- is "
                       "written --%s=VALUE.",
                       at->name, next, at->name);
    *uses_next = true;
    return take_value(args, row, next, why);
}

// The first word is the command, those after it are operands.
static bool take_word(struct argparse *args, const char *text, struct why *why) {
    if (args->command < 0) {
        args->command = argparse_command(args->table, text, why);
        return args->command >= 0;
    }
    if (args->operand_count < 2)
        args->operands[args->operand_count] = text;
    args->operand_count++;
    return true;
}

bool argparse_read(struct argparse *out, const struct argparse_table *table, void *fields, int argc,
                   char **argv, struct why *why) {
    bool only_words = false;
    *out = (struct argparse){.table = table, .fields = fields, .command = -1};
    for (int i = 1; i < argc; i++) {
        const char *text = argv[i];
        bool uses_next = false;
        if (!only_words && strcmp(text, "--") == 0) {
            only_words = true;
        } else if (!only_words && strcmp(text, "-h") == 0) {
            out->wants_help = true;
        } else if (!only_words && text[0] == '-' && text[1] == '-') {
            if (!take_option(out, text, i + 1 < argc ? argv[i + 1] : NULL, &uses_next, why))
                return false;
            i += uses_next;
        } else if (!only_words && text[0] == '-' && text[1]) {
            return why_set(why,
                           "there is no option %.40s. Options have two dashes; "
                           "%s --help lists them.",
                           text, table->program);
        } else if (!take_word(out, text, why)) {
            return false;
        }
    }
    return true;
}

// --- Checks ---

static bool check_takers(const struct argparse *args, int command, struct why *why) {
    const struct argparse_table *table = args->table;
    for (int i = 0; i < table->row_count; i++) {
        if (!args->given[i] || table->rows[i].commands & 1u << command)
            continue;
        char takers[80] = "";
        for (int c = 0; c < table->command_count; c++) {
            size_t used = strlen(takers);
            if (table->rows[i].commands & 1u << c)
                snprintf(takers + used, sizeof takers - used, "%s%s", used ? ", " : "",
                         table->commands[c].name);
        }
        return why_set(why, "%s takes no --%s. It belongs to: %s.", table->commands[command].name,
                       table->rows[i].name, takers);
    }
    return true;
}

static bool check_operands(const struct argparse *args, int command, struct why *why) {
    const struct argparse_command *at = &args->table->commands[command];
    const char *program = args->table->program;
    bool wants_one = at->operand != NULL, needs_one = wants_one && at->operand[0] != '[';
    if (needs_one && args->operand_count == 0)
        return why_set(why, "%s needs %s: %s %s %s", at->name, at->operand, program, at->name,
                       at->example);
    if (args->operand_count > wants_one)
        return wants_one ? why_set(why, "%s takes one name, and \"%.60s\" is one too many.",
                                   at->name, args->operands[1])
                         : why_set(why, "%s takes no further word, and \"%.60s\" is one too many.",
                                   at->name, args->operands[0]);
    if (needs_one && !args->operands[0][0])
        return why_set(why, "%s needs a name that is not empty: %s %s %s", at->name, program,
                       at->name, at->example);
    return true;
}

bool argparse_check(const struct argparse *args, int command, struct why *why) {
    return check_takers(args, command, why) && check_operands(args, command, why);
}

// --- Help ---

void argparse_print_row(FILE *out, const char *left, const char *help) {
    fprintf(out, "  %-*s  %s\n", NAME_COLUMNS, left, help);
}

// " (1..101)", in the unit in which the value is given; "" for what is no number.
static void describe_range(char *out, size_t bytes, const struct option_row *row) {
    static const double units[] = {
        [OPTION_INT] = 1,    [OPTION_SIZE] = 1,  [OPTION_REAL] = 1e3,
        [OPTION_RATE] = 1e6, [OPTION_FPS] = 1e6, [OPTION_TIME] = 1e9,
    };
    double unit = units[row->type];
    if (unit > 0)
        snprintf(out, bytes, " (%.9g..%.9g%s)", (double)row->min / unit, (double)row->max / unit,
                 row->type == OPTION_TIME ? " s" : "");
}

void argparse_print_rows(FILE *out, const struct argparse_table *table, unsigned commands) {
    for (const struct option_row *row = table->rows; row < table->rows + table->row_count; row++) {
        char left[80] = "", names[64] = "", help[80] = "", range[32] = "";
        if (!(row->commands & commands))
            continue;
        if (row->type == OPTION_CHOICE)
            describe_value(names, sizeof names, row);
        else if (row->value)
            snprintf(names, sizeof names, "%s", row->value);
        describe_range(range, sizeof range, row);
        snprintf(left, sizeof left, "--%s%s%s", row->name, names[0] ? " " : "", names);
        snprintf(help, sizeof help, "%s%s", row->help, range);
        argparse_print_row(out, left, help);
    }
    argparse_print_row(out, "--help", "this text");
}

void argparse_print_commands(FILE *out, const struct argparse_table *table) {
    for (int i = 0; i < table->command_count; i++) {
        const struct argparse_command *at = &table->commands[i];
        char left[32];
        snprintf(left, sizeof left, "%s%s%s", at->name, at->operand ? " " : "",
                 at->operand ? at->operand : "");
        if (at->help)
            fprintf(out, "  %-*s  %s\n", COMMAND_COLUMNS, left, at->help);
    }
}

void argparse_print_usage(FILE *out, const struct argparse_table *table, int command) {
    const struct argparse_command *at = &table->commands[command];
    fprintf(out, "Usage: %s %s%s%s [OPTION]...\n", table->program, at->name, at->operand ? " " : "",
            at->operand ? at->operand : "");
    fprintf(out, "%c%s.\n%s", at->help[0] - 'a' + 'A', at->help + 1, at->detail ? at->detail : "");
}
