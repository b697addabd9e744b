// Tests of sweep.h on made-up devices whose floors, slopes and knees are known: medians
// of a few noisy samples, many seeds. What is claimed must be right, its errors must be
// honest (about 2/3 of the truths within one, at least 90 % within two), and where there
// is nothing to claim "none" must be said. Then the numbers made from the points.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "compute/analysis/spread.h"
#include "compute/analysis/sweep.h"
#include "compute/base/why.h"
#include "tests/compute/run/random_run.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SEEDS = 600 };

static struct why why;

// --- Made-up devices ---

struct device {
    double floor_ns, offset_ns, slope_ns, bend_ns; // max(floor, offset + slope T) + bend T^2
    double noise_unit;                             // of one sample, at short lengths
    double long_noise_unit;                        // at the longest
    int samples, longest;
};

static double normal(uint64_t *random) {
    double u = ((double)random_between(random, 1, 1 << 30)) / (double)(1 << 30);
    double v = ((double)random_between(random, 1, 1 << 30)) / (double)(1 << 30);
    return sqrt(-2 * log(u)) * cos(6.283185307179586 * v);
}

static double true_ns(const struct device *d, double tokens) {
    return fmax(d->floor_ns, d->offset_ns + d->slope_ns * tokens) + d->bend_ns * tokens * tokens;
}

static struct sweep_point point_of(const struct device *d, int tokens, uint64_t *random) {
    int64_t samples[101];
    double part = log(tokens) / log(d->longest);
    double noise = d->noise_unit + (d->long_noise_unit - d->noise_unit) * part;
    for (int i = 0; i < d->samples; i++)
        samples[i] = llround(true_ns(d, tokens) * (1 + noise * normal(random)));
    struct spread spread = spread_of_samples(samples, d->samples);
    return (struct sweep_point){tokens, spread.median_ns, spread.p10_ns, spread.p90_ns,
                                spread.count};
}

// The same curve for prompts and steps.
static struct sweep sweep_of(const struct device *d, uint64_t seed) {
    struct sweep sweep = {0};
    int lengths[SWEEP_MAX_POINTS];
    uint64_t random = seed * 7919;
    int count = sweep_lengths(lengths, d->longest);
    for (int i = 0; i < count; i++) {
        sweep.prefill[i] = point_of(d, lengths[i], &random);
        sweep.step[i] = point_of(d, lengths[i], &random);
    }
    sweep.prefill_count = sweep.step_count = count;
    return sweep;
}

// --- Honest errors ---

struct honesty {
    int count, within_1, within_2;
};

static void note(struct honesty *h, double found, double truth, double error) {
    h->count++;
    h->within_1 += fabs(found - truth) <= error;
    h->within_2 += fabs(found - truth) <= 2 * error;
}

static void check_honest(const struct honesty *h, const char *what, int device) {
    double one = 100.0 * h->within_1 / h->count, two = 100.0 * h->within_2 / h->count;
    if (h->count == 0 || one < 60 || one > 84 || two < 90)
        fail_msg("device %d, %s: of %d, %.0f %% within 1 sigma, %.0f %% within 2", device, what,
                 h->count, one, two);
}

// A GPU is flat, then linear; noise of 1 to 5 %, alike or growing or shrinking.
static const struct device knees[] = {
    {5e6, 0, 20e3, 0, 0.01, 0.01, 5, 4096},   // knee at 250
    {5e6, 1e6, 20e3, 0, 0.02, 0.02, 7, 2048}, // knee at 200
    {5e6, 0, 20e3, 0, 0.05, 0.01, 9, 4096},
    {3e5, -1e5, 6e3, 0, 0.01, 0.04, 5, 1024}, // knee at 66.7
    {8e6, 2e6, 47e3, 0, 0.03, 0.03, 21, 1300},
};

