// See devices.h. One line per device. A device that cannot be used gets its reason on the
// same line, so that nobody has to guess why it is missing.
#include "app/command/devices.h"

#include "app/options/options.h"
#include "compute/backend/load.h"
#include "compute/base/why.h"

#include <stdio.h>
#include <string.h>

static void print_device(const char *name, const char *line) {
    printf("%-6s %s\n", name, line);
}

// A card a line, as the plugin writes them.
static void print_cards(char *lines) {
    for (char *line = strtok(lines, "\n"); line; line = strtok(NULL, "\n"))
        print_device("cuda", line);
}

int devices_command(void) {
    char lines[4096] = "", refusal[300];
    struct why why = {0};
    backend_cpu.describe(lines, sizeof lines);
    print_device(backend_cpu.name, lines);
    const struct backend *cuda = backend_load_cuda(&why);
    if (cuda) {
        cuda->describe(lines, sizeof lines);
        print_cards(lines);
    } else {
        snprintf(refusal, sizeof refusal, "cannot be used: %s", why.text);
        print_device("cuda", refusal);
    }
    return EXIT_OK;
}
