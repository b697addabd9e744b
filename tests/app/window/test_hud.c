// What lies over the scene: within the margins, no type below the floor, nothing cut.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "app/window/hud.h"
#include "compute/base/words.h"
#include "tests/render/data/sample_view.h"
#include "tests/render/render_fixture.h"

#include <string.h>

static struct view view;
static struct cmdlist list;
static struct layout layout;

// In the presentation everything, the toast too, keeps 5 %; elsewhere the layout's margins.
static void check_help(const int size[2], bool is_presented, bool has_toast) {
    static const struct sample sample = {
        .layers = 8, .prompt_tokens = 18, .answer_limit = 7, .answers = 7, .moment = {.pass = 3}};
    struct layout_input in = sample_input(&sample, size[0], size[1], LAYOUT_STAGE);
    struct hud hud = {.toast = has_toast ? word("toast.charged") : NULL,
                      .is_help = !has_toast,
                      .loaded_permille = -1};
    in.is_presented = is_presented;
    assert_true(layout_make(&layout, &in));
    sample_view(&view, &sample);
    struct paint paint = {&view, &layout, theme_find(THEME_DARK), text};
    cmdlist_clear(&list);
    hud_paint(&list, &hud, &paint);
    struct rect safe = rect_inset((struct rect){0, 0, size[0], size[1]}, layout.margin_px,
                                  is_presented || !has_toast ? layout.margin_y_px : 0);
    int shorter = size[0] < size[1] ? size[0] : size[1], texts = 0;
    for (int i = 0; i < list.count; i++) {
        const struct cmd *cmd = &list.cmds[i];
        if (cmd->kind == CMD_CLIP)
            continue;
        if (!is_inside(cmd->kind == CMD_TEXT ? text_box(cmd) : cmd->rect, safe))
            fail_msg("%dx%d: command %d is out of the margins", size[0], size[1], i);
        if (cmd->kind != CMD_TEXT)
            continue;
        texts++;
        assert_true(cmd->stroke * 50 >= shorter);
        if (strstr(text_of(&list, cmd), "\xE2\x80\xA6"))
            fail_msg("%dx%d: cut: \"%s\"", size[0], size[1], text_of(&list, cmd));
    }
    assert_true(texts >= (has_toast ? 1 : 50));
}

static void help_and_toasts_keep_the_margins_and_the_least_type(void **state) {
    (void)state;
    static const int sizes[][2] = {{1024, 768},  {1280, 1024}, {1280, 720},
                                   {1920, 1080}, {3840, 2160}, {1080, 1920}};
    static const char *const languages[] = {"en", "de"};
    struct why why;
    for (int l = 0; l < 2; l++) {
        assert_true(words_choose(languages[l], &why));
        for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
            for (int way = 0; way < 4; way++)
                check_help(sizes[i], way & 1, way & 2);
    }
    assert_true(words_choose("en", &why));
}

// The last two rectangles are the bar and what is filled of it.
static void a_model_being_loaded_is_a_bar_below_the_message(void **state) {
    (void)state;
    static const struct sample sample = {
        .layers = 8, .prompt_tokens = 18, .answer_limit = 7, .answers = 7, .moment = {.pass = 3}};
    struct layout_input in = sample_input(&sample, 1280, 720, LAYOUT_STAGE);
    struct hud hud = {.message = "opening", .loaded_permille = -1};
    assert_true(layout_make(&layout, &in));
    sample_view(&view, &sample);
    struct paint paint = {&view, &layout, theme_find(THEME_DARK), text};
    cmdlist_clear(&list);
    hud_paint(&list, &hud, &paint);
    int without = list.count;
    hud.loaded_permille = 250;
    cmdlist_clear(&list);
    hud_paint(&list, &hud, &paint);
    assert_int_equal(list.count, without + 2);
    struct rect bar = list.cmds[without].rect, filled = list.cmds[without + 1].rect;
    assert_int_equal(filled.w, bar.w / 4);
    assert_int_equal(filled.x, bar.x);
    assert_true(bar.y > 720 / 2 && bar.y + bar.h < 720 * 3 / 4);
}

// Beside a run the bar lies in the box of the toast, also once the toast is over.
static void a_model_being_loaded_beside_a_run_is_a_bar_in_the_box_of_the_toast(void **state) {
    (void)state;
    static const struct sample sample = {
        .layers = 8, .prompt_tokens = 18, .answer_limit = 7, .answers = 7, .moment = {.pass = 3}};
    static const char *const toasts[] = {NULL, "opening llama3.2:1b"};
    struct layout_input in = sample_input(&sample, 1280, 720, LAYOUT_STAGE);
    assert_true(layout_make(&layout, &in));
    sample_view(&view, &sample);
    struct paint paint = {&view, &layout, theme_find(THEME_DARK), text};
    for (int i = 0; i < 2; i++) {
        struct hud hud = {.toast = toasts[i], .loaded_permille = 500};
        cmdlist_clear(&list);
        hud_paint(&list, &hud, &paint);
        assert_true(list.count > 3);
        struct rect box = list.cmds[0].rect, bar = list.cmds[list.count - 2].rect;
        struct rect filled = list.cmds[list.count - 1].rect;
        assert_true(bar.x >= box.x && bar.x + bar.w <= box.x + box.w);
        assert_true(bar.y >= box.y && bar.y + bar.h <= box.y + box.h);
        assert_int_equal(filled.w, bar.w / 2);
    }
    struct hud nothing = {.loaded_permille = -1};
    cmdlist_clear(&list);
    hud_paint(&list, &nothing, &paint);
    assert_int_equal(list.count, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_model_being_loaded_is_a_bar_below_the_message),
        cmocka_unit_test(a_model_being_loaded_beside_a_run_is_a_bar_in_the_box_of_the_toast),
        cmocka_unit_test(help_and_toasts_keep_the_margins_and_the_least_type),
    };
    return cmocka_run_group_tests(tests, open_text, close_text);
}
