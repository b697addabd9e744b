// A lesson: chapters of steps, their texts with places for the run's own numbers, a
// glossary and every word of the panel, all from one JSON file, so that a translation
// is one file too. Form: assets/lessons/lesson.schema.json. load/load.h loads it;
// everything here is pure.
//
// A chapter either follows the run, one step an event (request, end of each pass; its
// texts are given by kind of event), or has steps of its own, each with a place in the
// run where it rests.
//
// A text may have cases, {"charged": ..., "else": ...}: the first that holds is taken.
// enum lesson_when in parts.h says what each means.
//
// Texts hold {names} of values (values.h lists them) and [words] of the glossary,
// [shown|word] where the form differs; both are replaced when a page is made. {{ and [[
// stand for the signs themselves.
#ifndef APP_LESSON_LESSON_H
#define APP_LESSON_LESSON_H

#include "compute/run/run.h"

// Around a word of the glossary in a finished text: the panel's own marks.
#define LESSON_TERM_BEGIN '\x0E'
#define LESSON_TERM_END '\x0F'

enum {
    LESSON_MAX_CHAPTERS = 16,
    LESSON_MAX_STEPS = 32, // of a chapter with steps of its own
    LESSON_BLOCKS = 4,
    LESSON_TEXT_BYTES = 640,
};

struct lesson; // opaque

struct lesson_place {
    int chapter, step; // from 0
};

// What a step puts under the user's hand, and what else the panel shows.
enum {
    LESSON_PROMPT = 1 << 0,   // slider: prompt length
    LESSON_ANSWER = 1 << 1,   // slider: answer length
    LESSON_COUNTING = 1 << 2, // switch: who pays for the first token
    LESSON_SPLIT = 1 << 3,    // the question: divide the bar
    LESSON_PARTIES = 1 << 4,  // application and model
    LESSON_BARS = 1 << 5,     // wait and total
    LESSON_ANATOMY = 1 << 6,  // one step: weights read, cache read, entry written
};

struct lesson_block {
    char heading[40];
    char text[LESSON_TEXT_BYTES]; // filled; terms between LESSON_TERM_BEGIN and _END
};

struct lesson_page {
    char title[80]; // "Step 5 of 9 · decode"
    int block_count;
    struct lesson_block blocks[LESSON_BLOCKS];
    char summary[256];  // one line that alone tells the state, without marks
    char takeaway[160]; // on a chapter's last step, else ""
    unsigned shows;     // LESSON_ bits
};

int lesson_chapters(const struct lesson *lesson); // >= 1
const char *lesson_chapter_title(const struct lesson *lesson, int chapter);
// >= 1. Of a chapter that follows a run that still grows: one more than its events, for
// the pass under way.
int lesson_steps(const struct lesson *lesson, int chapter, const struct run *run);
bool lesson_follows_run(const struct lesson *lesson, int chapter);

// Brings a place into range.
struct lesson_place lesson_clamp(const struct lesson *lesson, struct lesson_place place,
                                 const struct run *run);
// The next (1) or last (-1) step, over chapters' ends. False, unchanged: there is none.
bool lesson_move(const struct lesson *lesson, struct lesson_place *place, int direction,
                 const struct run *run);
// Where the run rests for a step.
int64_t lesson_step_ns(const struct lesson *lesson, struct lesson_place place,
                       const struct run *run);
// The step that a moment belongs to, in a chapter that follows the run: the one whose
// event is under way, (event - 1, event]. Other chapters: the place itself.
struct lesson_place lesson_place_at(const struct lesson *lesson, struct lesson_place place,
                                    const struct run *run, int64_t t_ns);

// The page of a step for this run at a moment.
void lesson_page(struct lesson_page *out, const struct lesson *lesson, struct lesson_place place,
                 const struct run *run, int64_t t_ns);

// Glossary, in the file's order.
struct lesson_term {
    const char *name, *text; // plain, text without marks
};
int lesson_terms(const struct lesson *lesson);
struct lesson_term lesson_term(const struct lesson *lesson, int index);
// By its name, or by a form of it that a text shows in its place; -1 = none.
int lesson_find_term(const struct lesson *lesson, const char *name);

// A word or sentence of the panel by its key ("party.application"); every key that
// lesson_word_keys lists is in every lesson that loads. Unknown: the key itself. Of a
// word with cases the last; one with {names} is for lesson_say.
const char *lesson_word(const struct lesson *lesson, const char *key);

// What the places of a text are filled from.
struct lesson_facts {
    const struct run *run; // NULL: every value of a run is an em dash
    int64_t t_ns;
    const char *const *extra; // name, value, ..., NULL: looked at first; NULL = none
};
// Writes a word or sentence with its {names} replaced.
void lesson_say(char *out, size_t bytes, const struct lesson *lesson, const char *key,
                const struct lesson_facts *facts);

#endif
