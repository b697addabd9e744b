// See sampler.h. Softmax subtracts the largest logit, so no exponential overflows.
// Top-p needs the likeliest tokens in order, but only as many as it keeps: a heap
// gives them one by one, which costs less than sorting a whole vocabulary.
// Must not read a clock or any other source of chance than `state`.
#include "compute/model/sampler.h"

#include <math.h>
#include <stddef.h>

// SplitMix64: G. L. Steele, D. Lea, C. H. Flood, "Fast splittable pseudorandom
// number generators", OOPSLA 2014, with the constants of its mix function MIX13.
static uint64_t next_random(uint64_t *state) {
    uint64_t x = *state += 0x9e3779b97f4a7c15;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
    x = (x ^ x >> 27) * 0x94d049bb133111eb;
    return x ^ x >> 31;
}

// In [0, 1), all 53 bits of a double used.
static double random_unit(uint64_t *state) {
    return (double)(next_random(state) >> 11) * 0x1p-53;
}

void sampler_reset(struct sampler *sampler) {
    sampler->state = sampler->seed;
}

static bool is_banned(int32_t id, const int32_t *banned, int banned_count) {
    for (int i = 0; i < banned_count; i++) {
        if (banned[i] == id)
            return true;
    }
    return false;
}

// The largest logit's id, -1 if no number is above -infinity.
static int32_t find_largest(const float *logits, int count, const int32_t *banned,
                            int banned_count) {
    int32_t best = -1;
    float largest = -INFINITY;
    for (int32_t i = 0; i < count; i++) {
        // False for NaN. Rarely true, so the list is rarely looked through.
        if (logits[i] > largest && !is_banned(i, banned, banned_count)) {
            best = i;
            largest = logits[i];
        }
    }
    return best;
}

// exp((logit - largest) / temperature) into weights [count]; 0 for banned ids.
static void write_weights(float *weights, const struct sampler *sampler, const float *logits,
                          int count, float largest) {
    for (int i = 0; i < count; i++) {
        weights[i] = 0.0F;
        if (logits[i] == largest) // also where both are infinite
            weights[i] = 1.0F;
        else if (logits[i] < largest && logits[i] > -INFINITY)
            weights[i] = expf((logits[i] - largest) / sampler->temperature);
    }
}

// --- A heap of ids, likeliest first ---

static bool is_likelier(const float *weights, int32_t a, int32_t b) {
    return weights[a] > weights[b] || (weights[a] == weights[b] && a < b);
}

static void sift_down(int32_t *heap, int count, int at, const float *weights) {
    int32_t id = heap[at];
    for (int child; (child = 2 * at + 1) < count; at = child) {
        if (child + 1 < count && is_likelier(weights, heap[child + 1], heap[child]))
            child++;
        if (!is_likelier(weights, heap[child], id))
            break;
        heap[at] = heap[child];
    }
    heap[at] = id;
}

// Moves the likeliest ids whose weights reach `wanted` to the end of order, the
// likeliest last. Returns the index of the first kept one; `ids` are in order, and
// their weights add up to *kept.
static int keep_likeliest(int32_t *order, int ids, const float *weights, double wanted,
                          double *kept) {
    for (int i = ids / 2 - 1; i >= 0; i--)
        sift_down(order, ids, i, weights);
    int left = ids;
    *kept = 0;
    while (left > 0) {
        int32_t best = order[0];
        order[0] = order[--left];
        order[left] = best;
        if (left > 0)
            sift_down(order, left, 0, weights);
        *kept += (double)weights[best];
        if (*kept >= wanted)
            break;
    }
    return left;
}

// The id at which the running sum of weights passes `limit`; walks order from
// `first` to `end`. Rounding may leave a rest: then the last one.
static int32_t pick(const int32_t *order, int first, int end, const float *weights, double limit) {
    double sum = 0;
    for (int i = first; i < end; i++) {
        sum += (double)weights[order[i]];
        if (sum > limit)
            return order[i];
    }
    return order[end - 1];
}

int32_t sampler_next(struct sampler *sampler, const float *logits, int count, float *scratch,
                     int32_t *order, const int32_t *banned, int banned_count) {
    int32_t best = find_largest(logits, count, banned, banned_count);
    if (best < 0 || !(sampler->temperature > 0.0F))
        return best;

    write_weights(scratch, sampler, logits, count, logits[best]);
    for (int i = 0; i < banned_count; i++) {
        if (banned[i] >= 0 && banned[i] < count)
            scratch[banned[i]] = 0.0F;
    }
    int ids = 0, first = 0;
    double sum = 0;
    for (int32_t i = 0; i < count; i++) {
        if (scratch[i] > 0.0F)
            order[ids++] = i;
        sum += (double)scratch[i];
    }
    if (sampler->top_p_unit < 1.0F)
        first = keep_likeliest(order, ids, scratch, (double)sampler->top_p_unit * sum, &sum);
    return pick(order, first, ids, scratch, random_unit(&sampler->state) * sum);
}