static void floors_slopes_and_knees_are_found_with_honest_errors(void **state) {
    (void)state;
    for (int i = 0; i < (int)(sizeof knees / sizeof knees[0]); i++) {
        struct honesty floor = {0}, slope = {0}, knee = {0};
        const struct device *d = &knees[i];
        int missed = 0;
        for (uint64_t seed = 1; seed <= SEEDS; seed++) {
            struct sweep sweep = sweep_of(d, seed);
            struct sweep_prefill_fit fit;
            sweep_fit_prefill(&fit, &sweep);
            assert_true(fit.is_there && fit.has_slope);
            missed += !fit.has_flat;
            if (!fit.has_flat)
                continue;
            note(&floor, fit.floor_ns, d->floor_ns, fit.floor_error_ns);
            note(&slope, fit.slope_ns, d->slope_ns, fit.slope_error_ns);
            note(&knee, fit.knee_tokens, (d->floor_ns - d->offset_ns) / d->slope_ns,
                 fit.knee_error_tokens);
            assert_true(fabs((fit.floor_ns - fit.offset_ns) / fit.slope_ns - fit.knee_tokens) <
                        1e-6 * fit.knee_tokens);
        }
        assert_true(missed <= SEEDS / 50);
        check_honest(&floor, "floor", i);
        check_honest(&slope, "slope", i);
        check_honest(&knee, "knee", i);
    }
}

static void steps_that_grow_are_found_with_honest_errors(void **state) {
    static const struct device devices[] = {
        {0, 4e6, 800, 0, 0.01, 0.01, 5, 4096},
        {0, 2.5e5, 90, 0, 0.02, 0.05, 9, 1024},
        {0, 2.5e5, 200, 0, 0.05, 0.01, 15, 1024},
    };
    (void)state;
    for (int i = 0; i < 3; i++) {
        struct honesty base = {0}, slope = {0};
        int missed = 0;
        for (uint64_t seed = 1; seed <= SEEDS; seed++) {
            struct sweep sweep = sweep_of(&devices[i], seed);
            struct sweep_step_fit fit;
            sweep_fit_step(&fit, &sweep);
            assert_true(fit.is_there);
            assert_int_equal(fit.longest_tokens, devices[i].longest);
            missed += !fit.has_slope;
            note(&base, fit.base_ns, devices[i].offset_ns, fit.base_error_ns);
            note(&slope, fit.slope_ns, devices[i].slope_ns, fit.slope_error_ns);
        }
        assert_true(missed <= SEEDS / 100);
        check_honest(&base, "base", i);
        check_honest(&slope, "slope", i);
    }
}

// --- Nothing to claim ---

static void a_plain_line_has_no_flat_part(void **state) {
    static const struct device lines[] = {
        {0, 0, 20e3, 0, 0.01, 0.01, 5, 1024},    {0, 5e6, 20e3, 0, 0.01, 0.01, 5, 4096},
        {0, 2e5, 150e3, 0, 0.05, 0.01, 7, 1024}, {0, 2e5, 150e3, 0, 0.01, 0.05, 3, 300},
        {0, 2e5, 150e3, 0, 0.03, 0.03, 1, 1024}, // one sample a point: no spread
    };
    (void)state;
    for (int i = 0; i < 5; i++) {
        struct honesty slope = {0};
        int flats = 0;
        for (uint64_t seed = 1; seed <= SEEDS; seed++) {
            struct sweep sweep = sweep_of(&lines[i], seed);
            struct sweep_prefill_fit fit;
            sweep_fit_prefill(&fit, &sweep);
            assert_true(fit.is_there && fit.has_slope);
            flats += fit.has_flat;
            note(&slope, fit.slope_ns, lines[i].slope_ns, fit.slope_error_ns);
            if (!fit.has_flat)
                assert_true(fit.floor_ns == 0 && fit.knee_tokens == 0);
        }
        if (flats > SEEDS / 100)
            fail_msg("line %d: %d flat parts", i, flats);
        check_honest(&slope, "slope", i);
    }
}

static void what_is_flat_has_no_slope(void **state) {
    static const struct device flats[] = {
        {0, 4e6, 0, 0, 0.01, 0.01, 5, 1024},
        {0, 4e6, 0, 0, 0.05, 0.02, 9, 4096},
        {0, 4e6, 0, 0, 0.02, 0.02, 1, 1024},
    };
    (void)state;
    for (int i = 0; i < 3; i++) {
        struct honesty floor = {0};
        int slopes = 0, step_slopes = 0;
        for (uint64_t seed = 1; seed <= SEEDS; seed++) {
            struct sweep sweep = sweep_of(&flats[i], seed);
            struct sweep_prefill_fit prefill;
            struct sweep_step_fit step;
            sweep_fit_prefill(&prefill, &sweep);
            sweep_fit_step(&step, &sweep);
            assert_true(prefill.is_there && step.is_there);
            slopes += prefill.has_slope;
            step_slopes += step.has_slope;
            if (!prefill.has_slope) {
                assert_false(prefill.has_flat); // no knee
                note(&floor, prefill.floor_ns, 4e6, prefill.floor_error_ns);
            }
        }
        if (slopes > SEEDS / 20 || step_slopes > SEEDS / 20)
            fail_msg("flat %d: %d and %d slopes", i, slopes, step_slopes);
        check_honest(&floor, "floor", i);
    }
}

