// The view: the hash sees everything that is in use and nothing else, arrays count
// what finds no room, clearing leaves nothing behind.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/render/data/sample_view.h"

#include <stdlib.h>
#include <string.h>

static struct view one, two;

static const struct sample DECODING = {
    .layers = 8,
    .prompt_tokens = 18,
    .answer_limit = 7,
    .answers = 7,
    .moment = {.pass = 3, .stage = 9, .progress_ppm = 400000, .falling_ppm = 100000},
};

// One change a row: each must be seen.
static void change_layers(struct view *v) {
    v->layers++;
}
static void change_columns(struct view *v) {
    v->columns++;
}
static void change_limit(struct view *v) {
    v->answer_limit++;
}
static void change_prompt(struct view *v) {
    v->prompt_tokens++;
}
static void change_stage(struct view *v) {
    v->stage = VIEW_DONE;
}
static void change_token_text(struct view *v) {
    v->tokens[2].text[0] = 'b';
}
static void change_token_look(struct view *v) {
    v->tokens[2].look = TOKEN_BYTES;
}
static void change_token_space(struct view *v) {
    v->tokens[2].leading_space ^= 1;
}
static void change_token_origin(struct view *v) {
    v->tokens[18].is_prefill ^= 1;
}
static void change_token_count(struct view *v) {
    v->token_count--;
}
static void change_headers(struct view *v) {
    v->headers++;
}
static void change_full(struct view *v) {
    v->full_columns++;
}
static void change_pass_active(struct view *v) {
    v->pass.active = false;
}
static void change_pass_kind(struct view *v) {
    v->pass.is_prefill = true;
}
static void change_pass_charged(struct view *v) {
    v->pass.is_charged = true;
}
static void change_pass_first(struct view *v) {
    v->pass.first_column++;
}
static void change_pass_count(struct view *v) {
    v->pass.column_count++;
}
static void change_pass_stage(struct view *v) {
    v->pass.stage--;
}
static void change_pass_progress(struct view *v) {
    v->pass.progress_ppm++;
}
static void change_landed(struct view *v) {
    v->landed++;
}
static void change_finished(struct view *v) {
    v->is_finished = true;
}
static void change_drop_count(struct view *v) {
    v->drop_count--;
}
static void change_drop_answer(struct view *v) {
    v->drops[1].answer++;
}
static void change_drop_column(struct view *v) {
    v->drops[1].column++;
}
static void change_drop_falling(struct view *v) {
    v->drops[0].is_falling = false;
}
static void change_drop_kind(struct view *v) {
    v->drops[0].is_prefill = true;
}
static void change_drop_progress(struct view *v) {
    v->drops[1].progress_ppm++;
}
static void change_stream(struct view *v) {
    v->stream++;
}
static void change_span_count(struct view *v) {
    v->span_count--;
}
static void change_span_from(struct view *v) {
    v->spans[1].from_ppm++;
}
static void change_span_to(struct view *v) {
    v->spans[1].to_ppm++;
}
static void change_span_kind(struct view *v) {
    v->spans[1].is_prefill = 1;
}
static void change_span_charged(struct view *v) {
    v->spans[1].is_charged = 1;
}
static void change_playhead(struct view *v) {
    v->playhead_ppm++;
}
static void change_prefill_label(struct view *v) {
    strcat(v->prefill_label, ".");
}
static void change_decode_label(struct view *v) {
    strcat(v->decode_label, ".");
}
static void change_decode_place(struct view *v) {
    v->decode_label_ppm++;
}
static void change_scale(struct view *v) {
    strcat(v->scale_label, ".");
}
static void change_guess(struct view *v) {
    v->guess_ppm = 0;
}
static void change_guess_label(struct view *v) {
    strcat(v->guess_label, ".");
}
static void change_readout_count(struct view *v) {
    v->readout_count--;
}
static void change_readout_label(struct view *v) {
    strcat(v->readouts[1].label, ".");
}
static void change_readout_value(struct view *v) {
    strcat(v->readouts[1].value, ".");
}
static void change_readout_note(struct view *v) {
    strcat(v->readouts[1].note, ".");
}
static void change_readout_formula(struct view *v) {
    strcat(v->readouts[1].formula, ".");
}
static void change_readout_tone(struct view *v) {
    v->readouts[1].tone = TONE_READ;
}
static void change_title(struct view *v) {
    strcat(v->title, ".");
}
static void change_headline(struct view *v) {
    strcat(v->headline, ".");
}
static void change_caption(struct view *v) {
    strcat(v->caption, ".");
}
static void change_caption_tone(struct view *v) {
    v->caption_tone = TONE_READ;
}
static void change_origin(struct view *v) {
    strcat(v->origin, ".");
}
static void change_origin_tone(struct view *v) {
    v->origin_tone = TONE_QUIET;
}
static void change_rate(struct view *v) {
    strcat(v->rate, ".");
}
static void change_note(struct view *v) {
    strcat(v->note, ".");
}
static void change_dropped(struct view *v) {
    v->dropped++;
}

