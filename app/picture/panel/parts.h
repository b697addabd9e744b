// What the panel's files share; nobody else includes it.
#ifndef APP_PICTURE_PANEL_PARTS_H
#define APP_PICTURE_PANEL_PARTS_H

#include "app/picture/panel/panel.h"
#include "compute/run/moment.h"
#include "compute/run/words.h"

enum { PANEL_WORD_BYTES = 48 }; // a token or an origin on its way into a sentence

// What the panel is filled from, worked out once.
struct panel_seen {
    const struct at_hand *at;
    const struct stage_state *stage;
    const struct lesson *lesson;
    const struct run *run;
    struct run_moment now;
    // The step of the lesson; zero on the sides that show none.
    struct lesson_place place;
    struct lesson_page page;
};

// The sides. Each fills a cleared panel that has the title and the foot of panel.c's table.
void panel_put_lesson(struct panel *out, const struct panel_seen *seen);
void panel_put_log(struct panel *out, const struct panel_seen *seen);
void panel_put_glossary(struct panel *out, const struct panel_seen *seen);
void panel_put_why(struct panel *out, const struct panel_seen *seen);
void panel_put_editor(struct panel *out, const struct panel_seen *seen);
void panel_put_predict(struct panel *out, const struct panel_seen *seen);
void panel_put_models(struct panel *out, const struct panel_seen *seen);

// Parts of the lesson's step.
void panel_put_bars(struct panel *out, const struct panel_seen *seen);
void panel_put_anatomy(struct panel *out, const struct panel_seen *seen);
// The least times of prefill and of a decode step, or why there are none.
void panel_put_both_floors(struct panel *out, const struct panel_seen *seen);
void panel_put_split(struct panel *out, const struct panel_seen *seen);

void panel_put_controls(struct panel *out, const struct panel_seen *seen);
// The controls that ask a question, with the answer once it may be seen.
void panel_split_control(struct panel_control *out, const struct panel_seen *seen);
void panel_ttft_control(struct panel_control *out, const struct panel_seen *seen);
void panel_decode_control(struct panel_control *out, const struct panel_seen *seen);

// --- Words and figures ---

// A sentence of the lesson with the run's values at the moment. After the key: up to four
// more values as pairs of name and text, then NULL.
void panel_say(char *out, size_t bytes, const struct panel_seen *seen, const char *key, ...)
    __attribute__((sentinel));
// The same into an array, without the NULL.
#define PANEL_SAY(array, ...) panel_say(array, sizeof(array), __VA_ARGS__, NULL)

// A new last block; NULL if there is no room for one.
struct panel_block *panel_add_block(struct panel *out, const struct panel_seen *seen,
                                    const char *heading_key);
// One more sentence at the end of a block's text, after a space or a new line. A block that
// is NULL takes nothing.
void panel_append(struct panel_block *block, const struct panel_seen *seen, char before,
                  const char *key, ...) __attribute__((sentinel));

int panel_part_ppm(double part, double whole); // 0 .. VIEW_PPM
struct figure panel_percent(int ppm);
struct figure panel_origin(const struct panel_seen *seen); // "measured", "lesson units"
// The decode step that is shown: the pending one, or the last; -1 = none yet.
int panel_decode_pass(const struct panel_seen *seen);
enum view_tone panel_tone(const struct panel_seen *seen); // of the phase at the moment

#endif