// Attention: the time of long prompts grows with the square. Short of the bend the line
// and the knee are what they are.
static void a_bend_at_long_prompts_is_left_out(void **state) {
    static const struct device bents[] = {
        {0, 2e5, 150e3, 80, 0.01, 0.01, 5, 4096},    // a CPU: no knee
        {5e6, 0, 20e3, 0.5, 0.01, 0.01, 5, 1 << 15}, // a GPU: knee at 250
    };
    (void)state;
    for (int i = 0; i < 2; i++) {
        const struct device *d = &bents[i];
        int wrong = 0;
        for (uint64_t seed = 1; seed <= SEEDS; seed++) {
            struct sweep sweep = sweep_of(d, seed);
            struct sweep_prefill_fit fit;
            sweep_fit_prefill(&fit, &sweep);
            assert_true(fit.is_there && fit.has_slope);
            assert_true(fit.longest_tokens < d->longest);
            wrong += fit.has_flat != (d->floor_ns > 0);
            if (fabs(fit.slope_ns / d->slope_ns - 1) > 0.2)
                fail_msg("device %d, seed %d: slope %g", i, (int)seed, fit.slope_ns);
            if (fit.has_flat && fabs(fit.knee_tokens / 250 - 1) > 0.25)
                fail_msg("device %d, seed %d: knee %g", i, (int)seed, fit.knee_tokens);
            // And what lies beyond still comes from the points.
            assert_int_equal(sweep_prefill_ns(&sweep, d->longest),
                             sweep.prefill[sweep.prefill_count - 1].median_ns);
            assert_true((double)sweep_prefill_ns(&sweep, 2.0 * d->longest) >
                        2 * (double)sweep_prefill_ns(&sweep, d->longest));
        }
        if (wrong > SEEDS / 100)
            fail_msg("device %d: %d wrong", i, wrong);
    }
}

// A floor and a line follow such a curve better than a line alone, and a line that bends
// better than both.
static void a_bend_alone_is_no_knee(void **state) {
    static const struct device bents[] = {
        {0, 5e6, 2e3, 4, 0.01, 0.01, 5, 1024},
        {0, 5e6, 0, 2, 0.02, 0.02, 9, 2048},
    };
    (void)state;
    for (int i = 0; i < 2; i++) {
        int flats = 0;
        for (uint64_t seed = 1; seed <= SEEDS; seed++) {
            struct sweep sweep = sweep_of(&bents[i], seed);
            struct sweep_prefill_fit fit;
            sweep_fit_prefill(&fit, &sweep);
            assert_true(fit.is_there);
            flats += fit.has_flat;
        }
        if (flats > SEEDS / 10)
            fail_msg("device %d: %d flat parts", i, flats);
    }
}

// --- Noise on one side ---

// Other programs take a processor away: one sample in four takes up to 100 times as long.
static struct sweep disturbed_sweep(const struct device *d, uint64_t seed) {
    struct sweep sweep = {0};
    int lengths[SWEEP_MAX_POINTS];
    uint64_t random = seed * 104729;
    int count = sweep_lengths(lengths, d->longest);
    for (int i = 0; i < 2 * count; i++) {
        struct sweep_point *point = i < count ? &sweep.prefill[i] : &sweep.step[i - count];
        int64_t samples[101];
        double ns = true_ns(d, lengths[i % count]);
        for (int k = 0; k < d->samples; k++) {
            bool is_hit = random_between(&random, 0, 3) == 0;
            double times = is_hit ? pow(100, (double)random_between(&random, 0, 1000) / 1000) : 1;
            samples[k] = llround(ns * (1 + d->noise_unit * fabs(normal(&random))) * times);
        }
        struct spread spread = spread_of_samples(samples, d->samples);
        *point = (struct sweep_point){lengths[i % count], spread.median_ns, spread.p10_ns,
                                      spread.p90_ns, spread.count};
    }
    sweep.prefill_count = sweep.step_count = count;
    return sweep;
}

