// A lesson: chapters of steps whose texts have places for the run's own numbers, and a
// glossary, in one JSON file; its form is assets/languages/lesson.schema.json. The
// program's own lesson is part of each language's file. The panel's other words are the
// language's (compute/base/words.h); a lesson may say some of them in its own way.
// load/load.h loads it; everything here is pure.
//
// On the last step of a chapter the place of "next" names the next chapter.
//
// A chapter either follows the run with one step for each event (the request and the end
// of each pass; its texts are given by kind of event), or has steps of its own, each of
// which rests at a place in the run.
//
// A text may have cases, {"charged": ..., "else": ...}: the first that holds is taken.
// enum lesson_when in parts.h says what each means.
//
// Texts contain {names} of values (listed in values.h) and [words] of the glossary, or
// [shown|word] to show another form of the word; both are replaced when a page is made.
// {{ and [[ are the characters themselves.
#ifndef APP_LESSON_LESSON_H
#define APP_LESSON_LESSON_H

#include "compute/run/run.h"

// Marks around a word of the glossary in a finished text, the same as PANEL_TERM_BEGIN
// and PANEL_TERM_END.
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

// Controls that a step offers, and what else the panel shows.
enum {
    LESSON_PROMPT = 1 << 0,   // slider: prompt length
    LESSON_ANSWER = 1 << 1,   // slider: answer length
    LESSON_COUNTING = 1 << 2, // switch: is the first token charged as a decode step?
    LESSON_SPLIT = 1 << 3,    // question: how does the time split into prefill and decode?
    LESSON_PARTIES = 1 << 4,  // application and model
    LESSON_BARS = 1 << 5,     // wait and total
    LESSON_ANATOMY = 1 << 6,  // one step: weights read, cache read, entry written
    LESSON_FLOORS = 1 << 7,   // what prefill and a decode step take at least on this device
};

struct lesson_block {
    char heading[40];
    char text[LESSON_TEXT_BYTES]; // with marks around terms
};

struct lesson_page {
    char chapter[80]; // "2 of 8 · Step by step"
    char title[80];   // "Step 5 of 9 · decode"
    int block_count;
    struct lesson_block blocks[LESSON_BLOCKS];
    char summary[256];  // the state in one line, without marks
    char takeaway[160]; // on the last step of a chapter, else ""
    unsigned shows;     // LESSON_ bits
};

int lesson_chapters(const struct lesson *lesson); // >= 1
const char *lesson_chapter_title(const struct lesson *lesson, int chapter);
// >= 1. In a chapter that follows the run: its events, and one for the pass under way of
// a run that still grows.
int lesson_steps(const struct lesson *lesson, int chapter, const struct run *run);
bool lesson_follows_run(const struct lesson *lesson, int chapter);
int lesson_run_chapter(const struct lesson *lesson); // the first that follows it; -1 = none
// The chapter that says what the picture simplifies; none says so: the last one.
int lesson_simple_chapter(const struct lesson *lesson);

// The nearest place that exists. All functions below clamp the places they are given.
struct lesson_place lesson_clamp(const struct lesson *lesson, struct lesson_place place,
                                 const struct run *run);
// Moves to the next (1) or previous (-1) step, across chapters. False, with the place
// unchanged, at either end.
bool lesson_move(const struct lesson *lesson, struct lesson_place *place, int direction,
                 const struct run *run);
// The time in the run at which a step rests.
int64_t lesson_step_ns(const struct lesson *lesson, struct lesson_place place,
                       const struct run *run);
// The step that a moment belongs to in a chapter that follows the run: a step reaches from
// after the previous event up to its own. In other chapters, the place itself.
struct lesson_place lesson_place_at(const struct lesson *lesson, struct lesson_place place,
                                    const struct run *run, int64_t t_ns);

// The page of a step for this run at a moment.
void lesson_page(struct lesson_page *out, const struct lesson *lesson, struct lesson_place place,
                 const struct run *run, int64_t t_ns);

// Glossary, in the file's order.
struct lesson_term {
    const char *name, *text; // without marks
};
int lesson_terms(const struct lesson *lesson);
struct lesson_term lesson_term(const struct lesson *lesson, int index);
// By its name in any case, or by a form of it that a text shows instead; -1 = none.
int lesson_find_term(const struct lesson *lesson, const char *name);

// The language that the file names ("de"); NULL if it names none.
const char *lesson_language(const struct lesson *lesson);

// A word of the panel by its key ("party.application"): the lesson's own, or else the
// language's. The last case of one with cases; an unknown key itself.
const char *lesson_word(const struct lesson *lesson, const char *key);

// What fills the places of a text.
struct lesson_facts {
    const struct run *run; // NULL: every value of a run is an em dash
    int64_t t_ns;
    const char *const *extra; // name, value, ..., NULL: take precedence; NULL = none
    bool wraps;               // a text of several lines: no figure parts from its unit
};
// Writes a word or sentence of the panel with its {names} filled.
void lesson_say(char *out, size_t bytes, const struct lesson *lesson, const char *key,
                const struct lesson_facts *facts);

#endif
