// The command line as a value. Options are rows of a table (argparse.h) that give their
// parsing, checks, --help and tests. No file or model is opened here: whether it exists is
// found out by the code that uses it.
#ifndef APP_OPTIONS_OPTIONS_H
#define APP_OPTIONS_OPTIONS_H

#include "compute/base/why.h"

#include "app/options/argparse.h"
#include "app/runs/request.h"
#include "app/state/choices.h"
#include "app/state/playhead.h"
#include "compute/base/assets.h"
#include "render/paint/theme.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum command {
    COMMAND_PLAY,
    COMMAND_RECORD,
    COMMAND_MEASURE,
    COMMAND_DESCRIBE,
    COMMAND_DEVICES,
    COMMAND_MODELS,
    COMMAND_INSPECT,
    COMMAND_HELP,
    COMMAND_VERSION,
    COMMAND_COUNT
};

// Process exit codes.
enum { EXIT_OK = 0, EXIT_FAILED = 1, EXIT_USAGE = 2, EXIT_NO_DISPLAY = 3, EXIT_STOPPED = 130 };

struct options {
    enum command command;
    enum command help_for; // COMMAND_HELP: whose help; COMMAND_HELP itself: the whole program's
    const char *operand;   // record: OUT; inspect: FILE; models: a folder, or NULL

    struct run_request request;

    // What is shown.
    enum mode_choice mode;
    enum theme_id theme; // THEME_PROJECTOR with --projector unless a theme was given
    bool is_calm;        // reduced motion
    bool is_projector;   // light theme, Show mode, full screen in a window
    bool is_fullscreen;
    int display; // -1 = where the window manager puts it
    int text_step;
    struct playhead_rate rate; // num 0 = chosen

    // Lesson and Lab.
    const char *lesson_path;  // NULL = the program's own, in `language`
    const char *language;     // "en"
    int chapter;              // 1 .. 16, 0 = not given
    int page;                 // of Lab, 1 .. 3, 0 = not given
    const char *compare_path; // NULL = no second run
    bool is_describing;       // each step's line on standard output
    bool is_fresh;            // ignore what the last window remembered

    // Given on the command line, directly or by an option that implies it, so that the value
    // remembered by the last window must not replace it. Fields with a value for "not given"
    // (size, chapter, calm) need no flag.
    bool is_theme_given;     // --theme
    bool is_mode_given;      // --mode, --projector, --chapter, --page, --compare, --lesson
    bool is_clock_given;     // --clock, --schedule, --run, and what only a measurement takes
    bool is_text_step_given; // --text-step

    // Pictures.
    int width_px, height_px; // 0 = default
    int fps_num, fps_den;    // 0 = default
    int64_t from_ns, to_ns;  // screen time; -1 = start, end
    bool overwrite;
    bool is_quiet;

    // inspect
    bool lists_all;     // keys and tensors, too
    bool without_rates; // of this machine

    // measure; json_path also models and inspect
    const char *json_path, *csv_path, *save_path; // "-" = stdout for json, csv
    bool text_only;
    bool is_sweep;    // also over prompt lengths and contexts
    bool is_overhead; // also what marks cost a step
};

// Parses argv; texts in `out` point into it. False with `why` (one line: what was wrong, what
// to do): exit with EXIT_USAGE.
bool options_parse(struct options *out, int argc, char **argv, struct why *why);

// Prints the --help of a command (COMMAND_HELP: of the program, with the window's most used
// options). Fits 80 x 40.
void options_print_help(FILE *out, enum command command);

enum { OPTIONS_FILES = 16 };

// Files that a command line names, or that belong to the program and are read for it.
struct options_files {
    const char *list[OPTIONS_FILES + 1]; // ends with NULL
    int count;
    char assets[4][ASSETS_PATH_BYTES];
};

// Lists what is read; no output may have its place. There is room for four more.
void options_files(struct options_files *out, const struct options *options);

// Every option and command.
extern const struct argparse_table options_table;

// A bit of option_row.commands: the row is also part of the program's own help.
enum { OPTION_COMMON = 1u << COMMAND_COUNT };

bool options_is_stdout(const char *path); // "-"; NULL is not

#endif