static void bursts_of_a_hundred_times_bend_no_fit(void **state) {
    static const struct device gpu = {5e6, 0, 20e3, 0, 0.02, 0.02, 15, 4096};
    static const struct device steps = {0, 4e6, 800, 0, 0.01, 0.01, 15, 4096};
    (void)state;
    int wrong = 0;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        struct sweep sweep = disturbed_sweep(&gpu, seed), other = disturbed_sweep(&steps, seed);
        struct sweep_prefill_fit fit;
        struct sweep_step_fit step;
        sweep_fit_prefill(&fit, &sweep);
        sweep_fit_step(&step, &other);
        assert_true(fit.is_there && step.is_there);
        wrong += !fit.has_flat || fabs(fit.floor_ns / 5e6 - 1) > 0.05 ||
                 fabs(fit.slope_ns / 20e3 - 1) > 0.1 || fabs(fit.knee_tokens / 250 - 1) > 0.2;
        wrong += fabs(step.base_ns / 4e6 - 1) > 0.05;
    }
    if (wrong > SEEDS / 50)
        fail_msg("%d wrong of %d", wrong, 2 * SEEDS);
}

// Every sample of one point, by 1.6 to 100 times, at every place but the last two: the last
// has nothing behind it, and a raised one before it may be the curve's bend.
static void a_single_bad_point_changes_no_claim(void **state) {
    static const double times[] = {1.6, 3, 20, 100};
    static const struct device gpu = {5e6, 0, 20e3, 0, 0.01, 0.01, 9, 4096};
    static const struct device line = {0, 2e5, 150e3, 0, 0.01, 0.01, 9, 1024};
    static const struct device flat = {0, 4e6, 0, 0, 0.01, 0.01, 9, 1024};
    static const struct device *const devices[] = {&gpu, &line, &flat};
    (void)state;
    for (int d = 0; d < 3; d++) {
        int changed = 0, tried = 0;
        for (uint64_t seed = 1; seed <= 20; seed++) {
            struct sweep good = sweep_of(devices[d], seed);
            struct sweep_prefill_fit before, after;
            sweep_fit_prefill(&before, &good);
            for (int i = 0; i < 4 * (good.prefill_count - 2); i++) {
                struct sweep bad = good;
                struct sweep_point *point = &bad.prefill[i / 4];
                point->median_ns = llround((double)point->median_ns * times[i % 4]);
                point->p10_ns = llround((double)point->p10_ns * times[i % 4]);
                point->p90_ns = llround((double)point->p90_ns * times[i % 4]);
                sweep_fit_prefill(&after, &bad);
                bool is_same =
                    after.has_flat == before.has_flat && after.has_slope == before.has_slope &&
                    fabs(after.floor_ns - before.floor_ns) <= 0.03 * before.floor_ns &&
                    fabs(after.slope_ns - before.slope_ns) <= 0.1 * fabs(before.slope_ns) + 50;
                tried++;
                changed += !is_same;
            }
        }
        // A slope of a flat device is "none" by twice its error: a few lie at that border.
        if (changed > (d == 2 ? tried / 50 : 0))
            fail_msg("device %d: %d of %d claims changed", d, changed, tried);
    }
}

// --- Degenerate points ---

static struct sweep exact(const int *tokens, const int64_t *ns, int count) {
    struct sweep sweep = {.prefill_count = count, .step_count = count};
    for (int i = 0; i < count; i++)
        sweep.prefill[i] = sweep.step[i] = (struct sweep_point){tokens[i], ns[i], ns[i], ns[i], 1};
    return sweep;
}

