// See measure.h.
#include "app/command/measure.h"

#include "app/command/measure_sweep.h"
#include "app/command/output.h"
#include "app/runs/source.h"
#include "compute/base/figures.h"
#include "compute/base/progress.h"
#include "compute/base/utf8.h"
#include "compute/base/why.h"
#include "compute/file/runfile.h"

#include <errno.h>
#include <jansson.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

// The five figures, in the order of the field's definitions.
static const struct {
    const char *name, *json, *meaning;
    size_t offset;
} figures[] = {
    {"TTFT", "ttft_ms", "request to first token", offsetof(struct measure_result, ttft)},
    {"TPOT", "tpot_ms", "(E2E - TTFT) / (tokens - 1)", offsetof(struct measure_result, tpot)},
    {"E2E", "e2e_ms", "request to last token", offsetof(struct measure_result, e2e)},
    {"prefill", "prefill_ms", "the pass over the prompt", offsetof(struct measure_result, prefill)},
    {"step", "step_ms", "one decode step", offsetof(struct measure_result, step)},
};
enum { FIGURES = sizeof figures / sizeof figures[0], FIRST_IN_JSON = 3 };

static const struct spread *spread_of(const struct measure_result *result, int figure) {
    return (const void *)((const char *)result + figures[figure].offset);
}

static double ms_of(int64_t ns) {
    return (double)ns / 1e6;
}

// --- For people ---

static void print_head(FILE *out, const struct measure_result *result) {
    const struct run_info *info = &result->shown->info;
    bool is_bundled = strcmp(info->weights, "bundled") == 0;
    fprintf(out, "%s%s, %s weights\n", info->model, is_bundled ? " (bundled)" : "",
            info->weight_type);
    fprintf(out, "%s: %s", info->device, info->device_name);
    if (info->threads > 0)
        fprintf(out, ", %s", figure_counted(info->threads, false, "thread").text);
    fprintf(out, "\n%s, %s%s\n", figure_counted(info->prompt_tokens, false, "prompt token").text,
            figure_counted(result->shown->answer_count, false, "answer token").text,
            info->forced_length ? " (length forced)" : "");
    fprintf(out, "%s after %s, %s\n\n", figure_counted(result->repeats, false, "warm run").text,
            figure_counted(result->warmups, false, "warm-up").text, info->date);
}

static void print_figure(FILE *out, const struct measure_result *result, int figure) {
    const struct spread *spread = spread_of(result, figure);
    fprintf(out, "%-8s", figures[figure].name);
    if (spread->count == 0)
        fprintf(out, "%11s%-30s", "", "not measured");
    else
        fprintf(out, "%11.3f%11.3f%11.3f%8d", ms_of(spread->median_ns), ms_of(spread->p10_ns),
                ms_of(spread->p90_ns), spread->count);
    fprintf(out, "  %s\n", figures[figure].meaning);
}

static void print_ms(FILE *out, const char *name, int64_t ns) {
    if (ns < 0)
        fprintf(out, "%s not measured", name);
    else
        fprintf(out, "%s %.3f ms", name, ms_of(ns));
}

static void print_cold(FILE *out, const struct run *cold) {
    fprintf(out, "cold run (the first one, not among them): ");
    if (!cold) {
        fprintf(out, "not measured\n");
        return;
    }
    print_ms(out, "TTFT", run_ttft_ns(cold));
    print_ms(out, ", TPOT", run_tpot_ns(cold));
    print_ms(out, ", E2E", run_e2e_ns(cold));
    fputc('\n', out);
}

static void print_bound(FILE *out, const char *name, const struct roofline_phase *phase) {
    fprintf(out, "%-8s%11.3f%9s%11.2f%11.2f  %s\n", name, ms_of(phase->bound_ns), "",
            phase->bytes / 1e6, phase->flop / 1e6, phase->is_read ? "reading" : "multiplying");
}

static void print_share(FILE *out, const char *name, const struct roofline_phase *phase) {
    if (phase->share < 0)
        fprintf(out, "%s not measured", name);
    else
        fprintf(out, "%s %s", name, figure_share(phase->share).text);
}

