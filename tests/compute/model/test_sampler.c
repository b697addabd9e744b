// Tests of sampler.h. The generator against its published values; every draw of
// random logits against a plain reference that sorts all of them; frequencies
// loosely; cuts, ties and broken logits exactly.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "compute/model/sampler.h"

#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static int32_t greedy(const float *logits, int count, const int32_t *banned, int banned_count) {
    struct sampler sampler = {.temperature = 0.0F, .top_p_unit = 0.5F, .seed = 3, .state = 17};
    int32_t id = sampler_next(&sampler, logits, count, NULL, NULL, banned, banned_count);
    assert_int_equal(sampler.state, 17); // a greedy choice draws nothing
    return id;
}

// One draw with scratch memory of the exact size.
static int32_t draw(struct sampler *sampler, const float *logits, int count, const int32_t *banned,
                    int banned_count) {
    float *scratch = malloc((size_t)count * sizeof *scratch);
    int32_t *order = malloc((size_t)count * sizeof *order);
    assert_true(scratch && order);
    int32_t id = sampler_next(sampler, logits, count, scratch, order, banned, banned_count);
    free(scratch);
    free(order);
    return id;
}

static struct sampler new_sampler(float temperature, float top_p_unit, uint64_t seed) {
    struct sampler sampler = {.temperature = temperature, .top_p_unit = top_p_unit, .seed = seed};
    sampler_reset(&sampler);
    return sampler;
}

// --- Greedy ---

