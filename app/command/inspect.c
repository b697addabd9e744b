// See inspect.h. This file only prints: modelfile.c has read the file and made its texts
// printable. A long list is cut and ends with the number of lines left out.
//
// What the file costs on this machine comes from the CPU backend, opened with a short cache: it
// says how it stores the KV cache, and measures the rates that no step can beat.
#include "app/command/inspect.h"

#include "app/command/output.h"
#include "app/runs/modelfile.h"
#include "compute/analysis/roofline.h"
#include "compute/backend/backend.h"
#include "compute/base/figures.h"
#include "compute/base/num.h"
#include "compute/base/utf8.h"
#include "compute/base/why.h"
#include "compute/engine/engine.h"
#include "compute/model/model.h"
#include "compute/model/obstacles.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>

enum { MAX_KEYS = 200, MAX_TENSORS = 400, LINE_BYTES = 160, PROMPT_TOKENS = 128 };

static void print_keys(const struct gguf *gguf) {
    int count = gguf_key_count(gguf);
    int shown = count < MAX_KEYS ? count : MAX_KEYS;
    printf("\n%d keys\n", count);
    for (int i = 0; i < shown; i++) {
        char line[LINE_BYTES];
        gguf_describe_key(gguf, i, line, sizeof line);
        printf("  %s\n", line);
    }
    if (shown < count)
        printf("  and %d more\n", count - shown);
}

static void print_tensor(const struct gguf_tensor *tensor) {
    char name[2 * GGUF_MAX_NAME], dims[96] = "";
    size_t used = 0;
    utf8_printable(name, sizeof name, tensor->name.data, tensor->name.bytes);
    for (int d = 0; d < tensor->dim_count; d++)
        used += (size_t)snprintf(dims + used, sizeof dims - used, "%s%" PRId64, d ? " x " : "",
                                 tensor->dims[d]);
    printf("  %-32s %-6s %10s  %s\n", name, gguf_tensor_type_name(tensor->type),
           figure_bytes((int64_t)tensor->bytes).text, dims);
}

static void print_tensors(const struct gguf *gguf) {
    int count = gguf_tensor_count(gguf);
    int shown = count < MAX_TENSORS ? count : MAX_TENSORS;
    int64_t total = 0;
    for (int i = 0; i < count; i++)
        total += (int64_t)gguf_tensor_at(gguf, i)->bytes;
    printf("\n%d tensors, %s\n", count, figure_bytes(total).text);
    for (int i = 0; i < shown; i++)
        print_tensor(gguf_tensor_at(gguf, i));
    if (shown < count)
        printf("  and %d more\n", count - shown);
}

// --- What it costs here ---

// Of a file that opens. Zero: not known.
struct cost {
    int64_t cache_bytes; // of one token in all layers
    int context;         // that the program takes when none is asked for
    int64_t all_cache_bytes;
    int64_t memory_bytes;  // weights and that cache
    struct roofline bound; // is_measured = its rates are
    struct why why;        // why they are not
};

// A step behind a prompt of PROMPT_TOKENS tokens, and that prompt.
static void measure_bound(struct cost *out, struct backend_state *state, const struct model *model,
                          struct run *run) {
    struct device_rates rates;
    run->info.origin = RUN_MODELLED; // so that none of its times is looked at
    run->info.prompt_tokens = min_int(PROMPT_TOKENS, out->context);
    size_t step_bytes = (size_t)roofline_step_bytes(run);
    if (backend_cpu.measure_rates(state, step_bytes, &rates, &out->why))
        roofline_of(&out->bound, &model->shape, run, &rates, -1, -1);
}

static void find_cost(struct cost *out, const struct model *model, bool with_rates) {
    struct run run = {0};
    struct backend_state *state = NULL;
    struct backend_opts opts = {.context = 1};
    *out = (struct cost){.context = min_int(model->shape.context, ENGINE_CONTEXT)};
    if (!backend_cpu.open(&state, model, &opts, &out->why))
        return;
    model_fill_info(model, &run.info);
    backend_cpu.fill_info(state, &run.info);
    out->cache_bytes = run_cache_entry_bytes(&run);
    out->all_cache_bytes = run_cache_bytes(&run, out->context);
    out->memory_bytes = (int64_t)gguf_bytes(model->file) + out->all_cache_bytes;
    if (with_rates)
        measure_bound(out, state, model, &run);
    backend_cpu.close(state);
}

// --- The page ---

struct page {
    const struct gguf *file;
    struct modelfile about;
    int window_layers;
    struct cost cost;
};

static void print_name(const char *name) {
    printf("  %-13s ", name);
}

