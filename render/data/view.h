// What one frame shows, as plain data: no pixels, no pointers, no times of the
// run other than finished texts. The scene (app/) fills it; layout and paint
// turn it into commands. Two equal views give equal pixels.
//
// Positions inside something (a stage, a fall, the clock) are parts per million
// of it, 0 .. 1,000,000. Texts are UTF-8, NUL-terminated, safe to draw: no control
// characters, no broken sequences.
#ifndef RENDER_DATA_VIEW_H
#define RENDER_DATA_VIEW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    VIEW_PPM = 1000000,
    VIEW_MAX_TOKENS = 4096, // prompt + answer; more are counted in `dropped`
    VIEW_MAX_SPANS = 1024,  // clock: neighbours of one kind are merged beyond that
    VIEW_MAX_READOUTS = 8,
    VIEW_TOKEN_BYTES = 48,
    VIEW_ORIGINS = 5,
    VIEW_ORIGIN_BYTES = 256,
};

// Where the story is: the four pills on top.
enum view_stage { VIEW_PROMPT, VIEW_PREFILL, VIEW_DECODE, VIEW_DONE };

// The accent a text or shape belongs to.
enum view_tone { TONE_INK, TONE_QUIET, TONE_PREFILL, TONE_DECODE, TONE_READ };

// What a token looks like. TOKEN_BYTES: a byte's own token, or bytes that are not whole
// UTF-8, shown as hex. TOKEN_CONTROL: begin or end of text. TOKEN_BLANK: nothing that
// shows itself, but signs for it.
enum view_token_look { TOKEN_WORD, TOKEN_BYTES, TOKEN_CONTROL, TOKEN_BLANK };

struct view_token {
    char text[VIEW_TOKEN_BYTES]; // a longer one is cut, with its number of characters behind
    uint8_t look;                // enum view_token_look
    uint8_t leading_space;       // the piece began with a space (not in text): a mark
    uint8_t is_prefill;          // an answer token that came out of prefill, not out of a
                                 // decode step: its tile has that accent
    uint8_t is_framing;          // of a chat format, not the user's: its header is quiet
};

// The pass under way. stage 0: embedding; 1 .. layers: that layer; layers + 1:
// output. Columns [first_column, first_column + column_count) have all layers
// before the stage filled, the stage's own layer by progress_ppm.
// A charged step (lesson counting) goes down no column: column_count is 0.
struct view_pass {
    bool active;
    bool is_prefill;
    bool is_charged;
    int first_column, column_count;
    int stage;
    int progress_ppm;
    // How little the layers may light up one after another: VIEW_PPM when a pass
    // is over too quickly for the eye, so that nothing flickers.
    int calm_ppm;
};

// The drop: below the newest column while the output stage of its pass runs it grows,
// lets go and falls; its token is out and lies in the answer when it arrives.
struct view_drop {
    int column;      // it hangs under
    bool is_prefill; // it comes out of prefill: drawn in that accent
    int grown_ppm;   // 0 = there is none
    int fallen_ppm;  // of its way to the answer
};

// The trail of the drop that fell last. It fades; where drops follow one another too
// quickly for the eye it stays.
struct view_trail {
    int column;
    bool is_prefill;
    int light_ppm; // 0 = none
};

// A stretch of the clock's bar.
struct view_span {
    int from_ppm, to_ppm; // of the clock's scale
    uint8_t is_prefill;
    uint8_t is_charged; // hollow
};

static inline bool view_is_same_kind(const struct view_span *a, const struct view_span *b) {
    return a->is_prefill == b->is_prefill && a->is_charged == b->is_charged;
}

struct view_readout {
    char label[24];   // "TTFT"
    char value[32];   // "9.6 ms"; an em dash when there is none yet
    char note[48];    // "160 KiB", or ""
    char formula[96]; // shown on `?`
    uint8_t tone;     // enum view_tone
};

struct view {
    // Known from the first frame on, so that nothing jumps.
    int layers;        // 1 .. LAYOUT_MAX_LAYERS
    int prompt_tokens; // 1 ..
    int answer_limit;  // most answer tokens there can be
    int columns;       // columns there can be: prompt_tokens + answer_limit - 1

    enum view_stage stage;

    // Tokens that exist at this time: the prompt, then answer tokens measured out.
    int token_count;
    struct view_token tokens[VIEW_MAX_TOKENS];
    int headers;      // columns whose header bears its token: prompt + fed back
    int full_columns; // columns [0, full_columns) are filled in every layer
    struct view_pass pass;

    bool is_finished; // the answer is complete
    struct view_drop drop;
    struct view_trail trail;

    // The clock.
    int span_count;
    struct view_span spans[VIEW_MAX_SPANS];
    int playhead_ppm;
    char prefill_label[48]; // "prefill 9.6 ms"
    char decode_label[64];  // "decode, 3.3 ms a step"
    int decode_label_ppm;   // where the decode part begins, -1 = no decode yet
    char scale_label[32];   // what the full width stands for: "30 ms"
    int guess_ppm;          // where the first token was guessed, -1 = no guess
    char guess_label[48];   // "your guess: 12 ms"

    int readout_count;
    struct view_readout readouts[VIEW_MAX_READOUTS];

    char title[64];    // "Two stages of an answer"
    char headline[64]; // the stage in words, for Show: "Decode: one token per step"
    char caption[160]; // one line above the grid: drops fall below it
    uint8_t caption_tone;
    // "measured · AMD EPYC, 2 threads · from a file · bundled model", and shorter forms: the
    // first that fits is shown. All name the device and what was not measured.
    char origin[VIEW_ORIGINS][VIEW_ORIGIN_BYTES];
    uint8_t origin_tone;
    char rate[64];       // "200× slower than measured"
    char note[128];      // what else must be said ("length forced"), or ""
    char note_short[48]; // where the note would cut the caption; "" = the note itself

    int dropped; // things for which there was no room
};

// Empties the view: 1 layer, 1 prompt token, 1 column, no texts, no guess.
void view_clear(struct view *view);

// Adds to an array; counts in `dropped` when it is full. A span that finds no room
// is merged into the last one when both are of one kind.
void view_add_span(struct view *view, struct view_span span);
void view_add_readout(struct view *view, const struct view_readout *readout);

#endif
