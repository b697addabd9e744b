// See devices_cmd.h. A line a device; what is missing gets its reason on the same
// line, so that nobody has to guess why a device is not in the list.
#include "devices_cmd.h"

#include "compute/backend.h"
#include "options.h"

int devices_command(void) {
    static const struct backend *const backends[] = {&backend_cpu};
    for (size_t i = 0; i < sizeof backends / sizeof backends[0]; i++) {
        char line[256] = "", why[256] = "";
        if (backends[i]->available(why))
            backends[i]->describe(line, sizeof line);
        else
            snprintf(line, sizeof line, "cannot be used: %s", why);
        printf("%-6s %s\n", backends[i]->name, line);
    }
    printf("%-6s %s\n", "cuda", "not built in: this build has no CUDA plugin");
    return EXIT_OK;
}
