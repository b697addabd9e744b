// What changes faster than the eye can follow is held, not flickered through: see scene_hold_ns.
#include "app/picture/scene/scene.h"

#include "compute/base/num.h"

int64_t scene_hold_ns(const struct run *run, int64_t t_ns, struct scene_hold hold,
                      struct playhead_rate rate) {
    int64_t quick_ns = playhead_run_ns(rate, hold.quick_screen_ns);
    int64_t dwell_ns = playhead_run_ns(rate, hold.dwell_screen_ns), shown_ns = 0;
    struct run_moment now = run_moment_at(run, t_ns);
    bool is_quick = false; // the pass before was, so this one is taken to be
    if (now.at_end)
        return t_ns;
    for (int pass = 0; pass < now.passes_done; pass++) {
        int64_t end_ns = run_pass_end_ns(run, pass);
        if (!is_quick || end_ns - shown_ns >= dwell_ns)
            shown_ns = end_ns;
        is_quick = end_ns - run->passes[pass].start_ns < quick_ns;
    }
    return is_quick ? shown_ns : t_ns;
}

int64_t scene_read_ns(const struct run *run, int64_t t_ns, struct playhead_rate rate) {
    static const int64_t renew_screen_ns = 400000000;
    struct run_moment now = run_moment_at(run, t_ns);
    if (now.at_end || t_ns <= 0)
        return t_ns;
    t_ns = scene_hold_ns(run, now.t_ns, SCENE_HOLD_FIGURES, rate);
    int64_t renew_ns = playhead_run_ns(rate, renew_screen_ns);
    int64_t event_ns = run_event_ns(run, now.passes_done);
    if (t_ns > event_ns && renew_ns > 0)
        t_ns = event_ns + (t_ns - event_ns) / renew_ns * renew_ns;
    return max_i64(t_ns, 1);
}
