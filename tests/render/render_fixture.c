// See render_fixture.h.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/render/render_fixture.h"

#include "compute/base/why.h"

#include <stdio.h>

struct text *text;

int open_text(void **state) {
    (void)state;
    struct why why;
    if (text_create(&text, &why))
        return 0;
    print_error("%s\n", why.text);
    return -1;
}

int close_text(void **state) {
    (void)state;
    text_destroy(text);
    return 0;
}

int random_between(int low, int high) {
    static uint64_t state = 7;
    state = state * 6364136223846793005u + 1442695040888963407u;
    return low + (int)((state >> 33) % (uint64_t)(high - low + 1));
}

bool is_inside(struct rect in, struct rect out) {
    return in.x >= out.x && in.y >= out.y && in.x + in.w <= out.x + out.w &&
           in.y + in.h <= out.y + out.h;
}

bool overlap(struct rect a, struct rect b) {
    return a.x < b.x + b.w && b.x < a.x + a.w && a.y < b.y + b.h && b.y < a.y + a.h;
}

struct rect text_box(const struct cmd *cmd) {
    int px = cmd->stroke, cap = text_cap_px(text, (enum text_face)cmd->face, px);
    return (struct rect){cmd->rect.x, cmd->rect.y - cap, cmd->rect.w, cap + px / 4};
}

const char *text_of(const struct cmdlist *list, const struct cmd *cmd) {
    static char out[2][200];
    static int turn;
    turn ^= 1;
    snprintf(out[turn], sizeof out[0], "%.*s", (int)cmd->text_bytes, list->text + cmd->text_offset);
    return out[turn];
}
