// Whether two pictures' data are the same in everything that is in use: what lies behind
// a count or behind a NUL does not matter. Test-only.
#ifndef TESTS_RENDER_DATA_ALIKE_H
#define TESTS_RENDER_DATA_ALIKE_H

#include "render/data/lab.h"

bool alike_views(const struct view *a, const struct view *b);
bool alike_panels(const struct panel *a, const struct panel *b);
bool alike_labs(const struct lab *a, const struct lab *b);

#endif
