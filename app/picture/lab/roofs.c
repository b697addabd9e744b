// Why prefill and decode take their time: operations done for each byte moved, against the
// rate at which they were done. The roofs are the device's measured rates of reading and
// of arithmetic; a dot is placed by a phase's work (counted) and its time (measured). The
// roof above a dot is the reason only if the dot is near it (roofline_cause); else the plot
// says how near the dot is, and names no cause.
#include "app/picture/lab/parts.h"

#include <math.h>

struct dot {
    bool is_there;
    double x, y; // FLOP per byte, FLOP/s
};

// roofline_of gives the time as a share of its floor, so both are of the same run.
static struct dot dot_of(const struct roofline_phase *phase) {
    struct dot dot = {0};
    if (phase->bytes <= 0 || phase->flop <= 0 || phase->bound_ns <= 0 || phase->share <= 0)
        return dot;
    double measured_s = (double)phase->bound_ns / phase->share / 1e9;
    return (struct dot){
        .is_there = true, .x = phase->flop / phase->bytes, .y = phase->flop / measured_s};
}

static void say_reason(char *out, size_t bytes, const struct roofline_phase *phase) {
    static const char *const keys[] = {
        [ROOFLINE_UNKNOWN] = "lab.of_roof",
        [ROOFLINE_READING] = "lab.limit_reading",
        [ROOFLINE_ARITHMETIC] = "lab.limit_arithmetic",
    };
    words_say(out, bytes, keys[roofline_phase_cause(phase)], "share",
              figure_share(phase->share).text, NULL);
}

static void put_axes(struct plot *plot, const struct roofline *roofline, const struct dot dots[2]) {
    const struct device_rates *rates = &roofline->rates;
    double ridge = rates->matrix_flop_s / rates->read_bytes_s;
    struct lab_range x = lab_range_empty(), y = lab_range_empty();
    lab_range_add(&x, ridge / 4);
    lab_range_add(&x, ridge * 4);
    lab_range_add(&y, rates->matrix_flop_s * 1.6); // room for its label above it
    for (int i = 0; i < 2; i++) {
        if (!dots[i].is_there)
            continue;
        lab_range_add(&x, dots[i].x);
        lab_range_add(&y, dots[i].y);
    }
    lab_axis(&plot->x, word("lab.flop_per_byte"), PLOT_INTENSITY, true);
    lab_axis(&plot->y, word("lab.rate"), PLOT_FLOP_RATE, true);
    lab_range_put(&plot->x, x);
    lab_range_add(&y, plot->x.from * rates->read_bytes_s);
    lab_range_put(&plot->y, y);
}

static void put_lines(struct plot *plot, const struct device_rates *rates) {
    char label[64];
    double ridge = rates->matrix_flop_s / rates->read_bytes_s;
    WORDS_SAY(label, "lab.roof_arithmetic", "rate", figure_si(rates->matrix_flop_s, "FLOP/s").text);
    lab_series(plot, PLOT_LINE, TONE_QUIET, label);
    lab_point(plot, plot->x.to, rates->matrix_flop_s);
    lab_point(plot, ridge, rates->matrix_flop_s);
    WORDS_SAY(label, rates->is_cached ? "lab.roof_cache" : "lab.roof_memory", "rate",
              figure_si(rates->read_bytes_s, "B/s").text);
    lab_series(plot, PLOT_LINE, TONE_QUIET, label);
    // From the right: the label is at the low end, far from the other roof.
    lab_point(plot, ridge, rates->matrix_flop_s);
    lab_point(plot, plot->x.from, plot->x.from * rates->read_bytes_s);
}

static void put_dot(struct plot *plot, const struct dot *dot, const struct roofline_phase *phase,
                    bool is_prefill) {
    char label[64], reason[48];
    if (!dot->is_there)
        return;
    say_reason(reason, sizeof reason, phase);
    WORDS_SAY(label, is_prefill ? "lab.prefill_is" : "lab.decode_is", "reason", reason);
    lab_series(plot, is_prefill ? PLOT_DOTS : PLOT_SQUARE, is_prefill ? TONE_PREFILL : TONE_DECODE,
               label);
    lab_point(plot, dot->x, dot->y);
}

static struct figure reached(const struct roofline_phase *phase, const struct dot *dot) {
    struct figure out;
    bool is_known = roofline_phase_cause(phase) != ROOFLINE_UNKNOWN;
    if (!dot->is_there)
        WORDS_SAY(out.text, "lab.not_timed");
    else
        WORDS_SAY(out.text,
                  phase->is_read ? (is_known ? "lab.of_reading" : "lab.of_reading_unknown")
                                 : (is_known ? "lab.of_arithmetic" : "lab.of_arithmetic_unknown"),
                  "share", figure_share(phase->share).text);
    return out;
}

void lab_put_roofs(struct plot *plot, const struct lab_seen *seen) {
    const struct roofline *roofline = seen->at->roofline;
    WORDS_SAY(plot->title, "lab.roofs_title");
    if (lab_is_lesson(seen->at->run)) {
        WORDS_SAY(plot->message, "lab.rule.no_roof");
        return;
    }
    if (!roofline || !roofline->is_measured || !(roofline->rates.read_bytes_s > 0) ||
        !(roofline->rates.matrix_flop_s > 0)) {
        WORDS_SAY(plot->message, "lab.no_roofs");
        return;
    }
    const struct dot dots[2] = {dot_of(&roofline->prefill), dot_of(&roofline->decode)};
    WORDS_SAY(plot->origin, "lab.measured_roofs");
    plot->origin_tone = TONE_READ;
    put_axes(plot, roofline, dots);
    put_lines(plot, &roofline->rates);
    put_dot(plot, &dots[0], &roofline->prefill, true);
    put_dot(plot, &dots[1], &roofline->decode, false);
    WORDS_SAY(plot->caption, "lab.roofs_caption", "prefill",
              reached(&roofline->prefill, &dots[0]).text, "decode",
              reached(&roofline->decode, &dots[1]).text);
}
