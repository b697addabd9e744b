// Why the phase at the moment takes the time it takes: what it must read and compute,
// how long that takes at the least at the device's measured rates, what it took, and
// which of these is the cause. Where the longer floor leaves more than half of the time
// unexplained, the rest is the larger part and is named instead; it is called overhead
// only where there is so little to do per stage that starting the work can be what
// takes the time. Lesson units have no cause, and the panel says so.
#include "app/picture/panel/parts.h"
#include "app/picture/scene/scene.h"
#include "compute/measure/floors.h"

#include <math.h>
#include <stdio.h>

// One phase's work. For prefill all of its passes together, for decode one step.
struct work {
    bool is_prefill;
    double bytes, flop;        // flop: of a measured device only
    double read_ns, matrix_ns; // the two floors, 0 = not measured
    int64_t took_ns;           // -1 = not over yet
    int64_t cache_bytes;       // read by the decode step
};

// --- Forms ---

// "12.3 GB/s", "1.25 TFLOP": three digits, decimal prefixes as rates have them.
static void put_si(char out[PANEL_WORD_BYTES], double value, const char *unit) {
    static const char *const prefixes[] = {"", "k", "M", "G", "T", "P", "E"};
    size_t prefix = 0;
    while (value >= 999.5 && prefix + 1 < sizeof prefixes / sizeof prefixes[0]) {
        value /= 1000;
        prefix++;
    }
    int decimals = value >= 99.95 || prefix == 0 ? 0 : value >= 9.995 ? 1 : 2;
    snprintf(out, PANEL_WORD_BYTES, "%.*f %s%s", decimals, value, prefixes[prefix], unit);
}

static void put_ns(char out[PANEL_WORD_BYTES], const struct panel_seen *seen, double ns) {
    panel_time(out, PANEL_WORD_BYTES, seen->run, llround(ns));
}

// --- The work ---

// A decode step that is over says more than the one under way: it has a time.
static int step_shown(const struct panel_seen *seen) {
    int pass = panel_decode_pass(seen);
    bool is_under_way = pass >= seen->now.passes_done;
    bool has_one = seen->now.passes_done > 0 &&
                   seen->run->passes[seen->now.passes_done - 1].phase == RUN_DECODE;
    return is_under_way && has_one ? seen->now.passes_done - 1 : pass;
}

static const struct floors *floors_of_device(const struct panel_seen *seen) {
    const struct floors *floors = seen->at->floors;
    bool is_usable = floors && floors->is_measured && floors->rates.read_bytes_s > 0 &&
                     floors->rates.matrix_flop_s > 0 && seen->run->info.weight_bytes > 0;
    return is_usable ? floors : NULL;
}

static struct work work_of(const struct panel_seen *seen) {
    const struct run *run = seen->run;
    const struct floors *floors = floors_of_device(seen);
    int pass = panel_decode_pass(seen) < 0 ? -1 : step_shown(seen);
    struct work work = {.is_prefill = pass < 0, .bytes = (double)run->info.weight_bytes};
    if (work.is_prefill) {
        work.took_ns = seen->now.prefill_done ? run_prefill_ns(run) : -1;
    } else {
        const struct run_pass *step = &run->passes[pass];
        work.cache_bytes = run_cache_entry_bytes(run) * step->first_column;
        work.bytes += (double)work.cache_bytes;
        work.took_ns =
            pass < seen->now.passes_done ? run_pass_end_ns(run, pass) - step->start_ns : -1;
    }
    if (!floors)
        return work;
    work.flop = work.is_prefill ? floors->prefill.flop : floors->decode.flop;
    work.read_ns = work.bytes / floors->rates.read_bytes_s * 1e9;
    work.matrix_ns = work.flop / floors->rates.matrix_flop_s * 1e9;
    return work;
}

static double floor_of(const struct work *work) {
    return fmax(work->read_ns, work->matrix_ns);
}

// Of the time taken, -1 = not known yet.
static double share_of(const struct work *work) {
    return work->took_ns > 0 ? floor_of(work) / (double)work->took_ns : -1;
}

// --- The blocks ---

static void put_work(struct panel *out, const struct panel_seen *seen, const struct work *work) {
    struct panel_block *block =
        panel_add_block(out, seen, work->is_prefill ? "why.prefill" : "why.decode");
    char cache[PANEL_WORD_BYTES], time[PANEL_WORD_BYTES], origin[PANEL_WORD_BYTES];
    if (seen->run->info.weight_bytes > 0) {
        scene_format_bytes(cache, sizeof cache, work->cache_bytes);
        panel_append(block, seen, ' ', work->is_prefill ? "why.prefill.work" : "why.decode.work",
                     (const char *const[]){"cache", cache, NULL});
    }
    if (work->took_ns < 0) {
        panel_append(block, seen, ' ', "why.under_way", NULL);
        return;
    }
    panel_time(time, sizeof time, seen->run, work->took_ns);
    panel_say(origin, sizeof origin, seen, panel_origin_key(seen->run), NULL);
    panel_append(block, seen, ' ', "why.took",
                 (const char *const[]){"time", time, "origin", origin, NULL});
}

