// Which moment of the run a frame shows. A playhead is a value: mode, anchor,
// rate. Live, replay, step and record are the same code with another playhead.
// Time never jumps: every change re-anchors at the moment shown now. Pure: the
// wall clock is an argument.
//
//   mode     moment of a frame                                 ends
//   LIVE     anchor + rate * (wall - anchor wall), not past    when the run closes
//            the last finished mark
//   REPLAY   anchor + rate * (wall - anchor wall)              at `last`
//   paused   where a key or a step moved it                    never
//   RECORD   first + n * rate * frame time; no wall clock      n = frame count
//
// Slow motion is done here only. rate = num / den run nanoseconds a
// wall nanosecond: 1/200 is "200x slower". A moment may lie before 0 (the prompt
// waits) and after the run's end (the last drop falls): first_ns .. last_ns.
#ifndef APP_STATE_PLAYHEAD_H
#define APP_STATE_PLAYHEAD_H

#include <stdbool.h>
#include <stdint.h>

enum playhead_mode { PLAYHEAD_REPLAY, PLAYHEAD_LIVE };

struct playhead_rate {
    int32_t num, den; // both >= 1
};

struct playhead {
    enum playhead_mode mode;
    int64_t anchor_wall_ns, anchor_run_ns;
    struct playhead_rate rate;
    bool is_paused;
    int64_t first_ns, last_ns; // bounds of every moment
};

// How long the prompt waits before a run and how long the end is held after it,
// in screen time.
#define PLAYHEAD_LEAD_SCREEN_NS INT64_C(1000000000)
#define PLAYHEAD_TAIL_SCREEN_NS INT64_C(2000000000)
// A run is shown in about this time.
#define PLAYHEAD_SHOW_SCREEN_NS INT64_C(20000000000)

// The moment at `wall_ns`, within first_ns .. last_ns.
int64_t playhead_at(const struct playhead *playhead, int64_t wall_ns);
bool playhead_is_at_end(const struct playhead *playhead, int64_t wall_ns);

// Each returns the playhead re-anchored at `wall_ns`.
struct playhead playhead_seek(struct playhead playhead, int64_t wall_ns, int64_t run_ns);
struct playhead playhead_pause(struct playhead playhead, int64_t wall_ns, bool paused);
struct playhead playhead_set_rate(struct playhead playhead, int64_t wall_ns,
                                  struct playhead_rate rate);
struct playhead playhead_set_bounds(struct playhead playhead, int64_t wall_ns, int64_t first_ns,
                                    int64_t last_ns);

// Of the time between two looks at the wall clock at most `most_ns` moves the playhead. What
// is beyond that is a stall in which nobody saw the picture; it goes on where it was, also
// when the clock went back. most_ns >= 0.
struct playhead playhead_look(struct playhead playhead, int64_t before_ns, int64_t wall_ns,
                              int64_t most_ns);

// The rate on the 1-2-5 ladder that shows `run_ns` in about 20 s.
struct playhead_rate playhead_rate_for(int64_t run_ns);
// One rung faster (+1) or slower (-1) on the 1-2-5 ladder; 1/1,000,000 .. 1,000/1.
struct playhead_rate playhead_rate_step(struct playhead_rate rate, int direction);
bool playhead_rate_is_real_time(struct playhead_rate rate);

// Screen time to run time at this rate, and back (rounded to nearest).
int64_t playhead_run_ns(struct playhead_rate rate, int64_t screen_ns);
int64_t playhead_screen_ns(struct playhead_rate rate, int64_t run_ns);

// Moment of frame n of a recording that starts at first_ns: exact integers, no
// accumulation. fps = fps_num / fps_den.
int64_t playhead_frame_ns(struct playhead_rate rate, int64_t first_ns, int64_t frame, int fps_num,
                          int fps_den);
// Frames that cover first_ns .. last_ns, the last moment included.
int64_t playhead_frame_count(struct playhead_rate rate, int64_t first_ns, int64_t last_ns,
                             int fps_num, int fps_den);

#endif
