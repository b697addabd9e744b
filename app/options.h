// The command line as a value. One table row an option (options.c): name, type,
// range, which commands take it, help. Parsing, checks, --help and the completion
// test all come from the same rows.
#ifndef APP_OPTIONS_H
#define APP_OPTIONS_H

#include "playhead.h"
#include "render/theme.h"

#include <stdbool.h>
#include <stdint.h>

enum command {
    COMMAND_PLAY,
    COMMAND_RECORD,
    COMMAND_MEASURE,
    COMMAND_DESCRIBE,
    COMMAND_DEVICES,
    COMMAND_INSPECT,
    COMMAND_HELP,
    COMMAND_VERSION,
};

enum clock_choice { CLOCK_MEASURED, CLOCK_LESSON };
enum counting_choice { COUNTING_DEFAULT, COUNTING_ENGINE, COUNTING_LESSON };
enum mode_choice { MODE_STAGE, MODE_SHOW };

struct options {
    enum command command;
    const char *operand; // record: OUT; inspect: FILE

    // What is run.
    const char *device;      // "auto"
    const char *model_path;  // NULL = the bundled model
    const char *prompt;      // NULL = the default prompt
    const char *prompt_file; // NULL = none
    int prompt_tokens;       // 0 = as the prompt has
    int answer_tokens;       // 0 = to the end token
    uint64_t seed;
    float temperature, top_p_unit;
    int threads; // 0 = physical cores
    int repeats; // 0 = the command's default

    // What is shown.
    const char *run_path; // --run: replay
    enum clock_choice clock;
    const char *schedule; // "module-7", "stage-0" or a file
    enum counting_choice counting;
    enum mode_choice mode;
    enum theme_id theme;
    bool is_theme_given;
    bool is_projector; // light theme, Show mode, full screen in a window
    bool is_fullscreen;
    int display; // -1 = where the window manager puts it
    int text_step;
    struct playhead_rate rate; // num 0 = chosen
    bool vsync;

    // Pictures.
    int width_px, height_px; // 0 = default
    int fps_num, fps_den;
    int64_t from_ns, to_ns; // screen time; -1 = start, end
    bool overwrite;
    bool is_quiet;

    // measure
    const char *json_path, *csv_path, *save_path; // "-" = stdout for json, csv
    bool text_only;
};

// Parses argv. False with `why` (one line: what was wrong, what to do): exit 2.
bool options_parse(struct options *out, int argc, char **argv, char why[256]);

// --help for a command (COMMAND_PLAY: the whole program); fits 80 x 40.
void options_print_help(enum command command);

#endif
