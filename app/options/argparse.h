// A command line read by tables: `program [COMMAND] [--option value]...`. A row per option
// names its type, range, commands and help; a row per command names its operand. Parsing,
// refusals with a suggestion, and --help all come from the rows. This file knows no program.
#ifndef APP_OPTIONS_ARGPARSE_H
#define APP_OPTIONS_ARGPARSE_H

#include "compute/base/why.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum option_type {
    OPTION_FLAG,   // no value; sets a bool
    OPTION_TEXT,   // const char *: any text but "", or what `accepts` accepts
    OPTION_CHOICE, // an enum: one of `choices`, the first of which has the value `min`
    OPTION_INT,    // int: min .. max
    OPTION_SEED,   // uint64_t: 0 .. 2^64 - 1
    OPTION_REAL,   // float: min .. max thousandths
    OPTION_RATE,   // two int32_t, num and den: A/B or a decimal, min .. max millionths
    OPTION_FPS,    // the same; 29.97 means 30000/1001
    OPTION_SIZE,   // two int32_t, width and height: WxH, min .. max px each
    OPTION_TIME,   // int64_t: 2s, 500ms, 1.5min, a bare number is seconds; min .. max ns
};

struct option_row {
    const char *name; // without dashes
    enum option_type type;
    unsigned commands; // 1u << index of every command that takes it
    size_t offset;     // of its field in the struct that is filled
    const char *help;
    const char *value;                 // placeholder for the value in help; NULL: flag or choice
    const char *const *choices;        // OPTION_CHOICE: names in the enum's order, ends with NULL
    int64_t min, max;                  // in the type's unit
    bool (*accepts)(const char *text); // OPTION_TEXT: NULL = all but ""
    const char *allowed;               // with `accepts`: what it accepts, for refusals
};

struct argparse_command {
    const char *name;
    const char *help;    // NULL: left out of lists of commands
    const char *operand; // its placeholder, in brackets if not needed; NULL: the command takes none
    const char *example, *detail; // of the operand; `detail`: whole lines or NULL
};

struct argparse_table {
    const char *program;
    const struct option_row *rows;
    int row_count; // <= ARGPARSE_MAX_ROWS
    const struct argparse_command *commands;
    int command_count;
};

enum { ARGPARSE_MAX_ROWS = 64 };

// What a command line says.
struct argparse {
    const struct argparse_table *table;
    void *fields; // struct that the rows' offsets are of
    bool given[ARGPARSE_MAX_ROWS];
    int command; // index of the first word; -1 = none
    bool wants_help, wants_version;
    const char *operands[2]; // words after the command; further ones are only counted
    int operand_count;
};

// Fills `out` and the fields. Fields of options that are not given stay as they are; texts
// point into argv. False with `why`: an unknown name, or a value that its row refuses.
bool argparse_read(struct argparse *out, const struct argparse_table *table, void *fields, int argc,
                   char **argv, struct why *why);

// True if `command` takes all options given, and the right number of operands.
bool argparse_check(const struct argparse *args, int command, struct why *why);

// Index of a command, or -1 with a suggestion in `why`.
int argparse_command(const struct argparse_table *table, const char *name, struct why *why);

// The row of an option that exists.
const struct option_row *argparse_row(const struct argparse_table *table, const char *name);
bool argparse_given(const struct argparse *args, const char *name);

// Parts of --help: the commands; usage of one command; rows that have a bit of `commands`.
void argparse_print_commands(FILE *out, const struct argparse_table *table);
void argparse_print_usage(FILE *out, const struct argparse_table *table, int command);
void argparse_print_rows(FILE *out, const struct argparse_table *table, unsigned commands);
// One line in the columns of the rows.
void argparse_print_row(FILE *out, const char *left, const char *help);

#endif
