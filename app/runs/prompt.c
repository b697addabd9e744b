// See prompt.h.
#include "app/runs/prompt.h"

#include "compute/base/assets.h"
#include "compute/base/utf8.h"
#include "compute/base/why.h"
#include "compute/run/run.h"
#include "compute/tokenizer/chat.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// --- Texts ---

// Takes a byte order mark off.
static bool open_text(const char **text, size_t *bytes, const char *name, struct why *why) {
    const char *encoding = utf8_open(text, bytes);
    return !encoding || why_set(why, "%.160s is %s text. Save it as UTF-8.", name, encoding);
}

// The whole of a text file, NUL-terminated. Owner: the caller, free().
static char *read_text(const char *path, size_t *bytes, struct why *why) {
    bool is_stdin = strcmp(path, "-") == 0;
    FILE *file = is_stdin ? stdin : fopen(path, "rb");
    char *text = malloc(TOKENIZER_MAX_TEXT_BYTES + 2);
    const char *start = text;
    bool ok = false;
    if (!file) {
        why_set(why, "cannot read %.160s: %s. Check the name.", path, strerror(errno));
        goto out;
    }
    if (!text) {
        why_set(why, "no memory for a prompt.");
        goto out;
    }
    *bytes = fread(text, 1, TOKENIZER_MAX_TEXT_BYTES + 1, file);
    if (ferror(file))
        why_set(why, "cannot read %.160s: %s. Is it a text file?", path, strerror(errno));
    else if (*bytes > TOKENIZER_MAX_TEXT_BYTES)
        why_set(why, "%.160s is longer than %d bytes. Take a shorter text.", path,
                TOKENIZER_MAX_TEXT_BYTES);
    else if (!open_text(&start, bytes, is_stdin ? "standard input" : path, why))
        ok = false;
    else if (memchr(start, '\0', *bytes))
        why_set(why, "%.160s is no text: it has a zero byte. Give a UTF-8 text file.", path);
    else
        ok = true;
out:
    if (file && !is_stdin)
        fclose(file);
    if (!ok) {
        free(text);
        return NULL;
    }
    memmove(text, start, *bytes);
    text[*bytes] = '\0';
    return text;
}

// Lines trimmed, empty ones dropped, the rest joined by one space, in place.
static size_t join_lines(char *text) {
    size_t used = 0;
    char *line = text;
    while (*line) {
        size_t length = strcspn(line, "\n");
        char *next = line + length + (line[length] == '\n');
        while (length && strchr(" \t\r", line[0])) {
            line++;
            length--;
        }
        while (length && strchr(" \t\r", line[length - 1]))
            length--;
        if (length && used)
            text[used++] = ' ';
        memmove(text + used, line, length);
        used += length;
        line = next;
    }
    text[used] = '\0';
    return used;
}

// --- Ids ---

static bool encode(struct prompt *out, const struct tokenizer *tokenizer, const char *text,
                   size_t bytes, bool with_bos, struct why *why) {
    size_t capacity = tokenizer_encode_bound(bytes);
    out->ids = malloc((capacity ? capacity : 1) * sizeof out->ids[0]);
    if (!out->ids)
        return why_set(why, "no memory for a prompt of %zu bytes.", bytes);
    out->count = tokenizer_encode(tokenizer, out->ids, (int)capacity, text, bytes, with_bos, why);
    if (out->count >= 0)
        return true;
    prompt_clear(out);
    return false;
}

void prompt_clear(struct prompt *prompt) {
    free(prompt->ids);
    *prompt = (struct prompt){0};
}

// The format that the request asks for; NULL in *out: the text as it is.
static bool choose_chat(const struct chat_format **out, const struct tokenizer *tokenizer,
                        const struct run_request *request, struct why *why) {
    const char *name = request->chat ? request->chat : "auto";
    bool is_auto = strcmp(name, "auto") == 0, is_none = strcmp(name, "none") == 0;
    *out = is_auto ? tokenizer_chat(tokenizer) : is_none ? NULL : chat_find(name);
    if (request->system && !*out)
        return why_set(why, "--system needs a chat format, and %s. Name one with --chat.",
                       is_none ? "--chat is none" : "the model's file names none known here");
    return true;
}

static bool frame(struct prompt *out, const struct tokenizer *tokenizer, const struct chat *chat,
                  struct why *why) {
    out->count = chat_encode(&out->ids, &out->chat, tokenizer, chat, why);
    if (chat->system == tokenizer_chat_system(tokenizer)) // the template's, not the user's
        out->chat.system_first = out->chat.system_tokens = 0;
    return out->count >= 0;
}

bool prompt_from_text(struct prompt *out, const struct tokenizer *tokenizer,
                      const struct run_request *request, const char *text, size_t bytes,
                      struct why *why) {
    *out = (struct prompt){0};
    const char *system = request->system ? request->system : tokenizer_chat_system(tokenizer);
    struct chat chat = {.system = system,
                        .system_bytes = strlen(system),
                        .question = text,
                        .question_bytes = bytes};
    if (!choose_chat(&chat.format, tokenizer, request, why))
        return false;
    if (bytes > TOKENIZER_MAX_TEXT_BYTES)
        return why_set(why, "the prompt is longer than %d bytes. Take a shorter text.",
                       TOKENIZER_MAX_TEXT_BYTES);
    bool ok = chat.format ? frame(out, tokenizer, &chat, why)
                          : encode(out, tokenizer, text, bytes, tokenizer_adds_bos(tokenizer), why);
    if (!ok)
        return false;
    int count = out->count;
    if (count >= 1 && count < RUN_MAX_TOKENS)
        return true;
    prompt_clear(out);
    if (count < 1)
        return why_set(why, "the prompt has no token. Give --prompt a text.");
    return why_set(why, "the prompt has %d tokens, and a run holds %d. Take a shorter text.", count,
                   RUN_MAX_TOKENS - 1);
}

