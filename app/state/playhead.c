// See playhead.h. All products are taken in 128 bits and divided once, so a moment
// is a formula of its anchor and never a sum of small steps.
#include "app/state/playhead.h"

#include "compute/base/num.h"

__extension__ typedef __int128 wide;

enum { LADDER_MAX_DEN = 1000000, LADDER_MAX_NUM = 1000 };

// value * num / den, rounded towards minus infinity; num >= 0, den > 0.
static int64_t scaled(int64_t value, int64_t num, int64_t den) {
    wide product = (wide)value * num;
    wide quotient = product / den;
    if (product % den < 0)
        quotient--;
    if (quotient > INT64_MAX)
        return INT64_MAX;
    if (quotient < INT64_MIN)
        return INT64_MIN;
    return (int64_t)quotient;
}

static int64_t added(int64_t a, int64_t b) {
    int64_t sum = 0;
    if (!__builtin_add_overflow(a, b, &sum))
        return sum;
    return b > 0 ? INT64_MAX : INT64_MIN;
}

int64_t playhead_at(const struct playhead *playhead, int64_t wall_ns) {
    int64_t moved_ns = 0;
    if (!playhead->is_paused)
        moved_ns = playhead_run_ns(playhead->rate, wall_ns - playhead->anchor_wall_ns);
    return clamp_i64(added(playhead->anchor_run_ns, moved_ns), playhead->first_ns,
                     playhead->last_ns);
}

bool playhead_is_at_end(const struct playhead *playhead, int64_t wall_ns) {
    return playhead_at(playhead, wall_ns) >= playhead->last_ns;
}

static struct playhead anchored(struct playhead playhead, int64_t wall_ns, int64_t run_ns) {
    playhead.anchor_wall_ns = wall_ns;
    playhead.anchor_run_ns = clamp_i64(run_ns, playhead.first_ns, playhead.last_ns);
    return playhead;
}

struct playhead playhead_seek(struct playhead playhead, int64_t wall_ns, int64_t run_ns) {
    return anchored(playhead, wall_ns, run_ns);
}

struct playhead playhead_pause(struct playhead playhead, int64_t wall_ns, bool paused) {
    int64_t now_ns = playhead_at(&playhead, wall_ns);
    playhead.is_paused = paused;
    return anchored(playhead, wall_ns, now_ns);
}

struct playhead playhead_set_rate(struct playhead playhead, int64_t wall_ns,
                                  struct playhead_rate rate) {
    int64_t now_ns = playhead_at(&playhead, wall_ns);
    playhead.rate = rate;
    return anchored(playhead, wall_ns, now_ns);
}

struct playhead playhead_set_bounds(struct playhead playhead, int64_t wall_ns, int64_t first_ns,
                                    int64_t last_ns) {
    int64_t now_ns = playhead_at(&playhead, wall_ns);
    playhead.first_ns = first_ns;
    playhead.last_ns = last_ns;
    return anchored(playhead, wall_ns, now_ns);
}

struct playhead playhead_look(struct playhead playhead, int64_t before_ns, int64_t wall_ns,
                              int64_t most_ns) {
    int64_t gap_ns = wall_ns - before_ns;
    playhead.anchor_wall_ns += gap_ns - clamp_i64(gap_ns, 0, most_ns);
    return playhead;
}

// Rung `index` of the ladder from slowest (0) to fastest: 1/10^6, 1/(5 * 10^5),
// 1/(2 * 10^5), 1/10^5 ... 1/1, 2/1, 5/1 ... 1000/1.
static bool ladder_rung(int index, struct playhead_rate *out) {
    static const int32_t ones[] = {1, 2, 5};
    enum { SLOW_RUNGS = 18, FAST_RUNGS = 10 }; // 10^6 .. 2, then 1 .. 10^3
    if (index < 0 || index >= SLOW_RUNGS + FAST_RUNGS)
        return false;
    int power = index < SLOW_RUNGS ? SLOW_RUNGS - index : index - SLOW_RUNGS;
    int32_t value = ones[power % 3];
    for (int i = 0; i < power / 3; i++)
        value *= 10;
    out->num = index < SLOW_RUNGS ? 1 : value;
    out->den = index < SLOW_RUNGS ? value : 1;
    return true;
}

// a < b, exactly.
static bool is_slower(struct playhead_rate a, struct playhead_rate b) {
    return (int64_t)a.num * b.den < (int64_t)b.num * a.den;
}

struct playhead_rate playhead_rate_for(int64_t run_ns) {
    struct playhead_rate best = {1, 1}, rung;
    double best_ratio = -1;
    for (int i = 0; ladder_rung(i, &rung); i++) {
        double ratio = (double)playhead_screen_ns(rung, run_ns) / (double)PLAYHEAD_SHOW_SCREEN_NS;
        if (ratio < 1)
            ratio = 1 / (ratio > 0 ? ratio : 1e-18);
        if (best_ratio < 0 || ratio < best_ratio) {
            best_ratio = ratio;
            best = rung;
        }
    }
    return best;
}

struct playhead_rate playhead_rate_step(struct playhead_rate rate, int direction) {
    struct playhead_rate rung, slower = rate;
    for (int i = 0; ladder_rung(i, &rung); i++) {
        if (direction > 0 && is_slower(rate, rung))
            return rung;
        if (direction < 0 && is_slower(rung, rate))
            slower = rung;
    }
    return direction < 0 ? slower : rate;
}

bool playhead_rate_is_real_time(struct playhead_rate rate) {
    return rate.num == rate.den;
}

int64_t playhead_run_ns(struct playhead_rate rate, int64_t screen_ns) {
    return scaled(screen_ns, rate.num, rate.den);
}

int64_t playhead_screen_ns(struct playhead_rate rate, int64_t run_ns) {
    wide product = (wide)run_ns * rate.den;
    wide half = product < 0 ? -(wide)(rate.num / 2) : (wide)(rate.num / 2);
    wide quotient = (product + half) / rate.num;
    if (quotient > INT64_MAX)
        return INT64_MAX;
    return quotient < INT64_MIN ? INT64_MIN : (int64_t)quotient;
}

int64_t playhead_frame_ns(struct playhead_rate rate, int64_t first_ns, int64_t frame, int fps_num,
                          int fps_den) {
    // frame * fps_den < 2^63 / 10^9 for every recording under 290 years.
    int64_t num = INT64_C(1000000000) * rate.num;
    wide den = (wide)fps_num * rate.den;
    wide moment = (wide)frame * fps_den * num / den + first_ns;
    return moment > INT64_MAX ? INT64_MAX : (int64_t)moment;
}

int64_t playhead_frame_count(struct playhead_rate rate, int64_t first_ns, int64_t last_ns,
                             int fps_num, int fps_den) {
    if (last_ns < first_ns)
        return 0;
    wide screen_num = (wide)(last_ns - first_ns) * rate.den * fps_num;
    wide screen_den = (wide)rate.num * fps_den * 1000000000;
    return (int64_t)((screen_num + screen_den - 1) / screen_den) + 1;
}
