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
#include "compute/base/words.h"
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
    snprintf(out, bytes, run->tokens[token].kind == RUN_CONTROL ? "%s" : "\"%s\"", word);
}

// The first `count` answer tokens as they read in a sentence. Owner: the caller;
// NULL: no memory.
static char *join_answer(const struct run *run, int count) {
    size_t capacity = (size_t)count * RUN_TOKEN_BYTES + 1, used = 0;
    char *raw = malloc(capacity), *safe = malloc(4 * capacity);
    for (int i = 0; raw && safe && i < count; i++) {
        int token = run->info.prompt_tokens + i;
        if (run->tokens[token].kind != RUN_CONTROL)
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
        words_say(out, bytes, "describe.no_token", NULL);
        return;
    }
    int index = run->info.prompt_tokens + pass->yields;
    format_token(token, sizeof token, run, index);
    words_say(out, bytes,
              run->tokens[index].kind == RUN_CONTROL ? "describe.end_token" : "describe.token",
              "number", figure_count(pass->yields + 1, false).text, "token", token, NULL);
}

static void say_prefill(char *out, size_t bytes, const struct run *run, int pass) {
    const struct run_pass *at = &run->passes[pass];
    char yields[400];
    say_yield(yields, sizeof yields, run, at);
    bool is_whole = at->column_count == run->info.prompt_tokens;
    const char *key = at->column_count == 1 ? "describe.prefill_one"
                      : is_whole            ? "describe.prefill"
                                            : "describe.prefill_part";
    words_say(out, bytes, key, "time", pass_time(run, pass).text, "count",
              figure_count(at->column_count, false).text, "layers",
              figure_count(run->info.layers, false).text, "yields", yields, NULL);
}

static void say_step(char *out, size_t bytes, const struct run *run, int pass) {
    const struct run_pass *at = &run->passes[pass];
    char yields[400], fed[300];
    struct figure length = pass_time(run, pass);
    struct figure number = figure_count(step_number(run, pass), false);
    say_yield(yields, sizeof yields, run, at);
    if (at->column_count == 0) {
        words_say(out, bytes, "describe.charged", "number", number.text, "time", length.text,
                  "yields", yields, NULL);
        return;
    }
    format_token(fed, sizeof fed, run, at->first_column);
    words_say(out, bytes, "describe.step", "number", number.text, "time", length.text, "token", fed,
              "count", figure_count(at->first_column, false).text, "yields", yields, NULL);
}

void describe_event(char *out, size_t bytes, const struct run *run, int event) {
    char what[DESCRIBE_LINE_BYTES] = "";
    struct figure moment = run_time_on(&run->info, run_event_ns(run, event), run_end_ns(run));
    if (event == 0)
        WORDS_SAY(what, "describe.prompt_waits", "count",
                  figure_count(run->info.prompt_tokens, false).text);
    else if (run->passes[event - 1].phase == RUN_PREFILL)
        say_prefill(what, sizeof what, run, event - 1);
    else
        say_step(what, sizeof what, run, event - 1);
    snprintf(out, bytes, "%s, %s", moment.text, what);
}

// A text with {count}.
static void print_words(FILE *out, const char *before, const char *key, int count) {
    char text[160];
    WORDS_SAY(text, key, "count", figure_count(count, false).text);
    fprintf(out, "%s%s", before, text);
}

static void print_prompt(FILE *out, const struct run *run) {
    int count = run->info.prompt_tokens;
    int shown = count < PROMPT_TOKENS_SHOWN ? count : PROMPT_TOKENS_SHOWN;
    fprintf(out, "   %s", word("describe.prompt"));
    for (int i = 0; i < shown; i++) {
        char token[300];
        format_token(token, sizeof token, run, i);
        fprintf(out, " %s", token);
    }
    if (shown < count)
        print_words(out, " ", "describe.more", count - shown);
    fputc('\n', out);
    const struct run_chat *chat = &run->info.chat;
    if (!chat->name[0])
        return;
    int own = chat->question_tokens + chat->system_tokens;
    char text[200];
    WORDS_SAY(text, "describe.framing", "format", chat->name, "count",
              figure_count(count - own, false).text, "own", figure_count(own, false).text);
    fprintf(out, "   %s\n", text);
}

