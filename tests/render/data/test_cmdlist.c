// The command buffer: what it takes, what it drops and counts, and that its hash
// sees every field.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "render/data/cmdlist.h"

#include <stdlib.h>
#include <string.h>

static struct cmdlist list;

static const struct rect BOX = {10, 20, 100, 60};
static const rgba INK = 0xEAF0F6FF;

static void text(const char *utf8) {
    const struct cmd cmd = {.face = FACE_WORDS, .stroke = 20, .color = INK, .rect = BOX};
    cmdlist_text(&list, &cmd, utf8);
}

static void each_kind_is_recorded_in_order(void **state) {
    (void)state;
    cmdlist_clear(&list);
    cmdlist_fill(&list, BOX, INK);
    cmdlist_round(&list, BOX, 7, INK);
    cmdlist_ring(&list, BOX, 8, 3, INK);
    cmdlist_stripes(&list, BOX, 5, true, INK);
    cmdlist_drop(&list, BOX, 2, INK);
    text("parcel");
    cmdlist_clip(&list, BOX);
    cmdlist_line(&list, &(struct cmd_line){10, 20, 110, 80, 24, true}, INK);
    static const uint8_t kinds[] = {CMD_FILL, CMD_ROUND, CMD_RING, CMD_STRIPES,
                                    CMD_DROP, CMD_TEXT,  CMD_CLIP, CMD_LINE};
    assert_int_equal(list.count, 8);
    for (int i = 0; i < 8; i++) {
        assert_int_equal(list.cmds[i].kind, kinds[i]);
        assert_memory_equal(&list.cmds[i].rect, &BOX, sizeof BOX);
    }
    assert_int_equal(list.cmds[1].radius, 7);
    assert_int_equal(list.cmds[2].radius, 8);
    assert_int_equal(list.cmds[2].stroke, 3);
    assert_int_equal(list.cmds[3].mirrored, 1);
    assert_int_equal(list.cmds[4].phase, 2);
    assert_int_equal(list.cmds[5].text_bytes, 6);
    assert_memory_equal(list.text + list.cmds[5].text_offset, "parcel", 6);
    assert_int_equal(list.cmds[7].stroke, 24);
    assert_int_equal(list.cmds[7].phase, 0); // there is no line before it
}

static void a_line_continues_one_of_its_kind_alone(void **state) {
    (void)state;
    const struct cmd_line first = {0, 0, 160, 80, 24, false}, next = {160, 80, 0, -80, 24, true};
    struct cmd_line thicker = next;
    thicker.stroke = 32;
    cmdlist_clear(&list);
    cmdlist_line(&list, &first, INK);
    cmdlist_line(&list, &next, INK);
    cmdlist_line(&list, &next, INK ^ 0x100);
    cmdlist_line(&list, &thicker, INK ^ 0x100);
    cmdlist_line(&list, &thicker, INK ^ 0x100);
    cmdlist_fill(&list, BOX, INK ^ 0x100);
    cmdlist_line(&list, &thicker, INK ^ 0x100);
    static const int continued[] = {0, 1, 0, 0, 1, 0, 0};
    assert_int_equal(list.count, 7);
    for (int i = 0; i < 7; i++)
        assert_int_equal(list.cmds[i].phase, continued[i]);
    assert_int_equal(list.cmds[1].rect.w, -160);
    assert_int_equal(list.cmds[1].rect.h, -160);
}

static void a_lines_ends_and_stroke_are_clamped(void **state) {
    (void)state;
    cmdlist_clear(&list);
    const struct cmd_line far_away = {INT32_MIN, INT32_MAX, INT32_MAX, INT32_MIN, INT32_MAX, false};
    cmdlist_line(&list, &far_away, INK);
    assert_int_equal(list.cmds[0].rect.x, -(1 << 24));
    assert_int_equal(list.cmds[0].rect.y, 1 << 24);
    assert_int_equal(list.cmds[0].rect.w, 1 << 25);
    assert_int_equal(list.cmds[0].rect.h, -(1 << 25));
    assert_int_equal(list.cmds[0].stroke, CMD_MAX_LINE_PX * CMD_LINE_UNIT);
    cmdlist_line(&list, &(struct cmd_line){0, 0, 9, 9, 0, false}, INK);
    cmdlist_line(&list, &(struct cmd_line){0, 0, 9, 9, 16, false}, 0xFFFFFF00);
    assert_int_equal(list.count, 1);
}