static void points_without_any_spread_are_fitted_exactly(void **state) {
    static const int tokens[] = {1, 2, 4, 8, 16, 32, 64};
    static const int64_t flat_then_line[] = {800, 800, 800, 800, 1600, 3200, 6400};
    static const int64_t line[] = {1100, 1200, 1400, 1800, 2600, 4200, 7400};
    static const int64_t flat[] = {500, 500, 500, 500, 500, 500, 500};
    struct sweep_prefill_fit fit;
    struct sweep_step_fit step;
    (void)state;
    struct sweep sweep = exact(tokens, flat_then_line, 7);
    sweep_fit_prefill(&fit, &sweep);
    assert_true(fit.has_flat && fit.has_slope);
    assert_true(fabs(fit.knee_tokens - 8) < 0.01 && fabs(fit.floor_ns - 800) < 0.1);
    assert_true(fabs(fit.slope_ns - 100) < 0.01 && fabs(fit.offset_ns) < 1);
    sweep = exact(tokens, line, 7);
    sweep_fit_prefill(&fit, &sweep);
    sweep_fit_step(&step, &sweep);
    assert_true(fit.is_there && fit.has_slope && !fit.has_flat);
    assert_true(fabs(fit.slope_ns - 100) < 0.01 && fabs(fit.offset_ns - 1000) < 0.1);
    assert_true(step.has_slope && fabs(step.slope_ns - 100) < 0.01);
    assert_true(fabs(step.base_ns - 1000) < 0.1);
    sweep = exact(tokens, flat, 7);
    sweep_fit_prefill(&fit, &sweep);
    sweep_fit_step(&step, &sweep);
    assert_true(fit.is_there && !fit.has_slope && !fit.has_flat);
    assert_true(fabs(fit.floor_ns - 500) < 0.1);
    assert_true(step.is_there && !step.has_slope);
}

static void too_few_points_are_no_fit(void **state) {
    static const int tokens[] = {1, 2};
    static const int64_t ns[] = {100, 200};
    struct sweep_prefill_fit fit;
    struct sweep_step_fit step;
    (void)state;
    for (int count = 0; count <= 2; count++) {
        struct sweep sweep = exact(tokens, ns, count);
        sweep_fit_prefill(&fit, &sweep);
        sweep_fit_step(&step, &sweep);
        assert_false(fit.is_there || fit.has_flat || fit.has_slope);
        assert_false(step.is_there || step.has_slope);
    }
    struct sweep one = exact(tokens, ns, 1), two = exact(tokens, ns, 2), none = {0};
    assert_int_equal(sweep_prefill_ns(&none, 5), -1);
    assert_int_equal(sweep_step_ns(&none, 5), -1);
    assert_int_equal(sweep_decode_ppm(&none, 5, 5), -1);
    assert_int_equal(sweep_prefill_ns(&one, 50), 100);
    assert_int_equal(sweep_prefill_ns(&two, 50), 5000);
}

static void assert_finite(const struct sweep *sweep) {
    struct sweep_prefill_fit fit;
    struct sweep_step_fit step;
    sweep_fit_prefill(&fit, sweep);
    sweep_fit_step(&step, sweep);
    assert_true(isfinite(fit.floor_ns) && isfinite(fit.floor_error_ns) && isfinite(fit.slope_ns) &&
                isfinite(fit.slope_error_ns) && isfinite(fit.offset_ns) &&
                isfinite(fit.knee_tokens) && isfinite(fit.knee_error_tokens));
    assert_true(isfinite(step.base_ns) && isfinite(step.base_error_ns) && isfinite(step.slope_ns) &&
                isfinite(step.slope_error_ns));
    assert_true(fit.floor_error_ns >= 0 && fit.slope_error_ns >= 0 && step.slope_error_ns >= 0);
    for (int tokens = 1; tokens <= RUN_MAX_TOKENS; tokens *= 4) {
        assert_in_range(sweep_prefill_ns(sweep, tokens) + 1, 0, RUN_MAX_NS + 1);
        assert_in_range(sweep_step_ns(sweep, tokens) + 1, 0, RUN_MAX_NS + 1);
        assert_in_range(sweep_decode_ppm(sweep, tokens, 100) + 1, 0, 1000001);
    }
}

