// See rates.h. Every member of the team reads a part of one buffer of its own, the same
// one every time, as it has its own rows of every matrix; and computes a product of its
// own that stays in its cache. The best of many short turns counts: whatever slows a turn
// down is not the machine's limit.
#include "compute/cpu/rates.h"

#include "compute/base/stopwatch.h"
#include "compute/base/why.h"
#include "compute/cpu/memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    UNIT_FLOATS = 128, // what read_all reads at a time, whatever the instruction set
    LINE_BYTES = 64,
    SUM_STRIDE = LINE_BYTES / sizeof(float), // members' sums do not share a cache line
    // The product: weights, tokens and results are 450 KB, inside any second-level
    // cache of today, and 128 tokens make the turning of the weights small.
    ROWS = 64,
    COLS = 512,
    TOKENS = 128,
    MIN_TURNS = 3,
    TURN_NS = 4000000, // a turn is at least about so long, so that its start is nothing
};

static const int64_t READ_NS = INT64_C(200000000); // of each buffer
static const int64_t MATRIX_NS = INT64_C(250000000);
#if defined(__SANITIZE_THREAD__)
// Every access is checked, so reading a gigabyte would take minutes.
static const size_t LEAST_BYTES = (size_t)8 << 20, MOST_BYTES = (size_t)8 << 20;
#else
static const size_t LEAST_BYTES = (size_t)128 << 20, MOST_BYTES = (size_t)1 << 30;
#endif

// The largest cache of the first processor, from the system's files: on some machines the
// C library multiplies it by the processors of a package.
size_t rates_cache_bytes(const char *root) {
    size_t most = 0;
    for (int index = 0; index < 8; index++) {
        char path[512], text[64] = "", unit = '\0';
        unsigned long long size = 0;
        snprintf(path, sizeof path, "%s/sys/devices/system/cpu/cpu0/cache/index%d/size", root,
                 index);
        FILE *file = fopen(path, "r");
        if (!file)
            continue;
        if (fgets(text, sizeof text, file) && sscanf(text, "%llu%c", &size, &unit) >= 1) {
            size_t bytes = (size_t)size << (unit == 'K' ? 10 : unit == 'M' ? 20 : 0);
            most = bytes > most ? bytes : most;
        }
        fclose(file);
    }
    return most;
}

// --- Turns ---

// One turn: all members do `work` `rounds` times. Nanoseconds.
static int64_t time_turn(struct threads *threads, threads_work_fn *work, void *context) {
    int64_t start_ns = stopwatch_now_ns();
    threads_run(threads, work, context);
    int64_t taken_ns = stopwatch_now_ns() - start_ns;
    return taken_ns > 0 ? taken_ns : 1;
}

// The least nanoseconds a round takes, over turns until `budget_ns` is spent. *rounds
// is the number in one turn; it grows until a turn is long enough.
static double best_round_ns(struct threads *threads, threads_work_fn *work, void *context,
                            int *rounds, int64_t budget_ns) {
    int64_t end_ns = stopwatch_now_ns() + budget_ns;
    double best_ns = 0;
    *rounds = 1;
    for (int turn = 0; turn < MIN_TURNS || stopwatch_now_ns() < end_ns; turn++) {
        int64_t turn_ns = time_turn(threads, work, context);
        double round_ns = (double)turn_ns / *rounds;
        best_ns = best_ns == 0 || round_ns < best_ns ? round_ns : best_ns;
        if (turn_ns < TURN_NS && *rounds < 1 << 20)
            *rounds *= 2;
    }
    return best_ns;
}

// --- Reading ---

struct reading {
    const struct kernels *kernels;
    int members, rounds;
    float *buffer;
    size_t floats; // of each member
    float *sums;   // [members][SUM_STRIDE]: so that no reading can be left out
};

static void touch(void *context, int member) {
    struct reading *r = context;
    float *mine = r->buffer + (size_t)member * r->floats;
    for (size_t i = 0; i < r->floats; i++)
        mine[i] = 1;
}

static void read_part(void *context, int member) {
    struct reading *r = context;
    for (int i = 0; i < r->rounds; i++)
        r->sums[(size_t)member * SUM_STRIDE] +=
            r->kernels->read_all(r->buffer + (size_t)member * r->floats, r->floats);
}

// Far beyond any cache, so that reading it is reading memory. What the system says about
// caches is only a hint: a virtual machine may report those of its whole host.
static size_t memory_bytes(size_t cache_bytes) {
    size_t bytes = 4 * cache_bytes;
    bytes = bytes > LEAST_BYTES ? bytes : LEAST_BYTES;
    bytes = bytes < MOST_BYTES ? bytes : MOST_BYTES;
    size_t half_free = memory_free_bytes("") / 2;
    return bytes < half_free ? bytes : half_free;
}