static void what_cannot_be_seen_is_not_recorded(void **state) {
    (void)state;
    static const struct rect empty[] = {{0, 0, 0, 5}, {0, 0, 5, 0}, {0, 0, -5, 5}, {0, 0, 5, -1}};
    cmdlist_clear(&list);
    for (int i = 0; i < 4; i++) {
        cmdlist_fill(&list, empty[i], INK);
        cmdlist_round(&list, empty[i], 3, INK);
        cmdlist_ring(&list, empty[i], 3, 1, INK);
        cmdlist_stripes(&list, empty[i], 3, false, INK);
        cmdlist_drop(&list, empty[i], 0, INK);
    }
    cmdlist_fill(&list, BOX, 0xFFFFFF00);
    cmdlist_round(&list, BOX, 3, 0xFFFFFF00);
    cmdlist_ring(&list, BOX, 3, 0, INK);
    cmdlist_stripes(&list, BOX, 0, false, INK);
    cmdlist_drop(&list, BOX, 0, 0xFFFFFF00);
    text("");
    assert_int_equal(list.count, 0);
    assert_int_equal(list.dropped, 0);
}

static void radius_stroke_and_phase_are_clamped(void **state) {
    (void)state;
    cmdlist_clear(&list);
    cmdlist_round(&list, BOX, 1000, INK); // half the smaller side
    cmdlist_round(&list, (struct rect){0, 0, 900, 900}, 70000, INK);
    cmdlist_round(&list, BOX, -4, INK);
    cmdlist_ring(&list, BOX, 1000, 70000, INK);
    cmdlist_stripes(&list, BOX, 70000, false, INK);
    cmdlist_drop(&list, BOX, 9, INK);
    cmdlist_drop(&list, BOX, -1, INK);
    assert_int_equal(list.cmds[0].radius, 30);
    assert_int_equal(list.cmds[1].radius, CMD_MAX_RADIUS_PX);
    assert_int_equal(list.cmds[2].radius, 0);
    assert_int_equal(list.cmds[3].radius, 30);
    assert_int_equal(list.cmds[3].stroke, CMD_MAX_STROKE_PX);
    assert_int_equal(list.cmds[4].stroke, CMD_MAX_STROKE_PX);
    assert_int_equal(list.cmds[5].phase, 3);
    assert_int_equal(list.cmds[6].phase, 0);
}

static void a_full_list_drops_and_counts(void **state) {
    (void)state;
    cmdlist_clear(&list);
    for (int i = 0; i < CMDLIST_MAX + 5; i++)
        cmdlist_fill(&list, BOX, INK);
    text("no room");
    cmdlist_clip(&list, BOX);
    assert_int_equal(list.count, CMDLIST_MAX);
    assert_int_equal(list.dropped, 7);
    assert_int_equal(list.text_used, 0);
    cmdlist_clear(&list);
    assert_int_equal(list.count, 0);
    assert_int_equal(list.dropped, 0);
}

static void a_text_that_does_not_fit_is_dropped_whole(void **state) {
    (void)state;
    static char half[CMDLIST_TEXT_BYTES / 2 + 1];
    memset(half, 'a', sizeof half - 1);
    cmdlist_clear(&list);
    text(half);
    text("b");
    text(half); // one byte too many
    assert_int_equal(list.count, 2);
    assert_int_equal(list.dropped, 1);
    half[sizeof half - 2] = '\0';
    text(half); // exactly fits
    assert_int_equal(list.count, 3);
    assert_int_equal(list.text_used, CMDLIST_TEXT_BYTES);
    text("c");
    assert_int_equal(list.dropped, 2);
}