static void strange_points_give_numbers_or_none_but_no_nonsense(void **state) {
    static const int ascending[] = {1, 2, 3, 4, 5}, equal[] = {4, 4, 4, 4, 4};
    static const int far[] = {1, 2, 3, 4, RUN_MAX_TOKENS};
    static const int64_t zeros[] = {0, 0, 0, 0, 0}, mixed[] = {0, 5, 0, 7, 0};
    static const int64_t huge[] = {RUN_MAX_NS, RUN_MAX_NS, RUN_MAX_NS, RUN_MAX_NS, RUN_MAX_NS};
    static const int64_t wild[] = {1, RUN_MAX_NS, 1, RUN_MAX_NS, 1};
    static const int64_t falling[] = {5000, 4000, 3000, 2000, 1000};
    static const int64_t *const times[] = {zeros, mixed, huge, wild, falling};
    struct sweep_prefill_fit fit;
    (void)state;
    for (int i = 0; i < 5; i++) {
        struct sweep sweep = exact(ascending, times[i], 5);
        assert_finite(&sweep);
        sweep = exact(far, times[i], 5);
        assert_finite(&sweep);
        sweep = exact(equal, times[i], 5); // not ascending: refused, so no fit
        sweep_fit_prefill(&fit, &sweep);
        assert_false(fit.is_there);
        assert_false(sweep_validate(&sweep, &why));
    }
    struct sweep sweep = exact(ascending, falling, 5);
    struct sweep_step_fit step;
    sweep_fit_prefill(&fit, &sweep);
    sweep_fit_step(&step, &sweep);
    assert_false(fit.has_slope || fit.has_flat || step.has_slope); // nothing speeds up
    for (uint64_t seed = 1; seed <= 2000; seed++) {
        uint64_t random = seed;
        struct sweep any = {.prefill_count = (int)random_between(&random, 0, SWEEP_MAX_POINTS)};
        int tokens = 0;
        for (int i = 0; i < any.prefill_count; i++) {
            int64_t at = random_between(&random, 0, (int64_t)1 << random_between(&random, 1, 52));
            tokens += (int)random_between(&random, 1, 4000);
            any.prefill[i] = any.step[i] =
                (struct sweep_point){tokens, at, at / 2, at + at / 3, 1 + (int)(seed % 9)};
        }
        any.step_count = any.prefill_count;
        assert_true(sweep_validate(&any, &why));
        assert_finite(&any);
    }
}

// --- Between and beyond the points ---

static void times_are_exact_on_the_points_and_straight_between(void **state) {
    static const int tokens[] = {1, 4, 8, 16};
    static const int64_t ns[] = {1000, 1000, 2000, 4000};
    struct sweep sweep = exact(tokens, ns, 4);
    (void)state;
    for (int i = 0; i < 4; i++) {
        assert_int_equal(sweep_prefill_ns(&sweep, tokens[i]), ns[i]);
        assert_int_equal(sweep_step_ns(&sweep, tokens[i]), ns[i]);
    }
    assert_int_equal(sweep_prefill_ns(&sweep, 2.5), 1000);
    assert_int_equal(sweep_prefill_ns(&sweep, 6), 1500);
    assert_int_equal(sweep_prefill_ns(&sweep, 12), 3000);
    assert_int_equal(sweep_prefill_ns(&sweep, 0), 1000);
}

static void the_share_of_decode_is_that_of_the_modelled_run(void **state) {
    static const int cases[][2] = {{1, 1}, {1, 2}, {5, 30}, {300, 7}, {1500, 900}, {4000, 1}};
    (void)state;
    for (int i = 0; i < 5; i++) {
        struct sweep sweep = sweep_of(&knees[i], 3);
        struct run *like = random_run(7, NULL), *run = NULL;
        for (int c = 0; c < 6; c++) {
            int prompt = cases[c][0], answers = cases[c][1];
            if (!sweep_run(&run, &sweep, like, prompt, answers, &why))
                fail_msg("%s", why.text);
            double share = (double)run_decode_ns(run) / (double)run_e2e_ns(run);
            assert_true(fabs(sweep_decode_ppm(&sweep, prompt, answers) - 1e6 * share) < 20);
            run_destroy(run);
        }
        run_destroy(like);
    }
}

