// See describe.h. Token texts pass utf8_printable on their way to a terminal, so
// that no model can move its cursor.
#include "app/command/describe.h"

#include "app/command/footage.h"
#include "app/lesson/load/load.h"
#include "app/picture/scene/scene.h"
#include "app/runs/source.h"
#include "compute/base/progress.h"
#include "compute/base/utf8.h"
#include "compute/base/why.h"
#include "compute/run/moment.h"
#include "compute/run/words.h"

#include <stdlib.h>
#include <string.h>

enum { PROMPT_TOKENS_SHOWN = 64 };

// --- Pieces ---

// `"Your"`, or the bare name of a control token.
static void format_token(char *out, size_t bytes, const struct run *run, int token) {
    char word[4 * RUN_TOKEN_BYTES + 1];
    run_token_printable(word, sizeof word, run, token);
    snprintf(out, bytes, run->tokens[token].is_control ? "%s" : "\"%s\"", word);
}

// The first `count` answer tokens as they read in a sentence. Owner: the caller;
// NULL: no memory.
static char *join_answer(const struct run *run, int count) {
    size_t capacity = (size_t)count * RUN_TOKEN_BYTES + 1, used = 0;
    char *raw = malloc(capacity), *safe = malloc(4 * capacity);
    for (int i = 0; raw && safe && i < count; i++) {
        int token = run->info.prompt_tokens + i;
        if (!run->tokens[token].is_control)
            used += run_token_words(raw + used, run, token);
    }
    if (raw && safe) {
        size_t skip = used > 0 && raw[0] == ' ';
        utf8_printable(safe, 4 * capacity, raw + skip, used - skip);
    }
    free(raw);
    if (raw)
        return safe;
    free(safe);
    return NULL;
}

// --- Events ---

static struct figure pass_time(const struct run *run, int pass) {
    return run_time(&run->info, run_pass_end_ns(run, pass) - run->passes[pass].start_ns);
}

// The number of decode steps up to and including pass `pass`.
static int step_number(const struct run *run, int pass) {
    int steps = 0;
    for (int i = 0; i <= pass; i++)
        steps += run->passes[i].phase == RUN_DECODE;
    return steps;
}

static void say_yield(char *out, size_t bytes, const struct run *run, const struct run_pass *pass) {
    char token[300];
    if (pass->yields < 0) {
        snprintf(out, bytes, "no answer token yet");
        return;
    }
    int index = run->info.prompt_tokens + pass->yields;
    format_token(token, sizeof token, run, index);
    snprintf(out, bytes, "answer token %d is %s%s", pass->yields + 1, token,
             run->tokens[index].is_control ? ", the end of the text" : "");
}

static void say_prefill(char *out, size_t bytes, const struct run *run, int pass) {
    const struct run_pass *at = &run->passes[pass];
    char yields[400];
    say_yield(yields, sizeof yields, run, at);
    bool is_whole = at->column_count == run->info.prompt_tokens;
    snprintf(out, bytes,
             "prefill: one pass of %s over %s%s side by side, through %s one after another; %s",
             pass_time(run, pass).text, is_whole ? "all " : "the next ",
             figure_counted(at->column_count, false, "prompt token").text,
             figure_counted(run->info.layers, false, "layer").text, yields);
}

static void say_step(char *out, size_t bytes, const struct run *run, int pass) {
    const struct run_pass *at = &run->passes[pass];
    char yields[400], fed[300];
    struct figure length = pass_time(run, pass);
    int number = step_number(run, pass);
    say_yield(yields, sizeof yields, run, at);
    if (at->column_count == 0) {
        snprintf(out, bytes,
                 "decode step %d: %s charged before the first token, as the lesson counts; it "
                 "saves nothing; %s",
                 number, length.text, yields);
        return;
    }
    format_token(fed, sizeof fed, run, at->first_column);
    snprintf(out, bytes,
             "decode step %d: one pass of %s over %s alone, reading all weights and %s; %s", number,
             length.text, fed, figure_counted(at->first_column, false, "saved token").text, yields);
}

void describe_event(char *out, size_t bytes, const struct run *run, int event) {
    char what[DESCRIBE_LINE_BYTES] = "";
    struct figure moment = run_time_on(&run->info, run_event_ns(run, event), run_end_ns(run));
    if (event == 0)
        snprintf(what, sizeof what, "prompt: %s, waiting",
                 figure_counted(run->info.prompt_tokens, false, "token").text);
    else if (run->passes[event - 1].phase == RUN_PREFILL)
        say_prefill(what, sizeof what, run, event - 1);
    else
        say_step(what, sizeof what, run, event - 1);
    snprintf(out, bytes, "%s, %s", moment.text, what);
}

static void print_prompt(FILE *out, const struct run *run) {
    int count = run->info.prompt_tokens;
    int shown = count < PROMPT_TOKENS_SHOWN ? count : PROMPT_TOKENS_SHOWN;
    fprintf(out, "   Prompt:");
    for (int i = 0; i < shown; i++) {
        char token[300];
        format_token(token, sizeof token, run, i);
        fprintf(out, " %s", token);
    }
    if (shown < count)
        fprintf(out, " and %d more", count - shown);
    fputc('\n', out);
}

