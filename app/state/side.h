// What can stand in the panel beside the stage, and what its controls move: the words
// that the panel's content (panel.h) and the user's actions (actions.h) share.
#ifndef APP_STATE_SIDE_H
#define APP_STATE_SIDE_H

// What was opened in the panel's place.
enum side {
    SIDE_NONE, // the lesson's step in Lesson mode, else no panel at all
    SIDE_LOG,
    SIDE_GLOSSARY,
    SIDE_WHY,
    SIDE_PROMPT,  // own prompt: the editor
    SIDE_PREDICT, // the guesses
    SIDE_SIMPLE,  // what this simplifies: the lesson's last chapter, from anywhere
};

// What a control moves.
enum panel_target {
    TARGET_NONE,
    TARGET_PROMPT, // a slider: ppm and tokens: lengths.h
    TARGET_ANSWER,
    TARGET_COUNTING,
    TARGET_SPLIT,
    TARGET_SPLIT_DONE, // the button that asks for the reveal
    TARGET_TTFT,
    TARGET_DECODE,
    TARGET_GUESS_DONE,
};

#endif