static void a_modelled_run_has_the_times_of_the_sweep_and_says_so(void **state) {
    struct random_run_limits limits = {.only_plain_text = true};
    struct sweep sweep = sweep_of(&knees[0], 1);
    (void)state;
    for (uint64_t seed = 1; seed <= 30; seed++) {
        struct run *like = random_run(seed, &limits), *run = NULL;
        int prompt = (int)(seed * 37 % 900) + 1, answers = (int)(seed % 12) + 1;
        assert_true(sweep_run(&run, &sweep, like, prompt, answers, &why));
        assert_true(run_validate(run, &why));
        assert_int_equal(run->state, RUN_COMPLETE);
        assert_int_equal(run->info.origin, RUN_MODELLED);
        assert_int_equal(run->info.counting, RUN_ENGINE);
        assert_int_equal(run->prompt_count, prompt);
        assert_int_equal(run->answer_count, answers);
        assert_int_equal(run->info.layers, like->info.layers);
        assert_string_equal(run->info.device, like->info.device);
        assert_int_equal(run_prefill_ns(run), sweep_prefill_ns(&sweep, prompt));
        for (int n = 1; n < answers; n++)
            assert_int_equal(run_pass_end_ns(run, n) - run->passes[n].start_ns,
                             sweep_step_ns(&sweep, prompt + n - 1));
        // Stages in equal parts, to the nanosecond.
        int64_t first_ns = run->mark_end_ns[0], third_ns = run->mark_end_ns[2];
        assert_in_range(third_ns - 3 * first_ns, 0, 3);
        run_destroy(run);
        run_destroy(like);
    }
}

static const char *word(const struct run *run, int token) {
    static char text[RUN_TOKEN_BYTES + 1];
    size_t bytes = 0;
    const char *at = run_token_text(run, token, &bytes);
    memcpy(text, at, bytes);
    text[bytes] = '\0';
    return text;
}

static struct run *spoken(void) {
    static const char *const prompt[] = {"<s>", " Where", " is", " it"};
    static const char *const answer[] = {" Here", ".", "</s>"};
    struct run_info info = {.layers = 2, .prompt_tokens = 4, .answer_limit = 3};
    struct run *run = NULL;
    assert_true(run_create(&run, &info, 1, &why));
    for (int i = 0; i < 4; i++)
        assert_true(run_add_prompt_token(run, i, prompt[i], strlen(prompt[i]), i == 0, &why));
    for (int n = 0; n < 3; n++) {
        struct run_pass pass = {n ? RUN_DECODE : RUN_PREFILL, n ? 3 + n : 0, n ? 1 : 4, n, n};
        assert_true(run_begin_pass(run, &pass, &why));
        assert_true(run_add_answer_token(run, 10 + n, answer[n], strlen(answer[n]), n == 2, &why));
        for (int stage = 0; stage < 4; stage++)
            assert_true(run_add_mark(run, n + 1, &why));
    }
    run_close(run, RUN_COMPLETE);
    return run;
}

static void words_are_repeated_and_control_tokens_keep_their_ends(void **state) {
    (void)state;
    static const char *const words[] = {"<s>", " Where", " is", " it",   " Where", " is",
                                        " it", " Here",  ".",   " Here", ".",      "</s>"};
    struct sweep sweep = sweep_of(&knees[0], 1);
    struct run *like = spoken(), *run = NULL;
    assert_true(sweep_run(&run, &sweep, like, 7, 5, &why));
    for (int i = 0; i < 12; i++)
        assert_string_equal(word(run, i), words[i]);
    assert_int_equal(run->tokens[0].kind, RUN_CONTROL);
    assert_int_equal(run->tokens[11].kind, RUN_CONTROL);
    assert_int_equal(run->tokens[4].id, 1);
    run_destroy(run);
    assert_true(sweep_run(&run, &sweep, like, 2, 1, &why));
    assert_string_equal(word(run, 1), " Where");
    assert_string_equal(word(run, 2), " Here");
    run_destroy(run);
    run_destroy(like);
}

static void lengths_that_cannot_be_are_refused(void **state) {
    (void)state;
    struct sweep sweep = sweep_of(&knees[0], 1), none = {0};
    struct run *like = spoken(), *run = NULL;
    assert_false(sweep_run(&run, &none, like, 5, 5, &why));
    assert_non_null(strstr(why.text, "no points"));
    assert_false(sweep_run(&run, &sweep, like, 0, 5, &why));
    assert_false(sweep_run(&run, &sweep, like, 5, 0, &why));
    assert_false(sweep_run(&run, &sweep, like, RUN_MAX_TOKENS, 5, &why));
    assert_null(run);
    static const int tokens[] = {1, 2};
    static const int64_t huge[] = {RUN_MAX_NS, RUN_MAX_NS};
    struct sweep slow = exact(tokens, huge, 2);
    assert_true(sweep_run(&run, &slow, like, 2, 1, &why));
    assert_int_equal(run_e2e_ns(run), RUN_MAX_NS);
    run_destroy(run);
    assert_false(sweep_run(&run, &slow, like, 2, 2, &why)); // longer than a run may last
    assert_int_equal(sweep_decode_ppm(&sweep, 0, 5), -1);
    assert_int_equal(sweep_decode_ppm(&sweep, 5, 0), -1);
    assert_int_equal(sweep_decode_ppm(&sweep, INT32_MAX, INT32_MAX), -1);
    assert_int_equal(sweep_decode_ppm(&sweep, 5, 1), 0);
    run_destroy(like);
}