static void print_cache(FILE *out, const struct run *run, int entries) {
    int64_t entry_bytes = run_cache_entry_bytes(run);
    print_words(out, "   ", "describe.cache", entries);
    if (run->info.origin == RUN_LESSON || entry_bytes <= 0) {
        fprintf(out, " (%s)\n", word("describe.no_bytes"));
        return;
    }
    fprintf(out, ", %s\n", figure_bytes(run_cache_bytes(run, entries)).text);
}

// With words of a file: a lesson's, or the names in a run.
static void print_line(FILE *out, const char *text) {
    utf8_print(out, text, strlen(text));
    fputc('\n', out);
}

// Fills the page of the chapter that follows the run. False: it has no summary to print.
static bool find_summary(struct lesson_page *page, const struct lesson *lesson,
                         const struct run *run, int event) {
    if (!lesson)
        return false;
    struct lesson_place place = {lesson_run_chapter(lesson), event};
    if (place.chapter < 0)
        return false;
    lesson_page(page, lesson, place, run, run_event_ns(run, event));
    return page->summary[0] != '\0';
}

void describe_step(FILE *out, const struct lesson *lesson, const struct run *run, int event) {
    struct lesson_page page;
    char line[DESCRIBE_LINE_BYTES];
    if (find_summary(&page, lesson, run, event)) {
        print_line(out, page.summary);
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
    if (find_summary(&page, lesson, run, event)) {
        fprintf(out, "   %s ", word("describe.short"));
        print_line(out, page.summary);
    }
    if (event == 0)
        print_prompt(out, run);
    struct run_moment now = run_moment_at(run, run_event_ns(run, event));
    print_cache(out, run, now.cache_entries);
    char *answer = join_answer(run, now.answers);
    if (now.answers == 0) {
        fprintf(out, "   %s\n", word("describe.no_answer"));
    } else {
        fprintf(out, "   %s %s", word("describe.answer"), answer ? answer : "");
        print_words(out, " (", "describe.tokens", now.answers);
        fprintf(out, ")\n");
    }
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
    print_line(out, view->origin[0]);
    if (view->note[0])
        print_line(out, view->note);
    free(view);
}

static struct figure total(const struct run *run, int64_t value_ns) {
    struct figure out;
    if (value_ns >= 0)
        return run_time(&run->info, value_ns);
    WORDS_SAY(out.text, "describe.not_measured");
    return out;
}

static void print_totals(FILE *out, const struct run *run) {
    int64_t e2e_ns = run_e2e_ns(run), decode_ns = run_decode_ns(run);
    int64_t prefill_ns = run_prefill_ns(run);
    bool has_share = e2e_ns > 0 && decode_ns >= 0;
    struct figure decode = run_decode_time(&run->info, prefill_ns, e2e_ns);
    char text[400];
    WORDS_SAY(text, has_share ? "describe.totals_share" : "describe.totals", "prefill",
              total(run, prefill_ns).text, "ttft", total(run, run_ttft_ns(run)).text, "tpot",
              total(run, run_tpot_ns(run)).text, "decode",
              has_share ? decode.text : total(run, -1).text, "e2e", total(run, e2e_ns).text,
              "share", run_decode_share(prefill_ns, e2e_ns).text);
    fprintf(out, "%s\n", text);
    const struct run_info *info = &run->info;
    if (info->ttft.p90_ns <= 0)
        return;
    struct figure tpot = run_range(info, &info->tpot);
    WORDS_SAY(text, "describe.ranges", "ttft", run_range(info, &info->ttft).text, "tpot",
              tpot.text[0] ? tpot.text : SIGN_DASH, "e2e", run_range(info, &info->e2e).text);
    fprintf(out, "%s\n", text);
}

void describe_run(FILE *out, const struct lesson *lesson, const struct run *run) {
    int events = run_events(run);
    print_origin(out, run);
    char text[200];
    WORDS_SAY(text, "describe.sizes", "prompt", figure_count(run->info.prompt_tokens, false).text,
              "answer", figure_count(run->answer_count, false).text, "layers",
              figure_count(run->info.layers, false).text, "events",
              figure_count(events, false).text);
    fprintf(out, "%s\n\n", text);
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
