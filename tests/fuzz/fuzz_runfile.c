// Fuzz target for run files: whatever is accepted must be a valid run, with a valid
// sweep beside it if there is one, must be
// printed again, and must then come back as the same text. Seeds: saved runs.
#include "compute/base/why.h"
#include "compute/file/runfile.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

// libFuzzer reports an abort as a finding, with the input that led to it.
static void must(bool holds) {
    if (!holds)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct run *run = NULL, *again = NULL;
    struct runfile_extras extras, extras_again;
    struct why why;
    if (!runfile_parse(&run, &extras, "fuzz", (const char *)data, size, &why)) {
        must(!run && !strchr(why.text, '\n'));
        return 0;
    }
    must(run_validate(run, &why) && sweep_validate(&extras.sweep, &why));
    size_t bytes = 0, bytes_again = 0;
    char *text = runfile_print(run, &extras, &bytes, &why);
    must(text != NULL);
    must(runfile_parse(&again, &extras_again, "fuzz", text, bytes, &why));
    char *text_again = runfile_print(again, &extras_again, &bytes_again, &why);
    must(text_again && bytes == bytes_again && memcmp(text, text_again, bytes) == 0);
    free(text_again);
    run_destroy(again);
    free(text);
    run_destroy(run);
    return 0;
}