static void put_share(char out[PANEL_WORD_BYTES], double share) {
    double most = 10000.0 * VIEW_PPM / 100; // 10,000 %: a floor that is no floor
    panel_percent(out, (int)fmin(share * VIEW_PPM, most));
}

static void put_floors(struct panel *out, const struct panel_seen *seen, const struct work *work) {
    const struct backend_rates *rates = &seen->at->floors->rates;
    struct panel_block *block = panel_add_block(out, seen, "why.floors");
    char bytes[PANEL_WORD_BYTES], read_rate[PANEL_WORD_BYTES], read_floor[PANEL_WORD_BYTES];
    char flop[PANEL_WORD_BYTES], matrix_rate[PANEL_WORD_BYTES], matrix_floor[PANEL_WORD_BYTES];
    scene_format_bytes(bytes, sizeof bytes, llround(work->bytes));
    put_si(read_rate, rates->read_bytes_s, "B/s");
    put_ns(read_floor, seen, work->read_ns);
    put_si(flop, work->flop, "FLOP");
    put_si(matrix_rate, rates->matrix_flop_s, "FLOP/s");
    put_ns(matrix_floor, seen, work->matrix_ns);
    panel_append(
        block, seen, ' ', "why.reading",
        (const char *const[]){"bytes", bytes, "rate", read_rate, "floor", read_floor, NULL});
    if (rates->is_cached)
        panel_append(block, seen, ' ', "why.cached", NULL);
    panel_append(
        block, seen, '\n', "why.arithmetic",
        (const char *const[]){"flop", flop, "rate", matrix_rate, "floor", matrix_floor, NULL});
    if (share_of(work) < 0)
        return;
    char floor[PANEL_WORD_BYTES], share[PANEL_WORD_BYTES];
    put_ns(floor, seen, floor_of(work));
    put_share(share, share_of(work));
    panel_append(block, seen, '\n', "why.floor",
                 (const char *const[]){"floor", floor, "share", share, NULL});
}

static const char *cause_key(const struct panel_seen *seen, const struct work *work) {
    // A stage starts a handful of kernels or wakes its threads as often, at some
    // microseconds each. With less than this to do, that can be what takes the time.
    static const double small_stage_ns = 50000;
    double share = share_of(work);
    bool is_explained = share < 0 || share >= 0.5;
    bool is_small = floor_of(work) / run_stages(seen->run) < small_stage_ns;
    if (!is_explained && !is_small)
        return "why.rest";
    if (!is_explained)
        return work->is_prefill ? "why.prefill.overhead" : "why.decode.overhead";
    if (work->read_ns >= work->matrix_ns)
        return work->is_prefill ? "why.prefill.read" : "why.decode.read";
    return work->is_prefill ? "why.prefill.compute" : "why.decode.compute";
}

static void put_cause(struct panel *out, const struct panel_seen *seen, const struct work *work) {
    struct panel_block *block = panel_add_block(out, seen, "why.cause");
    char floor[PANEL_WORD_BYTES], share[PANEL_WORD_BYTES] = "\xE2\x80\x94";
    put_ns(floor, seen, floor_of(work));
    if (share_of(work) >= 0)
        put_share(share, share_of(work));
    panel_append(block, seen, ' ', cause_key(seen, work),
                 (const char *const[]){"floor", floor, "share", share, NULL});
}

void panel_put_why(struct panel *out, const struct panel_seen *seen) {
    panel_say(out->title, sizeof out->title, seen, "title.why", NULL);
    panel_say(out->foot, sizeof out->foot, seen, "why.hint", NULL);
    out->title_tone = (uint8_t)panel_tone(seen);
    if (seen->run->info.origin == RUN_LESSON) {
        panel_append(panel_add_block(out, seen, NULL), seen, ' ', "why.lesson", NULL);
        return;
    }
    if (seen->now.current < 0) {
        panel_append(panel_add_block(out, seen, NULL), seen, ' ', "why.nothing", NULL);
        return;
    }
    struct work work = work_of(seen);
    put_work(out, seen, &work);
    if (!floors_of_device(seen)) {
        panel_append(panel_add_block(out, seen, NULL), seen, ' ', "why.unmeasured", NULL);
        return;
    }
    put_floors(out, seen, &work);
    put_cause(out, seen, &work);
}
