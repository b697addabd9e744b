#include "compute/analysis/spread.h"

#include <stdlib.h>

static int compare_ns(const void *left, const void *right) {
    int64_t a = *(const int64_t *)left, b = *(const int64_t *)right;
    return (a > b) - (a < b);
}

// The smallest sample that at least `percent` of all do not exceed.
static int64_t by_rank(const int64_t *sorted_ns, int count, int percent) {
    int64_t rank = ((int64_t)count * percent + 99) / 100;
    return sorted_ns[rank < 1 ? 0 : rank - 1];
}

struct spread spread_of_samples(int64_t *samples_ns, int count) {
    if (count < 1)
        return (struct spread){-1, -1, -1, 0};
    qsort(samples_ns, (size_t)count, sizeof *samples_ns, compare_ns);
    return (struct spread){
        .median_ns = by_rank(samples_ns, count, 50),
        .p10_ns = by_rank(samples_ns, count, 10),
        .p90_ns = by_rank(samples_ns, count, 90),
        .count = count,
    };
}

// Samples are few, so counting for each how many come before it is quick enough.
int spread_median_index(const int64_t *samples_ns, int count) {
    int wanted = (count + 1) / 2 - 1;
    for (int i = 0; i < count; i++) {
        int before = 0;
        for (int k = 0; k < count; k++)
            before += samples_ns[k] < samples_ns[i] || (samples_ns[k] == samples_ns[i] && k < i);
        if (before == wanted)
            return i;
    }
    return 0;
}
