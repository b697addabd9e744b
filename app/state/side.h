// What the panel beside the stage can show, and what its controls change: shared by the
// panel's content (panel.h) and the user's actions (actions.h).
#ifndef APP_STATE_SIDE_H
#define APP_STATE_SIDE_H

// What is open in the panel.
enum side {
    SIDE_NONE, // in Lesson mode the lesson's step, in others no panel
    SIDE_LOG,
    SIDE_GLOSSARY,
    SIDE_WHY,
    SIDE_PROMPT,  // the editor of the user's own prompt
    SIDE_PREDICT, // the guesses
    SIDE_MODELS,  // the model files of this machine
    SIDE_SIMPLE,  // what this simplifies: the lesson's last chapter, from anywhere
};

// What a control changes.
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
