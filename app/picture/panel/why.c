// Why the phase at the moment takes its time: what it must read and compute, how long that
// takes at least at the device's measured rates, how long it took, and which of these is
// the cause, if roofline_cause names one. Lesson units have no cause, and the panel says
// so.
#include "app/picture/panel/parts.h"
#include "compute/analysis/roofline.h"

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

// --- The work ---

// A decode step that is over rather than the one under way, since it has a time.
static int step_shown(const struct panel_seen *seen) {
    int pass = panel_decode_pass(seen);
    bool is_under_way = pass >= seen->now.passes_done;
    bool has_one = seen->now.passes_done > 0 &&
                   seen->run->passes[seen->now.passes_done - 1].phase == RUN_DECODE;
    return is_under_way && has_one ? seen->now.passes_done - 1 : pass;
}

static const struct roofline *roofline_of_device(const struct panel_seen *seen) {
    const struct roofline *roofline = seen->at->roofline;
    bool is_usable = roofline && roofline->is_measured && roofline->rates.read_bytes_s > 0 &&
                     roofline->rates.matrix_flop_s > 0 && seen->run->info.weight_bytes > 0;
    return is_usable ? roofline : NULL;
}

static struct work work_of(const struct panel_seen *seen) {
    const struct run *run = seen->run;
    const struct roofline *roofline = roofline_of_device(seen);
    int pass = panel_decode_pass(seen) < 0 ? -1 : step_shown(seen);
    struct work work = {.is_prefill = pass < 0, .bytes = (double)run->info.weight_bytes};
    if (work.is_prefill) {
        work.took_ns = seen->now.prefill_done ? run_prefill_ns(run) : -1;
    } else {
        const struct run_pass *step = &run->passes[pass];
        work.cache_bytes = run_cache_bytes(run, step->first_column);
        work.bytes += (double)work.cache_bytes;
        work.took_ns =
            pass < seen->now.passes_done ? run_pass_end_ns(run, pass) - step->start_ns : -1;
    }
    if (!roofline)
        return work;
    work.flop = work.is_prefill ? roofline->prefill.flop : roofline->decode.flop;
    work.read_ns = rates_read_ns(&roofline->rates, work.bytes);
    work.matrix_ns = rates_matrix_ns(&roofline->rates, work.flop);
    return work;
}

static double floor_of(const struct work *work) {
    return fmax(work->read_ns, work->matrix_ns);
}

// The floor's share of the time taken, -1 = not known yet.
static double share_of(const struct work *work) {
    return work->took_ns > 0 ? floor_of(work) / (double)work->took_ns : -1;
}

// --- The blocks ---

static void put_work(struct panel *out, const struct panel_seen *seen, const struct work *work) {
    struct panel_block *block =
        panel_add_block(out, seen, work->is_prefill ? "why.prefill" : "why.decode");
    if (seen->run->info.weight_bytes > 0)
        panel_append(block, seen, ' ', work->is_prefill ? "why.prefill.work" : "why.decode.work",
                     "cache", figure_bytes(work->cache_bytes).text, NULL);
    if (work->took_ns < 0)
        panel_append(block, seen, ' ', "why.under_way", NULL);
    else
        panel_append(block, seen, ' ', "why.took", "time",
                     run_time(&seen->run->info, work->took_ns).text, "origin",
                     panel_origin(seen).text, NULL);
}

static struct figure share_figure(const struct work *work) {
    double most = 10000.0 * VIEW_PPM / 100; // 10,000 %: a floor that is no floor
    double share = share_of(work);
    return share < 0 ? (struct figure){SIGN_DASH}
                     : panel_percent((int)fmin(share * VIEW_PPM, most));
}

