// What the tests of render/ share: one text, small questions about rectangles and
// commands, repeatable random numbers. Test-only.
#ifndef TESTS_RENDER_RENDER_FIXTURE_H
#define TESTS_RENDER_RENDER_FIXTURE_H

#include "render/data/cmdlist.h"
#include "render/pixel/text.h"

// Of the group's set-up and tear-down: open_text, close_text.
extern struct text *text;
int open_text(void **state);
int close_text(void **state);

int random_between(int low, int high); // both included

bool is_inside(struct rect in, struct rect out);
bool overlap(struct rect a, struct rect b);

// What can be seen of a CMD_TEXT: from the top of capitals to the bottom of the deepest
// letter.
struct rect text_box(const struct cmd *cmd);

// The text of a CMD_TEXT; valid until the call after the next.
const char *text_of(const struct cmdlist *list, const struct cmd *cmd);

#endif
