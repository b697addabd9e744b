// See devices.h. One line per device. A device that cannot be used gets its reason on the
// same line, so that nobody has to guess why it is missing.
#include "app/command/devices.h"

#include "app/options/options.h"
#include "compute/backend/load.h"
#include "compute/base/why.h"

#include <stdio.h>
#include <string.h>

// A backend writes one line per device.
static void print_devices(const struct backend *backend) {
    char lines[4096] = "";
    backend->describe(lines, sizeof lines);
    for (char *line = strtok(lines, "\n"); line; line = strtok(NULL, "\n"))
        printf("%-6s %s\n", backend->name, line);
}

int devices_command(void) {
    struct why why = {0};
    const struct backend *cuda = backend_load_cuda(&why);
    print_devices(&backend_cpu);
    if (cuda)
        print_devices(cuda);
    else
        printf("%-6s cannot be used: %s\n", "cuda", why.text);
    return EXIT_OK;
}
