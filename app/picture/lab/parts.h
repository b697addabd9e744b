// Shared by the lab's files only. Each put function fills a cleared plot: with its points,
// or with a message that says what is missing.
#ifndef APP_PICTURE_LAB_PARTS_H
#define APP_PICTURE_LAB_PARTS_H

#include "app/picture/lab/lab.h"
#include "compute/analysis/roofline.h"
#include "compute/analysis/sweep.h"
#include "compute/base/words.h"
#include "compute/run/words.h"

// Two series fit with some to spare; longer answers show every n-th token.
enum { LAB_SERIES_POINTS = 120 };

// What is at hand, and the lengths that the sliders show.
struct lab_seen {
    const struct at_hand *at;
    const struct sweep *sweep;      // at->sweep without what disturbed it, NULL = none
    int asked_prompt, asked_answer; // 0 = nobody asked for one
    int prompt, answer;             // asked for, else of the run shown; 0 = no run either
};

// Writes a text that is no word of ours (a name, a reason). What is too long is cut between
// characters and ends in an ellipsis; bytes that cannot be drawn become "?".
void lab_put(char *out, size_t bytes, const char *text);

struct figure lab_tokens(int64_t count); // "1 token", "1,024 tokens"
struct figure lab_run_time(const struct run_info *info, int64_t ns);

struct figure lab_name(const struct lab_seen *seen); // of the run compared with

// Answer tokens measured by t_ns in a growing run; all of them in a finished one.
int lab_answers(const struct run *run, int64_t t_ns);

// True if times of both runs can share a scale: both are clock times, or both are in the
// same lesson units.
bool lab_has_one_clock(const struct run *a, const struct run *b);
bool lab_is_lesson(const struct run *run); // false for NULL, here and below
bool lab_is_measured(const struct run *run);
bool lab_is_warm(const struct run *run); // measured warm, as the sweep's points are

// If a plot of the sweep has no points, writes why as its message and returns true.
bool lab_put_missing(struct plot *plot, const struct lab_seen *seen, int points);

// Sets the plot's origin to where the sweep was measured.
void lab_put_sweep_origin(struct plot *plot, const struct lab_seen *seen);

void lab_axis(struct plot_axis *axis, const char *label, enum plot_unit unit, bool is_log);
void lab_series(struct plot *plot, enum plot_look look, enum view_tone tone, const char *label);
void lab_point(struct plot *plot, double x, double y); // of the last series, no spread
// Points of a sweep with their spread; no time is drawn below `lowest_ns`.
void lab_dots(struct plot *plot, enum view_tone tone, const struct sweep_point *points, int count,
              double lowest_ns);
// The run or the lengths shown, on the plot of a sweep.
void lab_ring(struct plot *plot, double x, double y, bool is_measured);

// A range that grows to hold values. Empty: from > to.
struct lab_range {
    double from, to;
};
struct lab_range lab_range_empty(void);
void lab_range_add(struct lab_range *range, double value);
bool lab_range_holds(const struct plot_axis *axis, double value);
// Makes it the axis's range: with room at both ends if logarithmic, else from 0 with room
// at the top.
void lab_range_put(struct plot_axis *axis, struct lab_range range);

void lab_put_lanes(struct lab *lab, const struct lab_seen *seen);
void lab_put_knee(struct plot *plot, const struct lab_seen *seen);
void lab_put_roofs(struct plot *plot, const struct lab_seen *seen);
void lab_put_step(struct plot *plot, const struct lab_seen *seen);
void lab_put_map(struct plot *plot, const struct lab_seen *seen);

// Decode's share 0 .. 1 for both lengths; negative: unknown.
typedef double lab_share_fn(const void *context, int prompt, int answers);
// Colours the plot's cells by it, within the plot's axes. False: some share is unknown, and
// there are no cells.
bool lab_put_cells(struct plot *plot, lab_share_fn *share, const void *context);

// The same plots for a lesson run: its rule worked out.
void lab_put_rule_knee(struct plot *plot, const struct lab_seen *seen);
void lab_put_rule_step(struct plot *plot, const struct lab_seen *seen);
void lab_put_rule_map(struct plot *plot, const struct lab_seen *seen);
void lab_put_rule_pair(struct plot *plot, const struct lab_seen *seen);

void lab_put_cache(struct plot *plot, const struct lab_seen *seen);
void lab_put_pair(struct plot *plot, const struct lab_seen *seen);

#endif
