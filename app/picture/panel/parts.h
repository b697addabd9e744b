// What the panel's files share; nobody else includes it. `seen` is what the
// panel is filled from, worked out once.
#ifndef APP_PICTURE_PANEL_PARTS_H
#define APP_PICTURE_PANEL_PARTS_H

#include "app/picture/panel/panel.h"
#include "compute/run/moment.h"
#include "compute/run/words.h"

enum { PANEL_WORD_BYTES = 48 }; // a token or an origin on its way into a sentence

struct panel_seen {
    const struct at_hand *at;
    const struct stage_state *stage;
    const struct lesson *lesson;
    const struct run *run;
    struct run_moment now;
    // The lesson's step; of the other sides all zero.
    struct lesson_place place;
    struct lesson_page page;
};

// The sides, each filling a cleared panel.
void panel_put_lesson(struct panel *out, const struct panel_seen *seen);
void panel_put_log(struct panel *out, const struct panel_seen *seen);
void panel_put_glossary(struct panel *out, const struct panel_seen *seen);
void panel_put_why(struct panel *out, const struct panel_seen *seen);
void panel_put_editor(struct panel *out, const struct panel_seen *seen);
void panel_put_predict(struct panel *out, const struct panel_seen *seen);

// Parts of the lesson's step.
void panel_put_parties(struct panel *out, const struct panel_seen *seen);
void panel_put_cache(struct panel *out, const struct panel_seen *seen);
void panel_put_bars(struct panel *out, const struct panel_seen *seen);
void panel_put_anatomy(struct panel *out, const struct panel_seen *seen);
void panel_put_split(struct panel *out, const struct panel_seen *seen);

void panel_put_controls(struct panel *out, const struct panel_seen *seen);
// The two kinds that ask: filled for the moment, reveal included.
void panel_split_control(struct panel_control *out, const struct panel_seen *seen);
void panel_ttft_control(struct panel_control *out, const struct panel_seen *seen);
void panel_decode_control(struct panel_control *out, const struct panel_seen *seen);

// --- Words and figures ---

// A word of the lesson with the run's values at the moment; `extra` as in lesson_say.
void panel_say(char *out, size_t bytes, const struct panel_seen *seen, const char *key,
               const char *const *extra);
// A block at the end of the panel's; NULL: there is no room for one.
struct panel_block *panel_add_block(struct panel *out, const struct panel_seen *seen,
                                    const char *heading_key);
// One more sentence behind what stands in the text, a space or a new line before it.
void panel_append(struct panel_block *block, const struct panel_seen *seen, char before,
                  const char *key, const char *const *extra);

int panel_part_ppm(double part, double whole); // 0 .. VIEW_PPM
struct figure panel_percent(int ppm);
const char *panel_origin_key(const struct run *run); // "origin.measured"
// The pass whose work is shown: of decode the one under way or the last; -1 = none yet.
int panel_decode_pass(const struct panel_seen *seen);
enum view_tone panel_tone(const struct panel_seen *seen); // of the phase at the moment

#endif
