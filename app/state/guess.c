// See guess.h. The knob of a time is logarithmic because a first token may take a
// hundredth of the answer or all of it. Its ends follow from the length of the clock,
// which everybody sees, so they reveal nothing.
#include "app/state/guess.h"

#include "compute/base/num.h"

#include <math.h>
#include <stdlib.h>

enum { DECADES = 3, POINT_PPM = 10000 };

struct guess guess_new(void) {
    return (struct guess){
        .stage = GUESS_OFF,
        .ttft_ppm = WHOLE_PPM / 2,
        .decode_ppm = WHOLE_PPM / 2,
        .split_ppm = WHOLE_PPM / 2,
    };
}

// The upper end of the knob: a power of ten of the run's unit.
static double top_ns(const struct run *run) {
    bool is_lesson = run->info.origin == RUN_LESSON;
    double unit_ns = is_lesson ? (double)run->info.unit_ns : 1;
    double end_ns = (double)run_end_ns(run);
    if (end_ns <= 0)
        return is_lesson ? 1000 * unit_ns : 1e9;
    double top = unit_ns;
    while (top < end_ns)
        top *= 10;
    return top;
}

int64_t guess_ttft_ns(const struct guess *guess, const struct run *run) {
    double below = (double)(WHOLE_PPM - clamp_ppm(guess->ttft_ppm)) / WHOLE_PPM;
    int64_t ttft_ns = llround(top_ns(run) * pow(10, -DECADES * below));
    return ttft_ns < 1 ? 1 : ttft_ns;
}

int guess_ttft_ppm_of(int64_t ttft_ns, const struct run *run) {
    if (ttft_ns <= 0)
        return 0;
    double below = log10(top_ns(run) / (double)ttft_ns) / DECADES;
    return clamp_ppm(WHOLE_PPM - llround(below * WHOLE_PPM));
}

int guess_true_decode_ppm(const struct run *run) {
    int64_t e2e_ns = run_e2e_ns(run);
    if (run->state != RUN_COMPLETE || e2e_ns <= 0)
        return -1;
    int64_t decode_ns = run_decode_ns(run);
    int64_t ppm = llround((double)decode_ns / (double)e2e_ns * WHOLE_PPM);
    // All or nothing only if it is so.
    return (int)clamp_i64(ppm, decode_ns > 0, WHOLE_PPM - (decode_ns < e2e_ns));
}

enum guess_verdict guess_verdict_of(const struct run *run) {
    int decode_ppm = guess_true_decode_ppm(run);
    if (decode_ppm > 60 * POINT_PPM)
        return VERDICT_DECODE;
    return decode_ppm >= 0 && decode_ppm < 40 * POINT_PPM ? VERDICT_PREFILL : VERDICT_EVEN;
}

enum guess_nearness guess_nearness_of(int guessed_ppm, int true_ppm) {
    int apart_ppm = abs(guessed_ppm - true_ppm);
    if (apart_ppm <= 5 * POINT_PPM)
        return GUESS_CLOSE;
    return apart_ppm <= 15 * POINT_PPM ? GUESS_NEAR : GUESS_FAR;
}

enum guess_nearness guess_nearness_of_time(int64_t guessed_ns, int64_t true_ns) {
    double factor = (double)max_i64(guessed_ns, 1) / (double)max_i64(true_ns, 1);
    factor = fmax(factor, 1 / factor);
    return factor <= 1.2 ? GUESS_CLOSE : factor <= 1.5 ? GUESS_NEAR : GUESS_FAR;
}