static void (*const CHANGES[])(struct view *) = {
    change_layers,        change_columns,       change_limit,
    change_prompt,        change_stage,         change_token_text,
    change_token_look,    change_token_space,   change_token_origin,
    change_token_count,   change_headers,       change_full,
    change_pass_active,   change_pass_kind,     change_pass_charged,
    change_pass_first,    change_pass_count,    change_pass_stage,
    change_pass_progress, change_landed,        change_finished,
    change_drop_count,    change_drop_answer,   change_drop_column,
    change_drop_falling,  change_drop_kind,     change_drop_progress,
    change_stream,        change_span_count,    change_span_from,
    change_span_to,       change_span_kind,     change_span_charged,
    change_playhead,      change_prefill_label, change_decode_label,
    change_decode_place,  change_scale,         change_guess,
    change_guess_label,   change_readout_count, change_readout_label,
    change_readout_value, change_readout_note,  change_readout_formula,
    change_readout_tone,  change_title,         change_headline,
    change_caption,       change_caption_tone,  change_origin,
    change_origin_tone,   change_rate,          change_note,
    change_dropped,
};

enum { CHANGE_COUNT = sizeof CHANGES / sizeof CHANGES[0] };

static void the_hash_sees_every_field_that_is_in_use(void **state) {
    (void)state;
    uint64_t seen[CHANGE_COUNT + 1];
    sample_view(&one, &DECODING);
    seen[0] = view_hash(&one);
    for (int i = 0; i < CHANGE_COUNT; i++) {
        sample_view(&one, &DECODING);
        CHANGES[i](&one);
        seen[i + 1] = view_hash(&one);
        for (int k = 0; k <= i; k++)
            if (seen[k] == seen[i + 1])
                fail_msg("change %d looks like %d", i, k - 1);
    }
}

static void the_hash_is_blind_to_what_is_not_in_use(void **state) {
    (void)state;
    memset(&one, 0, sizeof one);
    memset(&two, 0xA5, sizeof two);
    sample_view(&one, &DECODING);
    sample_view(&two, &DECODING);
    assert_true(view_hash(&one) == view_hash(&two));
    // Bytes behind a NUL are leftovers too.
    size_t end = strlen(one.caption);
    one.caption[end + 2] = 'x';
    assert_true(view_hash(&one) == view_hash(&two));
}

static void neighbouring_texts_do_not_run_into_each_other(void **state) {
    (void)state;
    view_clear(&one);
    view_clear(&two);
    strcpy(one.title, "ab");
    strcpy(two.title, "a");
    strcpy(two.headline, "b");
    assert_true(view_hash(&one) != view_hash(&two));
}

static void a_full_array_counts_what_finds_no_room(void **state) {
    (void)state;
    struct view_readout readout = {.label = "TIME"};
    view_clear(&one);
    for (int i = 0; i < VIEW_MAX_DROPS + 3; i++)
        view_add_drop(&one, (struct view_drop){.answer = i});
    assert_int_equal(one.drop_count, VIEW_MAX_DROPS);
    assert_int_equal(one.dropped, 3);
    assert_int_equal(one.drops[VIEW_MAX_DROPS - 1].answer, VIEW_MAX_DROPS - 1);
    for (int i = 0; i < VIEW_MAX_READOUTS + 2; i++)
        view_add_readout(&one, &readout);
    assert_int_equal(one.readout_count, VIEW_MAX_READOUTS);
    assert_int_equal(one.dropped, 5);
}

static void spans_without_room_join_a_neighbour_of_their_kind(void **state) {
    (void)state;
    view_clear(&one);
    for (int i = 0; i < VIEW_MAX_SPANS + 10; i++)
        view_add_span(&one, (struct view_span){i * 100, (i + 1) * 100, 0, 0});
    assert_int_equal(one.span_count, VIEW_MAX_SPANS);
    assert_int_equal(one.spans[VIEW_MAX_SPANS - 1].to_ppm, (VIEW_MAX_SPANS + 10) * 100);
    assert_int_equal(one.dropped, 0);
    view_add_span(&one, (struct view_span){900000, 900100, 1, 0});
    assert_int_equal(one.dropped, 1);
    assert_int_equal(one.spans[VIEW_MAX_SPANS - 1].to_ppm, (VIEW_MAX_SPANS + 10) * 100);
}

static void a_cleared_view_is_the_same_whatever_it_held(void **state) {
    (void)state;
    memset(&one, 0xFF, sizeof one);
    memset(&two, 0, sizeof two);
    view_clear(&one);
    view_clear(&two);
    assert_true(view_hash(&one) == view_hash(&two));
    assert_int_equal(one.decode_label_ppm, -1);
    assert_int_equal(one.guess_ppm, -1);
    assert_int_equal(one.layers, 1);
    assert_int_equal(one.token_count, 0);
    assert_int_equal(one.dropped, 0);
    sample_view(&one, &DECODING);
    view_clear(&one);
    assert_true(view_hash(&one) == view_hash(&two));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_hash_sees_every_field_that_is_in_use),
        cmocka_unit_test(the_hash_is_blind_to_what_is_not_in_use),
        cmocka_unit_test(neighbouring_texts_do_not_run_into_each_other),
        cmocka_unit_test(a_full_array_counts_what_finds_no_room),
        cmocka_unit_test(spans_without_room_join_a_neighbour_of_their_kind),
        cmocka_unit_test(a_cleared_view_is_the_same_whatever_it_held),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