// Bytes a second over a buffer of that many bytes; 0 with `why` if there is no memory.
static double reading_rate(struct reading *r, struct threads *threads, size_t bytes,
                           struct why *why) {
    size_t members = (size_t)r->members;
    double rate = 0;
    r->floats = bytes / sizeof(float) / members / UNIT_FLOATS * UNIT_FLOATS;
    r->floats = r->floats ? r->floats : UNIT_FLOATS;
    r->buffer = aligned_alloc(LINE_BYTES, r->floats * members * sizeof(float));
    r->sums = calloc(members * SUM_STRIDE, sizeof(float));
    if (r->buffer && r->sums) {
        threads_run(threads, touch, r);
        double ns = best_round_ns(threads, read_part, r, &r->rounds, READ_NS);
        rate = (double)(r->floats * members * sizeof(float)) / ns * 1e9;
    } else {
        why_set(why, "no memory to measure how fast memory is read: %zu bytes", bytes);
    }
    free(r->buffer);
    free(r->sums);
    return rate;
}

// A working set fits a cache if it is read this much faster than memory is: less may be
// noise, and caches are several times as fast.
static const double CACHED_TIMES = 1.5;

static bool measure_reading(struct device_rates *out, struct reading *r, struct threads *threads,
                            size_t working_set_bytes, struct why *why) {
    size_t far_bytes = memory_bytes(rates_cache_bytes(""));
    double far = reading_rate(r, threads, far_bytes, why), near = far;
    if (far > 0 && working_set_bytes < far_bytes)
        near = reading_rate(r, threads, working_set_bytes, why);
    out->is_cached = near > CACHED_TIMES * far;
    out->read_bytes_s = near > far ? near : far;
    return near > 0;
}

// --- Multiplying ---

struct own {
    float *weights, *in, *out, *panel;
};

struct multiplying {
    const struct kernels *kernels;
    int members, rounds;
    float *memory; // of all members
};

enum { OWN_FLOATS = ROWS * COLS + TOKENS * COLS + TOKENS * ROWS + KERNELS_PANEL_FLOATS };

static struct own own_of(const struct multiplying *m, int member) {
    float *at = m->memory + (size_t)member * OWN_FLOATS;
    return (struct own){
        .weights = at,
        .in = at + ROWS * COLS,
        .out = at + ROWS * COLS + TOKENS * COLS,
        .panel = at + ROWS * COLS + TOKENS * COLS + TOKENS * ROWS,
    };
}

static void set_up_product(void *context, int member) {
    struct multiplying *m = context;
    struct own own = own_of(m, member);
    // Not constant: on constants processors save power and gain speed.
    for (int r = 0; r < ROWS; r++)
        m->kernels->random_row(own.weights + r * COLS, GGUF_TENSOR_F32, COLS,
                               shape_random_keys(1, 0, (uint64_t)r), 1e-6f);
    for (int t = 0; t < TOKENS; t++)
        m->kernels->random_row(own.in + t * COLS, GGUF_TENSOR_F32, COLS,
                               shape_random_keys(1, 1, (uint64_t)t), 1e-6f);
    memset(own.out, 0, TOKENS * ROWS * sizeof(float));
}

static void multiply(void *context, int member) {
    struct multiplying *m = context;
    struct own own = own_of(m, member);
    struct tensor weights = {
        .type = GGUF_TENSOR_F32,
        .rows = ROWS,
        .cols = COLS,
        .data = own.weights,
        .bytes = ROWS * COLS * sizeof(float),
    };
    for (int i = 0; i < m->rounds; i++)
        m->kernels->matmul(&(struct matmul){
            .out = own.out,
            .out_stride = ROWS,
            .in = own.in,
            .in_stride = COLS,
            .weights = &weights,
            .tokens = TOKENS,
            .row_to = ROWS,
            .panel = own.panel,
        });
}

static bool measure_multiplying(struct device_rates *out, struct multiplying *m,
                                struct threads *threads, struct why *why) {
    size_t members = (size_t)m->members;
    m->memory = aligned_alloc(LINE_BYTES, members * OWN_FLOATS * sizeof(float));
    if (!m->memory)
        return why_set(why, "no memory to measure how fast matrices are multiplied");
    threads_run(threads, set_up_product, m);
    double ns = best_round_ns(threads, multiply, m, &m->rounds, MATRIX_NS);
    out->matrix_flop_s = 2.0 * ROWS * COLS * TOKENS * m->members / ns * 1e9;
    free(m->memory);
    return true;
}

bool rates_measure(struct device_rates *out, struct threads *threads, const struct kernels *kernels,
                   size_t working_set_bytes, struct why *why) {
    int members = threads_count(threads);
    *out = (struct device_rates){.is_cached = false};
    struct reading reading = {.kernels = kernels, .members = members};
    struct multiplying multiplying = {.kernels = kernels, .members = members};
    return measure_reading(out, &reading, threads, working_set_bytes, why) &&
           measure_multiplying(out, &multiplying, threads, why);
}