static void fill_sample(void) {
    cmdlist_clear(&list);
    cmdlist_ring(&list, BOX, 8, 3, INK);
    text("Where is my parcel?");
    cmdlist_drop(&list, BOX, 1, INK);
}

static void equal_lists_hash_equally_whatever_was_there_before(void **state) {
    (void)state;
    memset(&list, 0xA5, sizeof list);
    fill_sample();
    uint64_t first = cmdlist_hash(&list);
    memset(&list, 0x5A, sizeof list);
    fill_sample();
    assert_int_equal(cmdlist_hash(&list), first);
}

static void the_hash_sees_every_field(void **state) {
    (void)state;
    fill_sample();
    uint64_t seen[32] = {cmdlist_hash(&list)};
    int count = 1;
    struct cmd *cmd = &list.cmds[0];
    const struct cmd before = *cmd;
#define CHANGED(change)                                                                            \
    do {                                                                                           \
        change;                                                                                    \
        seen[count++] = cmdlist_hash(&list);                                                       \
        *cmd = before;                                                                             \
    } while (0)
    CHANGED(cmd->kind++);
    CHANGED(cmd->face++);
    CHANGED(cmd->phase++);
    CHANGED(cmd->mirrored++);
    CHANGED(cmd->radius++);
    CHANGED(cmd->stroke++);
    CHANGED(cmd->color ^= 1u << 31);
    CHANGED(cmd->color ^= 1);
    CHANGED(cmd->rect.x++);
    CHANGED(cmd->rect.y++);
    CHANGED(cmd->rect.w++);
    CHANGED(cmd->rect.h++);
    CHANGED(cmd->text_bytes++);
#undef CHANGED
    list.text[0] ^= 1;
    seen[count++] = cmdlist_hash(&list);
    list.text[0] ^= 1;
    list.text[list.text_used - 1] ^= 1; // beyond the last whole word
    seen[count++] = cmdlist_hash(&list);
    list.text[list.text_used - 1] ^= 1;
    list.dropped++;
    seen[count++] = cmdlist_hash(&list);
    list.dropped--;
    list.count--;
    seen[count++] = cmdlist_hash(&list);
    list.count++;
    assert_int_equal(cmdlist_hash(&list), seen[0]);
    for (int i = 0; i < count; i++)
        for (int j = 0; j < i; j++)
            if (seen[i] == seen[j])
                fail_msg("changes %d and %d give the same hash", i, j);
}

static void a_rectangle_has_its_first_pixels_and_not_those_behind_its_last(void **state) {
    (void)state;
    int right = BOX.x + BOX.w, below = BOX.y + BOX.h;
    assert_true(rect_has(BOX, BOX.x, BOX.y));
    assert_true(rect_has(BOX, right - 1, below - 1));
    assert_false(rect_has(BOX, BOX.x - 1, BOX.y));
    assert_false(rect_has(BOX, BOX.x, BOX.y - 1));
    assert_false(rect_has(BOX, right, BOX.y));
    assert_false(rect_has(BOX, BOX.x, below));
    assert_false(rect_has((struct rect){5, 5, 0, 10}, 5, 5));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_kind_is_recorded_in_order),
        cmocka_unit_test(a_line_continues_one_of_its_kind_alone),
        cmocka_unit_test(a_lines_ends_and_stroke_are_clamped),
        cmocka_unit_test(what_cannot_be_seen_is_not_recorded),
        cmocka_unit_test(radius_stroke_and_phase_are_clamped),
        cmocka_unit_test(a_full_list_drops_and_counts),
        cmocka_unit_test(a_text_that_does_not_fit_is_dropped_whole),
        cmocka_unit_test(equal_lists_hash_equally_whatever_was_there_before),
        cmocka_unit_test(the_hash_sees_every_field),
        cmocka_unit_test(a_rectangle_has_its_first_pixels_and_not_those_behind_its_last),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
