// UTF-8 to clusters that are safe to draw: what a reader sees as one character (UAX #29),
// and the script it is shaped by. Whatever the bytes, the result is visible and harmless:
// broken bytes become U+FFFD, tab and newline their signs, invisible format characters
// nothing; other control characters are passed on, to be drawn as a box with their number.
// CR and LF are two clusters, since each is drawn.
#ifndef RENDER_PIXEL_CLUSTER_H
#define RENDER_PIXEL_CLUSTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { CLUSTER_MAX = 8 };

struct cluster {
    uint32_t chars[CLUSTER_MAX]; // code points; any more begin a cluster of their own
    int count;                   // 0: nothing visible
    uint8_t script;              // 0, or a script that needs shaping: cluster_script
};

struct cluster_script {
    char tag[5]; // ISO 15924
    bool is_rtl;
};

// Reads the next cluster; returns the bytes taken, 0 only when bytes is 0.
size_t cluster_next(struct cluster *out, const char *utf8, size_t bytes);

// True for joiners and variation selectors: a font need not have them.
bool cluster_is_joiner(uint32_t character);

const struct cluster_script *cluster_script(uint8_t script); // 0 < script, from a cluster

#endif