static void print_cache(FILE *out, const struct run *run, int entries) {
    int64_t entry_bytes = run_cache_entry_bytes(run);
    fprintf(out, "   KV cache: %s", figure_counted(entries, false, "token").text);
    if (run->info.origin == RUN_LESSON || entry_bytes <= 0) {
        fprintf(out, " (no bytes: a lesson runs no model)\n");
        return;
    }
    fprintf(out, ", %s\n", figure_bytes(entry_bytes * entries).text);
}

// Fills the page of the chapter that follows the run. False: it has no summary to print.
static bool find_summary(struct lesson_page *page, const struct lesson *lesson,
                         const struct run *run, int event) {
    if (!lesson)
        return false;
    for (int chapter = 0; chapter < lesson_chapters(lesson); chapter++) {
        if (!lesson_follows_run(lesson, chapter))
            continue;
        struct lesson_place place = {chapter, event};
        lesson_page(page, lesson, place, run, run_event_ns(run, event));
        return page->summary[0] != '\0';
    }
    return false;
}

void describe_step(FILE *out, const struct lesson *lesson, const struct run *run, int event) {
    struct lesson_page page;
    char line[DESCRIBE_LINE_BYTES];
    if (find_summary(&page, lesson, run, event)) {
        fprintf(out, "%s\n", page.summary);
    } else {
        describe_event(line, sizeof line, run, event);
        fprintf(out, "%s.\n", line);
    }
    fflush(out);
}

void describe_block(FILE *out, const struct lesson *lesson, const struct run *run, int event) {
    struct lesson_page page;
    char line[DESCRIBE_LINE_BYTES];
    describe_event(line, sizeof line, run, event);
    fprintf(out, "%d. %s.\n", event + 1, line);
    if (find_summary(&page, lesson, run, event))
        fprintf(out, "   In short: %s\n", page.summary);
    if (event == 0)
        print_prompt(out, run);
    struct run_moment now = run_moment_at(run, run_event_ns(run, event));
    print_cache(out, run, now.cache_entries);
    char *answer = join_answer(run, now.answers);
    if (now.answers == 0)
        fprintf(out, "   Answer: nothing yet\n");
    else
        fprintf(out, "   Answer: %s (%s)\n", answer ? answer : "",
                figure_counted(now.answers, false, "token").text);
    free(answer);
}

// --- The whole ---

// Prints the words of origin that the picture shows, so that both say the same.
static void print_origin(FILE *out, const struct run *run) {
    struct view *view = malloc(sizeof *view);
    if (!view)
        return;
    struct scene_options options = scene_options_for(run, (struct playhead_rate){1, 1});
    scene_at(view, run, run_end_ns(run), &options);
    fprintf(out, "%s\n", view->origin);
    if (view->note[0])
        fprintf(out, "%s\n", view->note);
    free(view);
}

static void print_total(FILE *out, const struct run *run, const char *name, int64_t value_ns) {
    fprintf(out, "%s %s", name,
            value_ns < 0 ? "not measured" : run_time(&run->info, value_ns).text);
}

static void print_totals(FILE *out, const struct run *run) {
    int64_t e2e_ns = run_e2e_ns(run), decode_ns = run_decode_ns(run);
    fprintf(out, "Total: ");
    print_total(out, run, "prefill", run_prefill_ns(run));
    print_total(out, run, ", TTFT", run_ttft_ns(run));
    print_total(out, run, ", TPOT", run_tpot_ns(run));
    print_total(out, run, ", decode", decode_ns);
    print_total(out, run, ", E2E", e2e_ns);
    if (e2e_ns > 0 && decode_ns >= 0)
        fprintf(out, ", decode share %s",
                figure_percent(100 * (double)decode_ns / (double)e2e_ns).text);
    fputc('\n', out);
}

void describe_run(FILE *out, const struct lesson *lesson, const struct run *run) {
    int events = run_events(run);
    print_origin(out, run);
    fprintf(out, "%s, %s, %s, %d events\n\n",
            figure_counted(run->info.prompt_tokens, false, "prompt token").text,
            figure_counted(run->answer_count, false, "answer token").text,
            figure_counted(run->info.layers, false, "layer").text, events);
    for (int event = 0; event < events; event++) {
        describe_block(out, lesson, run, event);
        fputc('\n', out);
    }
    print_totals(out, run);
}

int describe_command(const struct options *options, struct why *why) {
    struct run *run = NULL;
    struct lesson *lesson = NULL;
    bool is_needed;
    if (!footage_lesson(&lesson, &is_needed, options, why) && is_needed)
        return EXIT_FAILED; // the program's own lesson may be missing: the walk needs none
    why->text[0] = '\0';
    struct progress progress = progress_start(options->is_quiet);
    bool ok = source_run(&run, NULL, &options->request, &progress, why);
    progress_clear(&progress);
    if (ok)
        describe_run(stdout, lesson, run);
    lesson_destroy(lesson);
    run_destroy(run);
    return ok ? EXIT_OK : EXIT_FAILED;
}
