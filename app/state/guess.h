// Guesses before a run plays, and the answer to "where does the time go?". Plain
// values and pure functions; what is revealed is computed from the run alone.
#ifndef APP_STATE_GUESS_H
#define APP_STATE_GUESS_H

#include "compute/run/run.h"

// "Predict first": the run waits until both guesses are set.
enum guess_stage {
    GUESS_OFF,
    GUESS_TTFT,   // the user sets the first token's time
    GUESS_DECODE, // the user sets decode's share
    GUESS_SET,    // both are set: the run may play, the clock shows the guess
};

struct guess {
    enum guess_stage stage;
    int ttft_ppm;   // position of the knob, see guess_ttft_ns
    int decode_ppm; // share of decode in the whole answer
    // "Explain it back": the split of a bar, and whether it has been answered.
    int split_ppm; // share of prefill
    bool is_split_set;
};

struct guess guess_new(void); // off; knobs in the middle

// The knob is logarithmic over three decades. Its upper end must not give the answer away:
// it is the run's length rounded up to a power of ten (of the lesson's unit, if it has one);
// for a run without a mark 1,000 units or 1 s. ppm is clamped; the time is at least 1 ns.
int64_t guess_ttft_ns(const struct guess *guess, const struct run *run);
int guess_ttft_ppm_of(int64_t ttft_ns, const struct run *run); // clamped

// Share of decode in E2E, in ppm. -1: the run is not complete, so it has no E2E.
int guess_true_decode_ppm(const struct run *run);

// Which of the phases takes the time, for the sentence of the reveal.
enum guess_verdict { VERDICT_DECODE, VERDICT_PREFILL, VERDICT_EVEN }; // even: 40 .. 60 %
enum guess_verdict guess_verdict_of(const struct run *run);           // even if not complete

// How near a guessed share is: within 5 points, within 15, or further.
enum guess_nearness { GUESS_CLOSE, GUESS_NEAR, GUESS_FAR };
enum guess_nearness guess_nearness_of(int guessed_ppm, int true_ppm);

// How near a guessed time is: within a fifth, within a half, or further, up and down.
enum guess_nearness guess_nearness_of_time(int64_t guessed_ns, int64_t true_ns);

#endif