// The best this device could do, and how near the run came to it.
static void print_roofline(FILE *out, const struct measure_result *result) {
    const struct roofline *roofline = &result->roofline;
    if (result->no_roofline.text[0])
        fprintf(out, "floor    not known: %s\n\n", result->no_roofline.text);
    if (!roofline->is_measured)
        return;
    fprintf(out, "%-8s%11s%9s%11s%11s  %s\n", "floor", "ms", "", "MB read", "MFLOP", "longer is");
    print_bound(out, "prefill", &roofline->prefill);
    print_bound(out, "step", &roofline->decode);
    print_share(out, "the floor's share of the time: prefill", &roofline->prefill);
    print_share(out, ", step", &roofline->decode);
    fprintf(out, "\nthis device: reads %.1f GB/s from %s, multiplies at %.1f GFLOP/s\n\n",
            roofline->rates.read_bytes_s / 1e9,
            roofline->rates.is_cached ? "its cache (the weights fit there)" : "memory",
            roofline->rates.matrix_flop_s / 1e9);
}

// The signs of disturbance.h by their bits.
static const char *const sign_names[] = {"spread", "steal", "switches", "waits"};
enum { SIGNS = sizeof sign_names / sizeof sign_names[0] };

static void print_disturbance(FILE *out, const struct measure_result *result) {
    const struct disturbance *d = &result->disturbance;
    unsigned signs = disturbance_signs(d);
    const char *before = "";
    fprintf(out, "disturbance: ");
    if (d->switches >= 0)
        fprintf(out, "the threads that compute were taken off a processor %s, ",
                figure_counted(d->switches, false, "time").text);
    fprintf(out, "%s of the processor time was stolen\n", figure_share(d->stolen_share).text);
    if (!signs)
        return;
    fprintf(out, "DISTURBED by other work (");
    for (int i = 0; i < SIGNS; i++) {
        if (!(signs & 1u << i))
            continue;
        fprintf(out, "%s%s", before, sign_names[i]);
        before = ", ";
    }
    fprintf(out, "): measure again. Nothing is concluded from these times.\n");
}

static void print_figures(FILE *out, const struct measure_result *result) {
    print_head(out, result);
    fprintf(out, "%-8s%11s%11s%11s%8s\n", "ms", "median", "p10", "p90", "count");
    for (int i = 0; i < FIGURES; i++)
        print_figure(out, result, i);
    fputc('\n', out);
    print_roofline(out, result);
    print_cold(out, result->cold);
    fprintf(out, "warm-up: %s\n",
            result->settled ? "two medians agreed within 2 %"
                            : "the time for it ended before two medians agreed within 2 %");
    fprintf(out, "stages: %s\n",
            result->stages_match
                ? "the layers add up to the wall clock within 5 %"
                : "INVALID, the layers do not add up to the wall clock within 5 %");
    fprintf(out, "prefill check: %s\n",
            result->prefill_checked ? "same logits as token by token"
                                    : "not made, so not known to be right");
    print_disturbance(out, result);
}

void measure_print_table(FILE *out, const struct measured *measured) {
    print_figures(out, &measured->result);
    if (measured->sweep.prefill_count > 0)
        measure_sweep_print(out, &measured->sweep);
    if (measured->overhead.count > 0)
        overhead_print(out, &measured->overhead);
}

void measure_print_answer(FILE *out, const struct run *run) {
    bool is_first = true;
    char *answer = NULL; // whole: one character may be several tokens
    size_t answer_bytes = 0;
    FILE *joined = open_memstream(&answer, &answer_bytes);
    for (int i = 0; joined && i < run->answer_count; i++) {
        int token = run->info.prompt_tokens + i;
        size_t bytes = 0;
        const char *text = run_token_text(run, token, &bytes);
        if (run->tokens[token].kind == RUN_CONTROL)
            continue;
        // The space that joins the answer to the prompt is not the answer's.
        if (is_first && bytes > 0 && text[0] == ' ') {
            text++;
            bytes--;
        }
        is_first = false;
        fwrite(text, 1, bytes, joined);
    }
    if (joined && fclose(joined) == 0)
        utf8_print(out, answer, answer_bytes);
    free(answer);
    fputc('\n', out);
}

// --- For programs ---

static json_t *spread_json(const struct spread *spread) {
    if (spread->count == 0)
        return json_pack("{s:n,s:n,s:n}", "median", "p10", "p90");
    return json_pack("{s:f,s:f,s:f}", "median", ms_of(spread->median_ns), "p10",
                     ms_of(spread->p10_ns), "p90", ms_of(spread->p90_ns));
}