// Copies the last `count` ids of `from` to `to`, repeating `from` as needed.
static void copy_end(int32_t *to, int count, const struct prompt *from) {
    for (int i = 0; i < count; i++)
        to[count - 1 - i] = from->ids[from->count - 1 - i % from->count];
}

// The parts, each tokenised with the leading space that it has in the whole prompt.
struct parts {
    struct prompt instruction; // begin token included where there is one
    struct prompt policy, question;
};

static void join_parts(struct prompt *out, const struct parts *parts, bool has_bos) {
    int head = parts->instruction.count, tail = parts->question.count;
    int room = out->count - head - tail;
    if (room >= 0) {
        memcpy(out->ids, parts->instruction.ids, (size_t)head * sizeof out->ids[0]);
        copy_end(out->ids + head, room, &parts->policy);
        memcpy(out->ids + head + room, parts->question.ids, (size_t)tail * sizeof out->ids[0]);
        return;
    }
    // Shorter than the default prompt: its begin token and its end.
    int end = out->count < tail + has_bos ? out->count - has_bos : tail;
    int before = out->count - has_bos - end;
    if (has_bos)
        out->ids[0] = parts->instruction.ids[0];
    copy_end(out->ids + has_bos, before, &parts->instruction);
    copy_end(out->ids + has_bos + before, end, &parts->question);
}

bool prompt_build(struct prompt *out, const struct tokenizer *tokenizer, int tokens,
                  const char *policy, struct why *why) {
    bool has_bos = tokenizer_adds_bos(tokenizer);
    struct parts parts = {0};
    bool ok = false;
    char *lines = strdup(policy);
    *out = (struct prompt){0};
    if (!lines) {
        why_set(why, "no memory for the policy.");
        goto out;
    }
    size_t bytes = join_lines(lines);
    ok = encode(&parts.instruction, tokenizer, PROMPT_INSTRUCTION, strlen(PROMPT_INSTRUCTION),
                has_bos, why) &&
         encode(&parts.question, tokenizer, PROMPT_QUESTION, strlen(PROMPT_QUESTION), false, why) &&
         encode(&parts.policy, tokenizer, lines, bytes, false, why);
    if (ok && (parts.policy.count == 0 || tokens < 1 || tokens >= RUN_MAX_TOKENS))
        ok = why_set(why, "a prompt of %d tokens cannot be built from a policy of %d tokens.",
                     tokens, parts.policy.count);
    if (ok) {
        out->count = tokens;
        out->ids = malloc((size_t)tokens * sizeof out->ids[0]);
        ok = out->ids || why_set(why, "no memory for a prompt of %d tokens.", tokens);
    }
    if (ok)
        join_parts(out, &parts, has_bos);
out:
    prompt_clear(&parts.instruction);
    prompt_clear(&parts.policy);
    prompt_clear(&parts.question);
    free(lines);
    return ok;
}

bool prompt_of_length(struct prompt *out, const struct tokenizer *tokenizer, int tokens,
                      struct why *why) {
    char path[ASSETS_PATH_BYTES];
    size_t bytes = 0;
    if (!assets_find(path, "model/policy.txt", why))
        return false;
    char *policy = read_text(path, &bytes, why);
    bool ok = policy && prompt_build(out, tokenizer, tokens, policy, why);
    free(policy);
    return ok;
}

// --prompt-tokens together with a given prompt must agree with it.
static bool check_count(struct prompt *prompt, int tokens, struct why *why) {
    int count = prompt->count;
    if (tokens == 0 || tokens == count)
        return true;
    prompt_clear(prompt);
    return why_set(why,
                   "the given prompt has %d tokens, not the %d of --prompt-tokens. Leave out "
                   "--prompt-tokens, or leave out the prompt and one of %d tokens is built.",
                   count, tokens, tokens);
}

bool prompt_from_request(struct prompt *out, const struct tokenizer *tokenizer,
                         const struct run_request *request, struct why *why) {
    const char *typed = request->prompt;
    size_t bytes = typed ? strlen(typed) : 0;
    if (typed)
        return open_text(&typed, &bytes, "--prompt", why) &&
               prompt_from_text(out, tokenizer, request, typed, bytes, why) &&
               check_count(out, request->prompt_tokens, why);
    if (!request->prompt_file && request->prompt_tokens > 0)
        return prompt_of_length(out, tokenizer, request->prompt_tokens, why);
    if (!request->prompt_file)
        return prompt_from_text(out, tokenizer, request, PROMPT_DEFAULT, strlen(PROMPT_DEFAULT),
                                why);
    char *text = read_text(request->prompt_file, &bytes, why);
    if (!text)
        return false;
    // The line end that closes a text file is not part of the question.
    while (bytes && (text[bytes - 1] == '\n' || text[bytes - 1] == '\r'))
        bytes--;
    bool ok = prompt_from_text(out, tokenizer, request, text, bytes, why) &&
              check_count(out, request->prompt_tokens, why);
    free(text);
    return ok;
}
