// What a loaded lesson is made of: for the files of app/lesson and its loader only.
#ifndef APP_LESSON_PARTS_H
#define APP_LESSON_PARTS_H

#include "app/lesson/lesson.h"

enum {
    LESSON_MAX_TERMS = 128,
    LESSON_MAX_VARIANTS = 7,
    LESSON_MAX_WORDS = 160,
};

// The cases of a text: the first that holds is taken, WHEN_ELSE comes last.
enum lesson_when {
    WHEN_LESSON,    // lesson units
    WHEN_MEASURED,  // measured times
    WHEN_MODELLED,  // worked out from measured ones
    WHEN_CHARGED,   // the first token is charged as a decode step
    WHEN_ENGINE,    // the first token comes out of prefill
    WHEN_BYTES,     // weight and cache bytes are known
    WHEN_GOING,     // the step is under way, before its event
    WHEN_OPEN,      // the run still grows
    WHEN_EACH,      // lesson units whose rule charges every prompt token, and nothing else
    WHEN_ONE_PASS,  // lesson units whose rule charges prefill as one pass of any length
    WHEN_ONE_TOKEN, // a complete run with a single answer token
    WHEN_LAST,      // at the end of a complete run
    WHEN_FAILED,    // at the end of a run that ended early
    WHEN_ELSE,
    WHENS
};

struct lesson_text {
    int count;
    struct {
        enum lesson_when when;
        const char *text;
    } variants[LESSON_MAX_VARIANTS];
};

// The kinds of event in a chapter that follows the run.
enum lesson_kind {
    KIND_REQUEST,
    KIND_CHUNK,   // a part of the prompt has been read
    KIND_PREFILL, // the whole prompt has been read
    KIND_CHARGED,
    KIND_DECODE,
    KIND_LAST, // the decode step that ends a complete run
    KINDS
};

// Where in the run a step of a chapter with its own steps rests.
enum lesson_anchor {
    ANCHOR_REQUEST,
    ANCHOR_IN_PREFILL, // halfway through
    ANCHOR_PREFILL,    // its end
    ANCHOR_FIRST_TOKEN,
    ANCHOR_IN_DECODE,    // halfway through the first decode step that has a column
    ANCHOR_FIRST_DECODE, // its end
    ANCHOR_MIDDLE,       // the answer token in the middle
    ANCHOR_END,
    ANCHORS
};

struct lesson_step {
    enum lesson_anchor anchor;
    unsigned shows;
    struct lesson_text title, blocks[LESSON_BLOCKS], summary;
};

struct lesson_chapter {
    const char *title;
    bool follows_run; // steps[] is then indexed by enum lesson_kind
    bool is_simple;   // says what the picture simplifies
    unsigned shows;
    int step_count;
    struct lesson_step steps[LESSON_MAX_STEPS];
    struct lesson_text takeaway;
};

// Another form of a term's name, from a text with [shown|word].
struct lesson_form {
    const char *shown; // `bytes` long, without a NUL
    size_t bytes;
    int term;
};

// A word of the panel that the lesson says in its own way.
struct lesson_own_word {
    const char *key; // of compute/base/words.h
    struct lesson_text text;
};

struct lesson {
    struct json_t *json; // the file as jansson holds it: owns every text below
    int word_count;
    struct lesson_own_word words[LESSON_MAX_WORDS];
    int term_count;
    struct lesson_term terms[LESSON_MAX_TERMS];
    int form_count;
    struct lesson_form *forms;
    const char *language; // "de", or NULL
    int chapter_count;
    struct lesson_chapter chapters[LESSON_MAX_CHAPTERS];
};

_Static_assert((int)KINDS <= (int)LESSON_MAX_STEPS, "a chapter has room for every kind of event");

// The term with this name of `bytes` bytes, ignoring ASCII case; -1 = none.
int lesson_term_named(const struct lesson *lesson, const char *name, size_t bytes);

// Bits that describe a page's moment: at the end of what has run; before the step's event.
enum { MOMENT_FINAL = 1 << 0, MOMENT_GOING = 1 << 1 };

// The first variant of a text that holds for this run at such a moment. With run NULL
// that is the last one.
const char *lesson_pick(const struct lesson_text *text, const struct run *run, unsigned moment);

#endif