static json_t *share_json(double share) {
    return share < 0 ? json_null() : json_real(share);
}

static json_t *roofline_json(const struct roofline *roofline) {
    return json_pack("{s:f,s:f,s:o,s:o}", "read_gb_s", roofline->rates.read_bytes_s / 1e9,
                     "matrix_gflop_s", roofline->rates.matrix_flop_s / 1e9, "prefill_share",
                     share_json(roofline->prefill.share), "decode_share",
                     share_json(roofline->decode.share));
}

static json_t *signs_json(unsigned signs) {
    json_t *out = json_array();
    for (int i = 0; i < SIGNS; i++) {
        if (signs & 1u << i)
            json_array_append_new(out, json_string(sign_names[i])); // takes NULL
    }
    return out;
}

static json_t *run_json(const struct measure_result *result) {
    const struct run_info *info = &result->shown->info;
    return json_pack(
        "{s:s,s:s,s:o,s:s,s:s,s:s,s:i,s:i,s:i,s:s,s:b,s:o}", "device", info->device, "device_name",
        info->device_name, "threads", info->threads > 0 ? json_integer(info->threads) : json_null(),
        "model", info->model, "weights", info->weights, "type", info->weight_type, "prompt_tokens",
        info->prompt_tokens, "answer_tokens", result->shown->answer_count, "repeats",
        result->repeats, "date", info->date, "disturbed", info->is_disturbed, "disturbed_by",
        signs_json(disturbance_signs(&result->disturbance)));
}

static bool add_figures(json_t *object, const struct measure_result *result) {
    bool ok = json_object_set_new(object, "run", run_json(result)) == 0; // takes NULLs, with -1
    // The run, prefill and step, then what follows from them.
    for (int i = 0; ok && i < FIGURES; i++) {
        int figure = (i + FIRST_IN_JSON) % FIGURES;
        ok = json_object_set_new(object, figures[figure].json,
                                 spread_json(spread_of(result, figure))) == 0;
    }
    if (ok && result->roofline.is_measured)
        ok = json_object_set_new(object, "floor", roofline_json(&result->roofline)) == 0;
    return ok;
}

bool measure_print_json(FILE *out, const struct measured *measured) {
    json_t *object = json_object();
    bool ok = add_figures(object, &measured->result);
    if (ok && measured->sweep.prefill_count > 0)
        ok = measure_sweep_add_json(object, &measured->sweep);
    if (ok && measured->overhead.count > 0)
        ok = overhead_add_json(object, &measured->overhead);
    // 15 digits: exact nanoseconds in milliseconds up to 10^9 ms.
    ok = ok && json_dumpf(object, out, JSON_INDENT(2) | JSON_REAL_PRECISION(15)) == 0 &&
         fputc('\n', out) != EOF;
    json_decref(object);
    return ok;
}

// A CSV field: quoted where it must be.
static void print_field(FILE *out, const char *text) {
    if (!strpbrk(text, ",\"\n\r")) {
        fputs(text, out);
        return;
    }
    fputc('"', out);
    for (; *text; text++) {
        if (*text == '"')
            fputc('"', out);
        fputc(*text, out);
    }
    fputc('"', out);
}

// What every line ends with: threads, which device, model and weights it was, and whether the
// run was disturbed.
static void print_tail(FILE *out, const struct run_info *info) {
    const char *texts[] = {info->device,  info->device_name, info->model,
                           info->weights, info->weight_type, info->date};
    fprintf(out, "%d", info->threads);
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        fputc(',', out);
        print_field(out, texts[i]);
    }
    fprintf(out, ",%d\n", info->is_disturbed);
}

static void print_csv_figure(FILE *out, const struct measure_result *result, int figure) {
    const struct run_info *info = &result->shown->info;
    const struct spread *spread = spread_of(result, figure);
    fprintf(out, "%s,", figures[figure].json);
    if (spread->count == 0)
        fprintf(out, ",,,0");
    else
        fprintf(out, "%.6f,%.6f,%.6f,%d", ms_of(spread->median_ns), ms_of(spread->p10_ns),
                ms_of(spread->p90_ns), spread->count);
    fprintf(out, ",%d,%d,%d,", info->prompt_tokens, result->shown->answer_count, result->repeats);
    print_tail(out, info);
}