static void put_floors(struct panel *out, const struct panel_seen *seen, const struct work *work) {
    const struct device_rates *rates = &seen->at->roofline->rates;
    struct panel_block *block = panel_add_block(out, seen, "why.floors");
    const struct run_info *info = &seen->run->info;
    struct figure read = run_time(info, llround(work->read_ns));
    struct figure matrix = run_time(info, llround(work->matrix_ns));
    panel_append(block, seen, ' ', "why.reading", "bytes", figure_bytes(llround(work->bytes)).text,
                 "rate", figure_si(rates->read_bytes_s, "B/s").text, "floor", read.text, NULL);
    if (rates->is_cached)
        panel_append(block, seen, ' ', "why.cached", NULL);
    panel_append(block, seen, '\n', "why.arithmetic", "flop", figure_si(work->flop, "FLOP").text,
                 "rate", figure_si(rates->matrix_flop_s, "FLOP/s").text, "floor", matrix.text,
                 NULL);
    if (share_of(work) >= 0)
        panel_append(block, seen, '\n', "why.floor", "floor",
                     run_time(info, llround(floor_of(work))).text, "share", share_figure(work).text,
                     NULL);
}

static const char *cause_key(const struct panel_seen *seen, const struct work *work) {
    if (seen->run->info.is_disturbed)
        return "why.disturbed";
    switch (roofline_cause(work->read_ns, work->matrix_ns, (double)work->took_ns)) {
    case ROOFLINE_READING:
        return work->is_prefill ? "why.prefill.read" : "why.decode.read";
    case ROOFLINE_ARITHMETIC:
        return work->is_prefill ? "why.prefill.compute" : "why.decode.compute";
    default:
        return "why.rest";
    }
}

static void put_cause(struct panel *out, const struct panel_seen *seen, const struct work *work) {
    if (work->took_ns < 0) // "It is not over yet."
        return;
    panel_append(panel_add_block(out, seen, "why.cause"), seen, ' ', cause_key(seen, work), "floor",
                 run_time(&seen->run->info, llround(floor_of(work))).text, "share",
                 share_figure(work).text, NULL);
}

// --- Both phases side by side ---

static void put_floor(struct panel_block *block, const struct panel_seen *seen, const char *key,
                      const struct roofline_phase *phase, const struct device_rates *rates) {
    const struct run_info *info = &seen->run->info;
    int64_t read_ns = llround(rates_read_ns(rates, phase->bytes));
    int64_t matrix_ns = llround(rates_matrix_ns(rates, phase->flop));
    panel_append(block, seen, '\n', key, "read", run_time(info, read_ns).text, "matrix",
                 run_time(info, matrix_ns).text, NULL);
}

void panel_put_both_floors(struct panel *out, const struct panel_seen *seen) {
    const struct roofline *roofline = roofline_of_device(seen);
    bool is_lesson = seen->run->info.origin == RUN_LESSON;
    struct panel_block *block = panel_add_block(out, seen, "floors.heading");
    if (!roofline || is_lesson) {
        panel_append(block, seen, ' ', is_lesson ? "floors.lesson" : "floors.unmeasured", NULL);
        return;
    }
    put_floor(block, seen, "floors.prefill", &roofline->prefill, &roofline->rates);
    put_floor(block, seen, "floors.decode", &roofline->decode, &roofline->rates);
}

void panel_put_why(struct panel *out, const struct panel_seen *seen) {
    bool is_lesson = seen->run->info.origin == RUN_LESSON;
    out->title_tone = (uint8_t)panel_tone(seen);
    if (is_lesson || seen->now.current < 0) {
        panel_append(panel_add_block(out, seen, NULL), seen, ' ',
                     is_lesson ? "why.lesson" : "why.nothing", NULL);
        return;
    }
    struct work work = work_of(seen);
    put_work(out, seen, &work);
    if (roofline_of_device(seen)) {
        put_floors(out, seen, &work);
        put_cause(out, seen, &work);
    } else {
        panel_append(panel_add_block(out, seen, NULL), seen, ' ', "why.unmeasured", NULL);
    }
}
