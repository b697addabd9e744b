// The panel's data: the hash sees everything that is in use and nothing else, and
// clearing leaves nothing behind.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/render/data/sample_panel.h"

#include <string.h>

static struct panel one, two;

// Something of everything.
static void fill(struct panel *panel) {
    sample_panel(panel, SAMPLE_QUESTION);
    panel->party_count = 2;
    panel->parties[0] = (struct panel_party){"Application", "waits", false, true, TONE_INK};
    panel->parties[1] = (struct panel_party){"Model", "decodes", true, true, TONE_DECODE};
    panel->bar_count = 2;
    panel->bars[0] = (struct panel_bar){"wait", "1 ms", "", 100, 0, -1, TONE_PREFILL};
    panel->bars[1] = (struct panel_bar){"total", "2 ms", "+1 %", 100, 200, 300, TONE_PREFILL};
    panel->has_field = true;
    strcpy(panel->field, "Where is it?");
    panel->field_cursor = 5;
    panel->tile_count = 2;
    panel->tiles[0] = (struct view_token){"Where", TOKEN_WORD, 0, 0};
    panel->tiles[1] = (struct view_token){"is", TOKEN_WORD, 1, 0};
    strcpy(panel->tiles_label, "2 tokens");
    panel->line_count = 2;
    panel->lines[0] = (struct panel_line){"1 ms", "token 1", TONE_PREFILL, true};
    panel->lines[1] = (struct panel_line){"2 ms", "token 2", TONE_DECODE, false};
    panel->line_focus = 1;
    strcpy(panel->foot, "foot");
}

// One change a row: each must be seen. Texts get a letter, numbers another value.
#define FIELD(field)                                                                               \
    { offsetof(struct panel, field), sizeof(((struct panel *)0)->field), false }
#define COUNT(field)                                                                               \
    { offsetof(struct panel, field), sizeof(int), true }
static const struct change {
    size_t at, bytes;
    bool is_count;
} CHANGES[] = {
    FIELD(title[0]),
    FIELD(title_tone),
    COUNT(party_count),
    FIELD(parties[1].name[0]),
    FIELD(parties[1].state[0]),
    FIELD(parties[1].acts),
    FIELD(parties[1].is_well),
    FIELD(parties[1].tone),
    COUNT(block_count),
    FIELD(block_scroll),
    FIELD(blocks[0].heading[0]),
    FIELD(blocks[0].text[3]),
    FIELD(blocks[0].is_optional),
    COUNT(bar_count),
    FIELD(bars[1].label[0]),
    FIELD(bars[1].value[0]),
    FIELD(bars[1].note[0]),
    FIELD(bars[1].first_ppm),
    FIELD(bars[1].second_ppm),
    FIELD(bars[1].before_ppm),
    FIELD(bars[1].tone),
    COUNT(control_count),
    FIELD(controls[1].kind),
    FIELD(controls[1].tone),
    FIELD(controls[1].is_focused),
    FIELD(controls[1].is_off),
    FIELD(controls[1].label[0]),
    FIELD(controls[1].value[0]),
    FIELD(controls[1].ppm),
    FIELD(controls[1].mark_ppm),
    FIELD(controls[1].mark_label[0]),
    FIELD(has_field),
    FIELD(field[2]),
    FIELD(field_cursor),
    COUNT(tile_count),
    FIELD(tiles[1].text[0]),
    FIELD(tiles[1].look),
    FIELD(tiles[1].leading_space),
    FIELD(tiles[1].is_prefill),
    FIELD(tiles_label[0]),
    COUNT(line_count),
    FIELD(lines[1].time[0]),
    FIELD(lines[1].text[0]),
    FIELD(lines[1].tone),
    FIELD(lines[1].is_past),
    FIELD(line_focus),
    FIELD(foot[0]),
};
enum { CHANGE_COUNT = sizeof CHANGES / sizeof CHANGES[0] };

// One less of a count; of all else the lowest bit flips: a bool, a number, a letter
// that stays a letter.
static void apply(struct panel *panel, const struct change *change) {
    unsigned char *at = (unsigned char *)panel + change->at;
    assert_true(change->bytes == 1 || change->bytes == sizeof(int));
    if (change->is_count)
        (*at)--;
    else
        *at ^= 1;
}

static void the_hash_sees_every_field_that_is_in_use(void **state) {
    (void)state;
    uint64_t seen[CHANGE_COUNT + 1];
    fill(&one);
    seen[0] = panel_hash(&one);
    for (int i = 0; i < CHANGE_COUNT; i++) {
        fill(&one);
        apply(&one, &CHANGES[i]);
        seen[i + 1] = panel_hash(&one);
        for (int k = 0; k <= i; k++)
            if (seen[k] == seen[i + 1])
                fail_msg("change %d looks like %d", i, k - 1);
    }
}

static void the_hash_is_blind_to_what_is_not_in_use(void **state) {
    (void)state;
    for (int kind = 0; kind < SAMPLE_PANELS; kind++) {
        memset(&one, 0, sizeof one);
        memset(&two, 0xA5, sizeof two);
        sample_panel(&one, (enum sample_panel_kind)kind);
        sample_panel(&two, (enum sample_panel_kind)kind);
        assert_true(panel_hash(&one) == panel_hash(&two));
        one.title[strlen(one.title) + 2] = 'x';
        assert_true(panel_hash(&one) == panel_hash(&two));
    }
}

static void a_text_that_is_not_shown_does_not_count(void **state) {
    (void)state;
    fill(&one);
    one.has_field = false;
    uint64_t hash = panel_hash(&one);
    one.field[0] = 'x';
    one.field_cursor = 0;
    assert_true(panel_hash(&one) == hash);
}

static void neighbouring_texts_do_not_run_into_each_other(void **state) {
    (void)state;
    fill(&one);
    fill(&two);
    strcpy(one.blocks[0].heading, "ab");
    strcpy(one.blocks[0].text, "c");
    strcpy(two.blocks[0].heading, "a");
    strcpy(two.blocks[0].text, "bc");
    assert_true(panel_hash(&one) != panel_hash(&two));
}

static void a_cleared_panel_is_the_same_whatever_it_held(void **state) {
    (void)state;
    memset(&one, 0xFF, sizeof one);
    memset(&two, 0, sizeof two);
    panel_clear(&one);
    panel_clear(&two);
    assert_true(panel_hash(&one) == panel_hash(&two));
    assert_int_equal(one.line_focus, -1);
    fill(&one);
    panel_clear(&one);
    assert_true(panel_hash(&one) == panel_hash(&two));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_hash_sees_every_field_that_is_in_use),
        cmocka_unit_test(the_hash_is_blind_to_what_is_not_in_use),
        cmocka_unit_test(a_text_that_is_not_shown_does_not_count),
        cmocka_unit_test(neighbouring_texts_do_not_run_into_each_other),
        cmocka_unit_test(a_cleared_panel_is_the_same_whatever_it_held),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
