// Lab mode's picture as data: lanes of the runs at hand, the sweep's points and fits as
// plots, the roofs, the map of who takes the time, with and without a cache. Pure: the
// same source gives the same lab. Knows both compute/ and render/data/lab.h.
//
// A growing run shows nothing that comes after the moment, not even its length: every
// prefix that reaches the moment gives the same lab. A finished run shows its figures at
// once; only its lane is played. A plot without data shows a message, never a number.
#ifndef APP_PICTURE_LAB_LAB_H
#define APP_PICTURE_LAB_LAB_H

#include "app/state/actions.h"
#include "app/state/at_hand.h"
#include "render/data/lab.h"

enum { LAB_PAGES = 3 }; // knee + roof, step + map, with and without a cache + the two runs

// Fills `out` for the stage's page and focus; a page out of range becomes the nearest.
void lab_fill(struct lab *out, const struct at_hand *at, const struct stage_state *stage);

#endif
