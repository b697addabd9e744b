// Fuzz target for what is remembered: whatever is accepted is in range, and comes back
// the same after it was printed; what is not leaves what was there.
#include "app/state/actions.h"
#include "app/window/memory.h"
#include "compute/base/why.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

// libFuzzer reports an abort as a finding, with the input that led to it.
static void must(bool holds) {
    if (!holds)
        abort();
}

static void check_ranges(const struct memory *memory) {
    must((int)memory->mode >= 0 && memory->mode <= MODE_LAB);
    must((int)memory->theme >= 0 && memory->theme < THEME_COUNT);
    must(memory->clock == CLOCK_MEASURED || memory->clock == CLOCK_LESSON);
    must(memory->text_step >= TEXT_STEP_MIN && memory->text_step <= TEXT_STEP_MAX);
    must(memory->place.chapter >= 0 && memory->place.chapter < LESSON_MAX_CHAPTERS);
    must(memory->place.step >= 0 && memory->place.step <= RUN_MAX_TOKENS);
    bool has_size = memory->width_px >= 64 && memory->width_px <= 8192 && memory->height_px >= 64 &&
                    memory->height_px <= 8192;
    must(has_size || (memory->width_px == 0 && memory->height_px == 0));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct memory memory, again;
    unsigned char before[sizeof memory];
    struct why why;
    // All bytes of both, so that they can be compared whole.
    memset(&memory, 0, sizeof memory);
    memset(&again, 0, sizeof again);
    memory.text_step = 5;
    memcpy(before, &memory, sizeof memory);
    if (!memory_parse(&memory, (const char *)data, size)) {
        must(memcmp(before, &memory, sizeof memory) == 0);
        return 0;
    }
    check_ranges(&memory);
    size_t bytes = 0, bytes_again = 0;
    char *text = memory_print(&memory, &bytes, &why);
    must(text && memory_parse(&again, text, bytes));
    char *text_again = memory_print(&again, &bytes_again, &why);
    must(text_again && bytes == bytes_again && memcmp(text, text_again, bytes) == 0);
    free(text_again);
    free(text);
    return 0;
}
