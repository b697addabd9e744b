// How far RoPE turns the pairs of a head (Su et al. 2021): pair i by position * speed[i],
// and how contexts longer than the trained one are reached. The frequencies of a head that
// turns `rotary` numbers are base^(-2i / rotary).
//
//   none    speed = frequency / factors[i]
//   linear  speed = frequency / factors[i] / stretch (Chen et al. 2023)
//   yarn    fast pairs as in none, slow ones as in linear, a ramp between them: of the pairs
//           that turn `fast` times in the original context down to those that turn `slow`
//           times. What is turned grows by 0.1 ln(stretch) + 1 (Peng et al. 2023)
//   long    factors of their own for contexts beyond the original one (Ding et al. 2024)
//
// In every kind what is turned is multiplied by `growth` as well.
#ifndef COMPUTE_MODEL_ROPE_H
#define COMPUTE_MODEL_ROPE_H

enum rope_kind { ROPE_NONE, ROPE_LINEAR, ROPE_YARN, ROPE_LONG };

struct rope_scaling {
    enum rope_kind kind;
    float stretch;             // linear, yarn: > 0
    int original_context;      // yarn, long: >= 1
    float fast, slow;          // yarn: turns, fast > slow > 0
    float growth;              // 0 = 1
    const float *long_factors; // long: [rotary / 2], in the file
};

// One kind of layer of a model.
struct rope {
    int rotary; // numbers of a head, even
    double base;
    const struct rope_scaling *scaling; // NULL: none
    const float *factors;               // [rotary / 2] divisors, NULL: all 1
};

// speeds: [rotary / 2]. context: the longest that will be used, >= 1. Returns what the turned
// numbers are multiplied by.
double rope_speeds(double *speeds, const struct rope *rope, int context);

#endif