static void greedy_takes_the_largest_and_of_equals_the_first(void **state) {
    (void)state;
    static const struct {
        float logits[5];
        int32_t id;
    } cases[] = {
        {{0, 1, 2, 3, 4}, 4},
        {{-5, -1, -2, -3, -4}, 1},
        {{1, 7, 7, 7, 0}, 1},
        {{0.0F, -0.0F, 0.0F, 0, 0}, 0},
        {{NAN, 1, NAN, 2, NAN}, 3},
        {{NAN, NAN, NAN, NAN, -1e30F}, 4},
        {{-INFINITY, -INFINITY, -FLT_MAX, -INFINITY, NAN}, 2},
        {{1, INFINITY, FLT_MAX, INFINITY, 0}, 1},
        {{NAN, NAN, NAN, NAN, NAN}, -1},
        {{-INFINITY, NAN, -INFINITY, NAN, -INFINITY}, -1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        assert_int_equal(greedy(cases[i].logits, 5, NULL, 0), cases[i].id);
    assert_int_equal(greedy(cases[0].logits, 1, NULL, 0), 0);
}

static void banned_ids_never_come_out_of_a_greedy_choice(void **state) {
    (void)state;
    static const float logits[5] = {1, 5, 4, 5, NAN};
    static const int32_t banned[] = {-1, 1, 99, 3, 2, 0, 4};
    assert_int_equal(greedy(logits, 5, banned, 1), 1);
    assert_int_equal(greedy(logits, 5, banned, 3), 3);
    assert_int_equal(greedy(logits, 5, banned, 4), 2);
    assert_int_equal(greedy(logits, 5, banned, 5), 0);
    assert_int_equal(greedy(logits, 5, banned, 7), -1);
}

static void no_or_a_strange_temperature_is_greedy(void **state) {
    (void)state;
    static const float logits[3] = {1, 1.001F, 1};
    static const float temperatures[] = {0.0F, -0.0F, -1.0F, NAN};
    for (size_t i = 0; i < sizeof temperatures / sizeof temperatures[0]; i++) {
        struct sampler sampler = new_sampler(temperatures[i], 1.0F, 1);
        for (int j = 0; j < 20; j++)
            assert_int_equal(draw(&sampler, logits, 3, NULL, 0), 1);
        assert_int_equal(sampler.state, 1);
    }
}

// --- The generator ---

// Of 1024 equal logits, the id drawn is the random number's upper ten bits.
static void the_generator_gives_its_published_numbers(void **state) {
    (void)state;
    static const uint64_t published[] = {6457827717110365317u, 3203168211198807973u,
                                         9817491932198370423u, 4593380528125082431u,
                                         16408922859458223821u};
    static float logits[1024];
    for (int round = 0; round < 2; round++) {
        struct sampler sampler = new_sampler(1.0F, 1.0F, 1234567);
        for (size_t i = 0; i < sizeof published / sizeof published[0]; i++)
            assert_int_equal(draw(&sampler, logits, 1024, NULL, 0), published[i] >> 54);
        assert_int_equal(sampler.seed, 1234567);
        sampler_reset(&sampler);
        assert_int_equal(draw(&sampler, logits, 1024, NULL, 0), published[0] >> 54);
    }
}

static void another_seed_gives_other_ids(void **state) {
    (void)state;
    static float logits[1024];
    struct sampler a = new_sampler(1.0F, 1.0F, 1), b = new_sampler(1.0F, 1.0F, 2);
    int same = 0;
    for (int i = 0; i < 100; i++)
        same += draw(&a, logits, 1024, NULL, 0) == draw(&b, logits, 1024, NULL, 0);
    assert_true(same < 5);
}

// --- Frequencies ---

enum { DRAWS = 20000 };

static void expect_shares(struct sampler sampler, const float *logits, int count,
                          const double *shares) {
    int counts[16] = {0};
    for (int i = 0; i < DRAWS; i++) {
        int32_t id = draw(&sampler, logits, count, NULL, 0);
        assert_true(id >= 0 && id < count);
        counts[id]++;
    }
    for (int i = 0; i < count; i++) {
        double share = (double)counts[i] / DRAWS;
        if (fabs(share - shares[i]) > 0.015) // four standard deviations of a half
            fail_msg("id %d came with %.3f instead of %.3f", i, share, shares[i]);
        if (shares[i] == 0)
            assert_int_equal(counts[i], 0);
    }
}

static void draws_follow_the_softmax_at_each_temperature(void **state) {
    (void)state;
    // Probabilities 1/2, 1/8, 1/4, 1/8 at temperature 1, and far from zero.
    float logits[4];
    static const double halves[4] = {1, 3, 2, 3};
    for (int i = 0; i < 4; i++)
        logits[i] = (float)(900.0 - halves[i] * log(2.0));
    expect_shares(new_sampler(1.0F, 1.0F, 5), logits, 4, (const double[]){.5, .125, .25, .125});
    // Squares (1/4, 1/64, 1/16, 1/64) and square roots, brought to a sum of 1.
    expect_shares(new_sampler(0.5F, 1.0F, 5), logits, 4,
                  (const double[]){16 / 22.0, 1 / 22.0, 4 / 22.0, 1 / 22.0});
    expect_shares(new_sampler(2.0F, 1.0F, 5), logits, 4, (const double[]){.369, .185, .261, .185});
    expect_shares(new_sampler(INFINITY, 1.0F, 5), logits, 4, (const double[]){.25, .25, .25, .25});
    expect_shares(new_sampler(1e-40F, 1.0F, 5), logits, 4, (const double[]){1, 0, 0, 0});
}

static void top_p_keeps_the_fewest_that_reach_it(void **state) {
    (void)state;
    float logits[4];
    static const double halves[4] = {3, 1, 3, 2}; // 1/8, 1/2, 1/8, 1/4
    for (int i = 0; i < 4; i++)
        logits[i] = (float)(-halves[i] * log(2.0));
    static const struct {
        float top_p_unit;
        double shares[4];
    } cases[] = {
        {0.0F, {0, 1, 0, 0}},
        {-1.0F, {0, 1, 0, 0}},
        {0.49F, {0, 1, 0, 0}},
        {0.51F, {0, 2 / 3.0, 0, 1 / 3.0}},
        {0.74F, {0, 2 / 3.0, 0, 1 / 3.0}},
        {0.76F, {1 / 7.0, 4 / 7.0, 0, 2 / 7.0}}, // of the two 1/8, the lower id
        {0.87F, {1 / 7.0, 4 / 7.0, 0, 2 / 7.0}},
        {0.88F, {.125, .5, .125, .25}},
        {1.0F, {.125, .5, .125, .25}},
        {9.0F, {.125, .5, .125, .25}},
        {NAN, {.125, .5, .125, .25}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        expect_shares(new_sampler(1.0F, cases[i].top_p_unit, 9), logits, 4, cases[i].shares);
}

static void of_equal_logits_top_p_keeps_the_lowest_ids(void **state) {
    (void)state;
    static const float logits[8] = {0};
    expect_shares(new_sampler(1.0F, 0.375F, 4), logits, 8,
                  (const double[]){1 / 3.0, 1 / 3.0, 1 / 3.0, 0, 0, 0, 0, 0});
    expect_shares(new_sampler(1.0F, 0.376F, 4), logits, 8,
                  (const double[]){.25, .25, .25, .25, 0, 0, 0, 0});
}

// --- Broken logits ---

static void what_is_no_number_is_never_drawn(void **state) {
    (void)state;
    static const float logits[8] = {NAN, 1, -INFINITY, 1, NAN, -INFINITY, NAN, -1e38F};
    static const double shares[8] = {0, .5, 0, .5, 0, 0, 0, 0};
    expect_shares(new_sampler(1.0F, 1.0F, 6), logits, 8, shares);
    expect_shares(new_sampler(1.0F, 0.9F, 6), logits, 8, shares);
    // Even with all numbers equally likely.
    expect_shares(new_sampler(INFINITY, 1.0F, 6), logits, 8,
                  (const double[]){0, 1 / 3.0, 0, 1 / 3.0, 0, 0, 0, 1 / 3.0});

    static const float infinite[4] = {3e38F, INFINITY, NAN, INFINITY};
    expect_shares(new_sampler(1.0F, 1.0F, 6), infinite, 4, (const double[]){0, .5, 0, .5});
    static const float none[3] = {NAN, -INFINITY, NAN};
    struct sampler sampler = new_sampler(1.0F, 1.0F, 6);
    assert_int_equal(draw(&sampler, none, 3, NULL, 0), -1);
}

static void the_largest_floats_do_not_overflow(void **state) {
    (void)state;
    static const float logits[3] = {FLT_MAX, -FLT_MAX, FLT_MAX};
    expect_shares(new_sampler(1.0F, 1.0F, 7), logits, 3, (const double[]){.5, 0, .5});
}

static void banned_ids_are_never_drawn(void **state) {
    (void)state;
    static const float logits[5] = {9, 1, 9, 1, 1};
    static const int32_t banned[] = {0, -1, 2, 5, 0, INT32_MAX};
    int counts[5] = {0};
    for (int part = 0; part < 2; part++) {
        struct sampler sampler = new_sampler(1.0F, part ? 0.6F : 1.0F, 8);
        memset(counts, 0, sizeof counts);
        for (int i = 0; i < 3000; i++)
            counts[draw(&sampler, logits, 5, banned, 6)]++;
        assert_true(counts[0] == 0 && counts[2] == 0);
        // The share of top-p is that of what is left: two of three equal ones.
        assert_true(counts[1] > 800 && counts[3] > 800);
        assert_int_equal(counts[4] > 800, part == 0);
    }
    // Neither when they are no likelier than the rest.
    struct sampler even = new_sampler(INFINITY, 1.0F, 8);
    static const int32_t low[] = {1, 4};
    for (int i = 0; i < 300; i++) {
        int32_t id = draw(&even, logits, 5, low, 2);
        assert_true(id != 1 && id != 4);
    }
    static const int32_t all[] = {0, 1, 2, 3, 4};
    struct sampler sampler = new_sampler(1.0F, 1.0F, 8);
    assert_int_equal(draw(&sampler, logits, 5, all, 5), -1);
}

// --- Against a plain reference ---

enum { IDS = 500 };

static const double *sort_weights;

static int compare_ids(const void *a, const void *b) {
    int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    if (sort_weights[x] != sort_weights[y])
        return sort_weights[x] < sort_weights[y] ? 1 : -1;
    return x < y ? -1 : 1;
}

// Sorts everything, cuts, walks from the least likely kept one up.
static int32_t reference(const double *weights, double top_p, double unit) {
    int32_t ids[IDS];
    double total = 0, kept = 0;
    int count = 0;
    for (int32_t i = 0; i < IDS; i++) {
        ids[i] = i;
        total += weights[i];
    }
    sort_weights = weights;
    qsort(ids, IDS, sizeof ids[0], compare_ids);
    while (count < IDS && (count == 0 || kept < top_p * total))
        kept += weights[ids[count++]];
    double sum = 0;
    for (int i = count - 1; i > 0; i--) {
        sum += weights[ids[i]];
        if (sum > unit * kept)
            return ids[i];
    }
    return ids[0];
}

static void every_draw_is_that_of_a_plain_reference(void **state) {
    (void)state;
    uint64_t noise = 1;
    for (int round = 0; round < 400; round++) {
        float logits[IDS];
        double weights[IDS];
        float largest = -INFINITY, temperature = 0.3F + 0.01F * (float)(round % 200);
        for (int i = 0; i < IDS; i++) {
            noise = noise * 6364136223846793005u + 1442695040888963407u;
            logits[i] = (float)(noise >> 58) * 0.25F; // 64 values: many ties
            largest = fmaxf(largest, logits[i]);
        }
        for (int i = 0; i < IDS; i++)
            weights[i] = (double)expf((logits[i] - largest) / temperature);
        struct sampler sampler = new_sampler(temperature, 0.05F + 0.0024F * (float)round, noise);
        // The random number that the draw must use, from its definition.
        uint64_t x = noise + 0x9e3779b97f4a7c15;
        x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
        x = (x ^ x >> 27) * 0x94d049bb133111eb;
        double unit = (double)((x ^ x >> 31) >> 11) * 0x1p-53;
        if (sampler.top_p_unit >= 1.0F)
            break;
        int32_t id = draw(&sampler, logits, IDS, NULL, 0);
        assert_int_equal(id, reference(weights, (double)sampler.top_p_unit, unit));
        assert_int_equal(sampler.state, noise + 0x9e3779b97f4a7c15);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(greedy_takes_the_largest_and_of_equals_the_first),
        cmocka_unit_test(banned_ids_never_come_out_of_a_greedy_choice),
        cmocka_unit_test(no_or_a_strange_temperature_is_greedy),
        cmocka_unit_test(the_generator_gives_its_published_numbers),
        cmocka_unit_test(another_seed_gives_other_ids),
        cmocka_unit_test(draws_follow_the_softmax_at_each_temperature),
        cmocka_unit_test(top_p_keeps_the_fewest_that_reach_it),
        cmocka_unit_test(of_equal_logits_top_p_keeps_the_lowest_ids),
        cmocka_unit_test(what_is_no_number_is_never_drawn),
        cmocka_unit_test(the_largest_floats_do_not_overflow),
        cmocka_unit_test(banned_ids_are_never_drawn),
        cmocka_unit_test(every_draw_is_that_of_a_plain_reference),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