static void print_text(const char *name, const char *text) {
    print_name(name);
    printf("%s\n", text[0] ? text : SIGN_DASH);
}

static struct figure whole(int64_t count) {
    struct figure dash = {SIGN_DASH};
    return count > 0 ? figure_count(count, true) : dash;
}

static void print_sizes(const struct page *page) {
    const struct modelfile *about = &page->about;
    print_name("parameters");
    if (about->parameters >= 1000000000)
        printf("%.2f billion\n", (double)about->parameters / 1e9);
    else if (about->parameters >= 1000000)
        printf("%.1f million\n", (double)about->parameters / 1e6);
    else
        printf("%s\n", whole(about->parameters).text);
    print_text("layers", whole(about->layers).text);
    print_name("heads");
    printf("%s of %s", whole(about->heads).text, whole(about->head_width).text);
    printf(", %s for K and V\n", whole(about->kv_heads).text);
    print_name("widths");
    printf("%s", whole(about->width).text);
    printf(", feed-forward %s\n", whole(about->feed_forward).text);
    if (about->experts > 0)
        print_text("experts", whole(about->experts).text);
    print_name("vocabulary");
    printf("%s tokens\n", whole(about->vocabulary).text);
    print_name("context");
    printf("%s tokens", whole(about->context).text);
    if (page->window_layers > 0)
        printf(", of which %d layers see %s", page->window_layers, whole(about->window).text);
    putchar('\n');
}

static void print_types(const struct modelfile *about) {
    print_name("types");
    for (int i = 0; i < about->type_count; i++)
        printf("%s%s%s %s", i ? ", " : "", about->types[i].name,
               about->types[i].is_known ? "" : " (not read here)",
               figure_share((double)about->types[i].bytes / (double)about->weight_bytes).text);
    printf("%s\n", about->type_count ? " of the bytes" : SIGN_DASH);
}

static void print_tokenizer(const struct modelfile *about) {
    print_name("tokenizer");
    printf("%s%s%s\n", about->tokenizer[0] ? about->tokenizer : "none",
           about->pre[0] ? ", pre-tokenizer " : "", about->pre);
    print_name("chat format");
    printf("%s\n", !about->chat[0]                       ? "none"
                   : strcmp(about->chat, "unknown") == 0 ? "a template that is not known here"
                                                         : about->chat);
}

static void print_cost(const struct cost *cost) {
    const struct roofline *bound = &cost->bound;
    if (cost->memory_bytes == 0)
        return;
    print_name("memory");
    printf("%s with a KV cache of %s for ", figure_bytes(cost->memory_bytes).text,
           figure_bytes(cost->all_cache_bytes).text);
    printf("%s tokens\n", whole(cost->context).text);
    print_name("KV cache");
    printf("%s a token\n", figure_bytes(cost->cache_bytes).text);
    if (!bound->is_measured)
        return;
    int64_t step_ns = bound->decode.bound_ns, prefill_ns = bound->prefill.bound_ns;
    print_name("at best here");
    printf("%s a token, reading %.1f GB/s; ", figure_time(step_ns, step_ns).text,
           bound->rates.read_bytes_s / 1e9);
    printf("%s for a prompt of %d, at %.0f GFLOP/s (CPU)\n",
           figure_time(prefill_ns, prefill_ns).text, min_int(PROMPT_TOKENS, cost->context),
           bound->rates.matrix_flop_s / 1e9);
}

static void print_verdict(const struct modelfile *about, const struct cost *cost) {
    if (about->obstacle_count == 0)
        printf("\ntokendrip can run it.\n");
    else
        printf("\ntokendrip cannot run it:\n");
    for (int i = 0; i < about->obstacle_count; i++)
        printf("  %s\n", about->obstacles[i].text);
    if (cost->why.text[0])
        printf("Its bound is not known: %s\n", cost->why.text);
}

static void print_page(const struct page *page) {
    const struct modelfile *about = &page->about;
    printf("%s: GGUF version %d, %s\n", gguf_name(page->file), gguf_version(page->file),
           figure_bytes((int64_t)gguf_bytes(page->file)).text);
    print_text("name", about->name);
    print_text("architecture", about->architecture);
    print_sizes(page);
    print_types(about);
    print_tokenizer(about);
    print_cost(&page->cost);
    print_verdict(about, &page->cost);
}

// --- JSON ---

static json_t *text_or_null(const char *text) {
    return text[0] ? json_string(text) : json_null();
}

static json_t *size_or_null(int64_t value) {
    return value > 0 ? json_integer(value) : json_null();
}

