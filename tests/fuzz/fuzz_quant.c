// Fuzz target: any bytes as a row of any number format. Checked: the reference stays within
// the row and its numbers, and what this processor's best kernels widen is the same.
//
// Input: byte 0 chooses the format; the rest is a row, cut to whole blocks, at least one: what
// it lacks is zero. Without that the shortest inputs would reach no code, and a run that starts
// without a corpus would end at once.
#include "compute/base/why.h"
#include "compute/cpu/kernels.h"
#include "compute/gguf/quant.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes) {
    const struct quant_format *format = &quant_formats[bytes ? data[0] % QUANT_FORMATS : 0];
    size_t given = bytes ? bytes - 1 : 0;
    size_t blocks = given / (size_t)format->block_bytes;
    blocks += blocks == 0;
    size_t row_bytes = blocks * (size_t)format->block_bytes;
    size_t count = blocks * (size_t)format->block;
    // In memory of their exact sizes, so that the address sanitizer sees a step too far.
    unsigned char *row = calloc(1, row_bytes);
    float *wanted = malloc(count * sizeof *wanted), *got = malloc(count * sizeof *got);
    if (!row || !wanted || !got)
        abort();
    if (given)
        memcpy(row, data + 1, given < row_bytes ? given : row_bytes);
    quant_row_to_float(wanted, format->type, row, count);
    struct tensor tensor = {.type = format->type, .rows = 1, .cols = (int64_t)count, .data = row};
    kernels_at(0)->widen(got, &tensor, 0);
    for (size_t i = 0; i < count; i++) {
        if (!(got[i] == wanted[i] || (isnan(got[i]) && isnan(wanted[i]))))
            abort();
    }
    free(row);
    free(wanted);
    free(got);
    return 0;
}
