// Lab mode's picture as data: lanes of the runs at hand, the sweep's points and fits as
// plots, the roofs, the map of who takes the time, with and without a cache. Pure: the
// same source gives the same lab. Knows both compute/ and render/data/lab.h.
//
// Of a growing run nothing is told that comes after the moment, not even its length:
// every prefix that reaches the moment gives the same lab. Of a finished run the figures
// stand at once; only its lane is played. What is missing gives a plot's message, never
// a number.
#ifndef APP_PICTURE_LAB_LAB_H
#define APP_PICTURE_LAB_LAB_H

#include "app/state/actions.h"
#include "app/state/at_hand.h"
#include "render/data/lab.h"

enum { LAB_PAGES = 3 }; // knee + roof, step + map, with and without a cache + the two runs

// The page and the focus are the stage's; a page outside of the book is its nearest.
void lab_fill(struct lab *out, const struct at_hand *at, const struct stage_state *stage);

#endif