// A point's length is in the column prompt_tokens; answer_tokens is empty.
static void print_csv_points(FILE *out, const char *name, const struct sweep_point *points,
                             int count, const struct run_info *info) {
    for (const struct sweep_point *at = points; at < points + count; at++) {
        fprintf(out, "%s,%.6f,%.6f,%.6f,%d,%d,,%d,", name, ms_of(at->median_ns), ms_of(at->p10_ns),
                ms_of(at->p90_ns), at->count, at->tokens, at->count);
        print_tail(out, info);
    }
}

void measure_print_csv(FILE *out, const struct measured *measured) {
    const struct run_info *info = &measured->result.shown->info;
    fprintf(out, "figure,median,p10,p90,count,prompt_tokens,answer_tokens,repeats,threads,"
                 "device,device_name,model,weights,type,date,disturbed\n");
    for (int i = 0; i < FIGURES; i++)
        print_csv_figure(out, &measured->result, i);
    const struct sweep *sweep = &measured->sweep;
    print_csv_points(out, "prefill_by_length_ms", sweep->prefill, sweep->prefill_count, info);
    print_csv_points(out, "step_by_context_ms", sweep->step, sweep->step_count, info);
}

// --- Files ---

static bool print_json(FILE *out, const void *measured) {
    return measure_print_json(out, measured);
}

static bool print_csv(FILE *out, const void *measured) {
    measure_print_csv(out, measured);
    return true;
}

static bool save(const struct options *options, const struct measured *measured, struct why *why) {
    struct runfile_extras extras = {.sweep = measured->sweep,
                                    .roofline = measured->result.roofline};
    return runfile_save(options->save_path, measured->result.shown, &extras, options->overwrite,
                        why);
}

static bool write_files(const struct options *options, const struct measured *measured,
                        struct why *why) {
    bool overwrite = options->overwrite;
    if (options->json_path &&
        !output_write(options->json_path, print_json, measured, overwrite, why))
        return false;
    if (options->csv_path && !output_write(options->csv_path, print_csv, measured, overwrite, why))
        return false;
    return !options->save_path || save(options, measured, why);
}

// Prints what belongs on standard output: words, or the table unless JSON or CSV goes there.
static void print_result(const struct options *options, const struct measured *measured) {
    if (options->text_only)
        measure_print_answer(stdout, measured->result.shown);
    else if (!options_is_stdout(options->json_path) && !options_is_stdout(options->csv_path))
        measure_print_table(stdout, measured);
    if (options->save_path && !options->is_quiet) {
        char said[PATH_MAX * 2 + 64];
        int bytes = snprintf(said, sizeof said, "saved %s: tokendrip --run %s plays it\n",
                             options->save_path, options->save_path);
        utf8_print(stderr, said, (size_t)bytes);
    }
}

// If only the words are wanted, one run is enough: all runs give the same.
static bool wants_words_only(const struct options *options) {
    return options->text_only && !options->json_path && !options->csv_path && !options->save_path;
}

static bool measure_on(struct measured *out, struct source *source, const struct options *options,
                       struct why *why) {
    bool words_only = wants_words_only(options);
    struct engine_request request =
        source_request(source, &options->request, words_only ? 1 : SOURCE_MEASURE_REPEATS);
    request.wants_roofline = !options->text_only;
    if (!source_measure(&out->result, source, &request, why))
        return false;
    return words_only || !options->is_sweep ||
           measure_sweep(&out->sweep, source, options->request.repeats, why);
}

static bool measure_all(struct measured *out, const struct options *options, struct why *why) {
    struct source source;
    struct progress progress = progress_start(options->is_quiet);
    bool ok = source_open(&source, &options->request,
                          &(struct source_opts){.marks = BACKEND_MARKS_ALL, .progress = &progress},
                          why) &&
              measure_on(out, &source, options, why);
    source_close(&source);
    if (ok && options->is_overhead && !wants_words_only(options))
        ok = overhead_measure(&out->overhead, &options->request, &progress, why);
    progress_clear(&progress);
    return ok;
}

int measure_command(const struct options *options, struct why *why) {
    struct measured measured = {0};
    bool ok = output_check(options, why) && measure_all(&measured, options, why) &&
              write_files(options, &measured, why);
    if (ok)
        print_result(options, &measured);
    measure_clear(&measured.result);
    return ok ? EXIT_OK : EXIT_FAILED;
}
