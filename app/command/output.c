// See output.h.
#include "app/command/output.h"

#include "compute/base/partfile.h"

#include <stdlib.h>

bool output_check(const struct options *options, struct why *why) {
    const char *const outputs[] = {options->json_path, options->csv_path, options->save_path};
    struct options_files files;
    options_files(&files, options);
    for (size_t i = 0; i < sizeof outputs / sizeof outputs[0]; i++) {
        if (!outputs[i] || options_is_stdout(outputs[i]))
            continue;
        if (!partfile_check_target(outputs[i], options->overwrite, files.list, why))
            return false;
        files.list[files.count++] = outputs[i];
    }
    return true;
}

bool output_write(const char *path, output_print *print, const void *context, bool overwrite,
                  struct why *why) {
    if (options_is_stdout(path))
        return print(stdout, context) || why_set(why, "no memory for the figures.");
    char *text = NULL;
    size_t bytes = 0;
    FILE *memory = open_memstream(&text, &bytes);
    bool ok = memory && print(memory, context);
    ok = memory && fclose(memory) == 0 && ok;
    if (!ok)
        why_set(why, "no memory for the figures.");
    ok = ok && partfile_save(path, text, bytes, overwrite, why);
    free(text);
    return ok;
}