// --- Lengths and checks ---

static void lengths_double_up_to_the_longest(void **state) {
    (void)state;
    int lengths[SWEEP_MAX_POINTS];
    assert_int_equal(sweep_lengths(lengths, 0), 0);
    assert_int_equal(sweep_lengths(lengths, 1), 1);
    assert_int_equal(lengths[0], 1);
    assert_int_equal(sweep_lengths(lengths, 1000), 11);
    assert_int_equal(lengths[9], 512);
    assert_int_equal(lengths[10], 1000);
    assert_int_equal(sweep_lengths(lengths, 1024), 11);
    assert_int_equal(lengths[10], 1024);
    int count = sweep_lengths(lengths, INT32_MAX);
    assert_in_range(count, 1, SWEEP_MAX_POINTS);
    assert_int_equal(lengths[count - 1], RUN_MAX_TOKENS);
}

static void a_wrong_sweep_is_refused_by_its_reason(void **state) {
    (void)state;
    struct sweep good = sweep_of(&knees[0], 1), rows[9];
    static const char *const says[9] = {
        "33 prefill points",       "-1 step points",        "prefill point 1 is at 1 tokens",
        "step point 0 is at 0",    "prefill point 2 has 0", "step point 1 has p10",
        "prefill point 1 has p10", "step point 2 has p10",  "at 131073 tokens",
    };
    assert_true(sweep_validate(&good, &why));
    assert_true(sweep_validate(&(struct sweep){0}, &why));
    for (int i = 0; i < 9; i++)
        rows[i] = good;
    rows[0].prefill_count = SWEEP_MAX_POINTS + 1;
    rows[1].step_count = -1;
    rows[2].prefill[1].tokens = 1;
    rows[3].step[0].tokens = 0;
    rows[4].prefill[2].count = 0;
    rows[5].step[1].p10_ns = -1;
    rows[6].prefill[1].p10_ns = rows[6].prefill[1].median_ns + 1;
    rows[7].step[2].p90_ns = RUN_MAX_NS + 1;
    rows[8].prefill[rows[8].prefill_count - 1].tokens = RUN_MAX_TOKENS + 1;
    for (int i = 0; i < 9; i++) {
        assert_false(sweep_validate(&rows[i], &why));
        if (!strstr(why.text, says[i]))
            fail_msg("row %d: %s", i, why.text);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(floors_slopes_and_knees_are_found_with_honest_errors),
        cmocka_unit_test(steps_that_grow_are_found_with_honest_errors),
        cmocka_unit_test(a_plain_line_has_no_flat_part),
        cmocka_unit_test(what_is_flat_has_no_slope),
        cmocka_unit_test(a_bend_at_long_prompts_is_left_out),
        cmocka_unit_test(a_bend_alone_is_no_knee),
        cmocka_unit_test(bursts_of_a_hundred_times_bend_no_fit),
        cmocka_unit_test(a_single_bad_point_changes_no_claim),
        cmocka_unit_test(points_without_any_spread_are_fitted_exactly),
        cmocka_unit_test(too_few_points_are_no_fit),
        cmocka_unit_test(strange_points_give_numbers_or_none_but_no_nonsense),
        cmocka_unit_test(times_are_exact_on_the_points_and_straight_between),
        cmocka_unit_test(the_share_of_decode_is_that_of_the_modelled_run),
        cmocka_unit_test(a_modelled_run_has_the_times_of_the_sweep_and_says_so),
        cmocka_unit_test(words_are_repeated_and_control_tokens_keep_their_ends),
        cmocka_unit_test(lengths_that_cannot_be_are_refused),
        cmocka_unit_test(lengths_double_up_to_the_longest),
        cmocka_unit_test(a_wrong_sweep_is_refused_by_its_reason),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