static json_t *types_json(const struct modelfile *about) {
    json_t *list = json_array();
    for (int i = 0; i < about->type_count; i++)
        json_array_append_new(list, json_pack("{s:s,s:I,s:b}", "type", about->types[i].name,
                                              "bytes", (json_int_t)about->types[i].bytes, "opens",
                                              about->types[i].is_known));
    return list;
}

static json_t *obstacles_json(const struct modelfile *about) {
    json_t *list = json_array();
    for (int i = 0; i < about->obstacle_count; i++)
        json_array_append_new(list, json_string(about->obstacles[i].text));
    return list;
}

static json_t *bound_json(const struct roofline *bound) {
    if (!bound->is_measured)
        return json_null();
    return json_pack("{s:f,s:f,s:f,s:f}", "read_gb_s", bound->rates.read_bytes_s / 1e9,
                     "matrix_gflop_s", bound->rates.matrix_flop_s / 1e9, "step_ms",
                     (double)bound->decode.bound_ns / 1e6, "prefill_ms",
                     (double)bound->prefill.bound_ns / 1e6);
}

static bool print_json(FILE *out, const void *context) {
    const struct page *page = context;
    const struct modelfile *about = &page->about;
    const struct {
        const char *name;
        json_t *value;
    } fields[] = {
        {"name", text_or_null(about->name)},
        {"architecture", text_or_null(about->architecture)},
        {"bytes", json_integer((json_int_t)gguf_bytes(page->file))},
        {"parameters", json_integer(about->parameters)},
        {"layers", size_or_null(about->layers)},
        {"width", size_or_null(about->width)},
        {"heads", size_or_null(about->heads)},
        {"kv_heads", size_or_null(about->kv_heads)},
        {"head_width", size_or_null(about->head_width)},
        {"feed_forward", size_or_null(about->feed_forward)},
        {"vocabulary", size_or_null(about->vocabulary)},
        {"context", size_or_null(about->context)},
        {"window", size_or_null(about->window)},
        {"window_layers", json_integer(page->window_layers)},
        {"experts", size_or_null(about->experts)},
        {"types", types_json(about)},
        {"tokenizer", text_or_null(about->tokenizer)},
        {"pre_tokenizer", text_or_null(about->pre)},
        {"chat_format", text_or_null(about->chat)},
        {"opens", json_boolean(about->obstacle_count == 0)},
        {"obstacles", obstacles_json(about)},
        {"memory_bytes", size_or_null(page->cost.memory_bytes)},
        {"cache_token_bytes", size_or_null(page->cost.cache_bytes)},
        {"bound", bound_json(&page->cost.bound)},
    };
    json_t *object = json_object();
    bool ok = object != NULL;
    for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++) // takes NULLs, with -1
        ok = json_object_set_new(object, fields[i].name, fields[i].value) == 0 && ok;
    ok = ok && json_dumpf(object, out, JSON_INDENT(2) | JSON_REAL_PRECISION(12)) == 0 &&
         fputc('\n', out) != EOF;
    json_decref(object);
    return ok;
}

// --- The command ---

// What only the model says: layers with a window, and its cost. *file becomes NULL if it opens:
// the model owns it from then on.
static struct model *open_model(struct page *page, struct gguf **file, bool with_rates) {
    struct model *model = NULL;
    if (page->about.obstacle_count > 0 || !model_from_gguf(&model, *file, gguf_name(*file), NULL))
        return NULL;
    *file = NULL;
    if (!obstacles_no_holes(model->file, &page->about.obstacles[0])) {
        page->about.obstacle_count = 1;
        return model;
    }
    struct run_info info = {0};
    model_fill_info(model, &info);
    page->about.window = info.window;
    page->window_layers = info.window_layers;
    find_cost(&page->cost, model, with_rates);
    return model;
}

int inspect_command(const struct options *options, struct why *why) {
    struct gguf *file = NULL;
    if (!output_check(options, why) || !gguf_open(&file, options->operand, why))
        return EXIT_FAILED;
    struct page page = {.file = file};
    modelfile_read(&page.about, file, gguf_name(file));
    struct model *model = open_model(&page, &file, !options->without_rates);
    bool ok = true;
    if (options->json_path)
        ok = output_write(options->json_path, print_json, &page, options->overwrite, why);
    if (!options_is_stdout(options->json_path)) {
        print_page(&page);
        if (options->lists_all) {
            print_keys(page.file);
            print_tensors(page.file);
        }
    }
    model_close(model);
    gguf_close(file);
    return ok ? EXIT_OK : EXIT_FAILED;
}
