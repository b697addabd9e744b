// Parse, choose one command, report. Each command opens and closes what it uses
// and returns an exit code; the one line that says what went wrong is printed
// here, once. Output that did not arrive is a failure like any other.
#include "app/command/describe.h"
#include "app/command/devices.h"
#include "app/command/inspect.h"
#include "app/command/measure.h"
#include "app/command/models.h"
#include "app/command/record.h"
#include "app/command/version.h"
#include "app/options/options.h"
#include "app/runs/models.h"
#include "app/window/play.h"
#include "compute/base/assets.h"
#include "compute/base/signals.h"
#include "compute/base/utf8.h"
#include "compute/base/why.h"
#include "compute/base/words.h"

#include <poll.h>
#include <string.h>
#include <unistd.h>

static int run_command(const struct options *options, struct why *why) {
    switch (options->command) {
    case COMMAND_PLAY:
        return play_command(options, why);
    case COMMAND_RECORD:
        return record_command(options, why);
    case COMMAND_MEASURE:
        return measure_command(options, why);
    case COMMAND_DESCRIBE:
        return describe_command(options, why);
    case COMMAND_DEVICES:
        return devices_command();
    case COMMAND_MODELS:
        return models_command(options, why);
    case COMMAND_INSPECT:
        return inspect_command(options, why);
    case COMMAND_VERSION:
        return version_command();
    case COMMAND_HELP:
    case COMMAND_COUNT:
        break;
    }
    options_print_help(stdout, options->help_for);
    return EXIT_OK;
}

// True if everything printed has reached standard output. A reader that went away (a pager
// that was quit) needs no message; a full disk does.
static bool flush_output(void) {
    if (fflush(stdout) == 0 && !ferror(stdout))
        return true;
    struct pollfd out = {.fd = STDOUT_FILENO, .events = POLLOUT};
    if (poll(&out, 1, 0) != 1 || !(out.revents & POLLERR))
        fprintf(stderr, "tokendrip: cannot write to standard output. Is the disk full?\n");
    return false;
}

// Saved runs of the program itself may be given by name alone.
static void find_runs(struct options *options) {
    static char run_path[ASSETS_PATH_BYTES], compare_path[ASSETS_PATH_BYTES];
    options->request.run_path = assets_run(run_path, options->request.run_path);
    options->compare_path = assets_run(compare_path, options->compare_path);
}

// Models of other programs, too. False: there is none of that name.
static bool find_models(struct options *options, struct why *why) {
    static char model_path[MODELS_PATH_BYTES], operand[MODELS_PATH_BYTES];
    const char **model = &options->request.model_path;
    *why = (struct why){0};
    *model = models_path(model_path, *model, why);
    if (options->command == COMMAND_INSPECT)
        options->operand = models_path(operand, options->operand, why);
    return !why->text[0];
}

// What shows a run speaks the user's language; all else is printed in English and needs no
// file for it.
static bool choose_language(const struct options *options, struct why *why) {
    bool shows = options->command == COMMAND_PLAY || options->command == COMMAND_RECORD ||
                 options->command == COMMAND_DESCRIBE;
    return !shows || words_choose(options->language, why);
}

// What refuses the command line is told in the language that it names, before it is parsed.
static void speak_early(int argc, char **argv) {
    for (int i = 1; i < argc; i++) {
        const char *value = strncmp(argv[i], "--lang=", 7) == 0 ? argv[i] + 7
                            : strcmp(argv[i], "--lang") == 0    ? argv[i + 1]
                                                                : NULL;
        if (value)
            words_choose(value, NULL);
    }
}

int main(int argc, char **argv) {
    struct options options;
    struct why why = {0};
    int code = EXIT_USAGE;
    bool is_started = signals_start(&why); // first: from here on a signal ends nothing half-way
    if (is_started)
        speak_early(argc, argv);
    if (!is_started) {
        code = EXIT_FAILED;
    } else if (options_parse(&options, argc, argv, &why)) {
        find_runs(&options);
        bool ok = find_models(&options, &why) && choose_language(&options, &why);
        code = ok ? run_command(&options, &why) : EXIT_FAILED;
    }
    if (code == EXIT_FAILED && signals_stop_asked())
        code = EXIT_STOPPED;
    if (!flush_output() && code == EXIT_OK)
        code = EXIT_FAILED;
    if (code != EXIT_OK && why.text[0]) {
        fprintf(stderr, "tokendrip: ");
        utf8_print(stderr, why.text, strlen(why.text));
        fputc('\n', stderr);
    }
    return code;
}
