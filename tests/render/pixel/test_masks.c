// The cache of masks against a model of it that looks through a list.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "render/pixel/masks.h"

#include <stdlib.h>
#include <string.h>

static struct masks *masks;

static int open_masks(void **state) {
    (void)state;
    return masks_create(&masks) ? 0 : -1;
}

static int close_masks(void **state) {
    (void)state;
    masks_destroy(masks);
    masks_destroy(NULL);
    return 0;
}

// Few buckets, so that their chains are long.
static struct text_key key_of(int i) {
    return (struct text_key){(uint64_t)(i % 7), (uint64_t)i};
}

static const struct mask *keep(int i, int width_px, int height_px) {
    struct mask fresh = {malloc((size_t)width_px * (size_t)height_px), i, -i, width_px, height_px};
    fresh.coverage[0] = (uint8_t)i;
    return masks_keep(masks, key_of(i), fresh);
}

static void assert_holds(const struct mask *mask, int i) {
    if (!mask || mask->left_px != i || mask->top_px != -i || mask->coverage[0] != (uint8_t)i)
        fail_msg("mask %d is not what was kept", i);
}

static void what_was_kept_is_found_and_nothing_else(void **state) {
    (void)state;
    for (int i = 0; i < 1000; i += 2)
        assert_holds(keep(i, 3, 2), i);
    for (int i = 0; i < 1000; i++) {
        const struct mask *found = masks_find(masks, key_of(i));
        if (i % 2)
            assert_null(found);
        else
            assert_holds(found, i);
    }
}

static void a_mask_of_nothing_is_kept_too(void **state) {
    (void)state;
    masks_keep(masks, key_of(5), (struct mask){0});
    const struct mask *found = masks_find(masks, key_of(5));
    assert_non_null(found);
    assert_null(found->coverage);
}

// When each mask was used last, 0 = not kept.
enum { POOL = 5000 };

static bool model_misses(int *used, int *kept, int i, int now) {
    bool missed = used[i] == 0;
    if (missed && (*kept)++ == MASKS_MAX) {
        int oldest = -1;
        for (int k = 0; k < POOL; k++)
            if (used[k] && (oldest < 0 || used[k] < used[oldest]))
                oldest = k;
        used[oldest] = 0;
        (*kept)--;
    }
    used[i] = now;
    return missed;
}

static void the_mask_not_used_for_longest_goes_first(void **state) {
    (void)state;
    static int used[POOL];
    unsigned seed = 5;
    int kept = 0, misses = 0;
    for (int now = 1; now <= 30000; now++) {
        // Some masks come far more often than others, as on a screen.
        int i = rand_r(&seed) % (now % 3 ? POOL : 50);
        bool misses_now = model_misses(used, &kept, i, now);
        const struct mask *found = masks_find(masks, key_of(i));
        if (misses_now != !found)
            fail_msg("use %d: mask %d is %s", now, i, found ? "still kept" : "gone");
        assert_holds(found ? found : keep(i, 1, 1), i);
        misses += misses_now;
    }
    assert_true(misses > POOL);
}

static void large_masks_leave_room_for_fewer(void **state) {
    (void)state;
    enum { ROOM = 6, PX = MASKS_MAX_PX / ROOM };
    for (int i = 0; i < 10; i++)
        keep(i, PX / 1024, 1024);
    for (int i = 0; i < 10; i++)
        assert_true((masks_find(masks, key_of(i)) != NULL) == (i >= 10 - ROOM));
    // One that is larger than the room for all is kept alone.
    assert_holds(keep(10, MASKS_MAX_PX / 1024 + 1, 1024), 10);
    assert_holds(masks_find(masks, key_of(10)), 10);
    for (int i = 0; i < 10; i++)
        assert_null(masks_find(masks, key_of(i)));
    // And goes when another one comes.
    keep(11, 1, 1);
    assert_null(masks_find(masks, key_of(10)));
    assert_holds(masks_find(masks, key_of(11)), 11);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, open_masks, close_masks)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(what_was_kept_is_found_and_nothing_else),
        TEST(a_mask_of_nothing_is_kept_too),
        TEST(the_mask_not_used_for_longest_goes_first),
        TEST(large_masks_leave_room_for_fewer),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
