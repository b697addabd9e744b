// See chat.h. A format is four texts around the system text and the question; \1 and \2 stand
// around the names of tokens. A name that the vocabulary doesn't have is text. The text between
// two tokens, of the format and of the user alike, is encoded as one, as llama.cpp does, since
// tokens may reach over their seam; such a token is the user's.
#include "compute/tokenizer/chat.h"

#include "compute/base/why.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct chat_format {
    const char *name;
    const char *system_before, *between; // around the system text, up to the question
    const char *before, *after;          // around the question, without one
    bool trims;                          // white space at both ends of the user's texts
};

#define TOKEN(name) "\1" name "\2"
#define HEADER(role) TOKEN("<|start_header_id|>") role TOKEN("<|end_header_id|>") "\n\n"

static const struct chat_format formats[] = {
    {"chatml", TOKEN("<|im_start|>") "system\n",
     TOKEN("<|im_end|>") "\n" TOKEN("<|im_start|>") "user\n", TOKEN("<|im_start|>") "user\n",
     TOKEN("<|im_end|>") "\n" TOKEN("<|im_start|>") "assistant\n", false},
    {"llama3", HEADER("system"), TOKEN("<|eot_id|>") HEADER("user"), HEADER("user"),
     TOKEN("<|eot_id|>") HEADER("assistant"), true},
    {"gemma", TOKEN("<start_of_turn>") "user\n", "\n\n", TOKEN("<start_of_turn>") "user\n",
     TOKEN("<end_of_turn>") "\n" TOKEN("<start_of_turn>") "model\n", true},
    {"llama2", TOKEN("[INST]") " <<SYS>>\n", "\n<</SYS>>\n\n", TOKEN("[INST]") " ",
     " " TOKEN("[/INST]"), true},
    {"phi3", TOKEN("<|system|>") "\n", TOKEN("<|end|>") "\n" TOKEN("<|user|>") "\n",
     TOKEN("<|user|>") "\n", TOKEN("<|end|>") "\n" TOKEN("<|assistant|>") "\n", false},
    {"phi4", TOKEN("<|im_start|>") "system" TOKEN("<|im_sep|>"),
     TOKEN("<|im_end|>") TOKEN("<|im_start|>") "user" TOKEN("<|im_sep|>"),
     TOKEN("<|im_start|>") "user" TOKEN("<|im_sep|>"),
     TOKEN("<|im_end|>") TOKEN("<|im_start|>") "assistant" TOKEN("<|im_sep|>"), false},
    {"mistral-v1", " " TOKEN("[INST]") " ", "\n\n", " " TOKEN("[INST]") " ", " " TOKEN("[/INST]"),
     false},
    {"mistral-v3", TOKEN("[INST]") " ", "\n\n", TOKEN("[INST]") " ", TOKEN("[/INST]"), false},
    {"mistral-tekken", TOKEN("[INST]"), "\n\n", TOKEN("[INST]"), TOKEN("[/INST]"), false},
    {"mistral-v7", TOKEN("[SYSTEM_PROMPT]") " ", TOKEN("[/SYSTEM_PROMPT]") TOKEN("[INST]") " ",
     TOKEN("[INST]") " ", TOKEN("[/INST]"), false},
    {"mistral-v7-tekken", TOKEN("[SYSTEM_PROMPT]"), TOKEN("[/SYSTEM_PROMPT]") TOKEN("[INST]"),
     TOKEN("[INST]"), TOKEN("[/INST]"), false},
};

const char *chat_name(const struct chat_format *format) {
    return format->name;
}

const struct chat_format *chat_find(const char *name) {
    for (size_t i = 0; i < sizeof formats / sizeof formats[0]; i++) {
        if (strcmp(formats[i].name, name) == 0)
            return &formats[i];
    }
    return NULL;
}

// --- Recognising ---

static const char *find(const char *text, size_t bytes, const char *what) {
    return memmem(text, bytes, what, strlen(what));
}

const struct chat_format *chat_recognise(const char *text, size_t bytes) {
    // The first row whose two texts the template holds and whose third it doesn't.
    static const struct {
        const char *first, *second, *without, *name;
    } rows[] = {
        {"<|im_start|>", "<|im_sep|>", NULL, "phi4"},
        {"<|im_start|>", "", "<end_of_utterance>", "chatml"},
        {"<|im_start|>", "", NULL, NULL},
        {"[INST]", "[SYSTEM_PROMPT] ", NULL, "mistral-v7"},
        {"[INST]", "[SYSTEM_PROMPT]", NULL, "mistral-v7-tekken"},
        {"[INST]", "' [INST] ' + system_message", NULL, "mistral-v1"},
        {" [INST]", "[AVAILABLE_TOOLS]", NULL, "mistral-v1"},
        {"\"[INST]\"", "[AVAILABLE_TOOLS]", NULL, "mistral-tekken"},
        {"[INST]", "[AVAILABLE_TOOLS]", NULL, "mistral-v3"},
        {"[INST]", "", NULL, "llama2"},
        {"<|assistant|>", "<|end|>", NULL, "phi3"},
        {"<start_of_turn>", "", NULL, "gemma"},
        {"<|start_header_id|>", "<|end_header_id|>", NULL, "llama3"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        if (find(text, bytes, rows[i].first) && find(text, bytes, rows[i].second) &&
            !(rows[i].without && find(text, bytes, rows[i].without)))
            return rows[i].name ? chat_find(rows[i].name) : NULL;
    }
    return NULL;
}

const char *chat_own_system(const char *text, size_t template_bytes, size_t *bytes) {
    static const char *const begins[] = {"<|im_start|>system\\n", "<|im_start|>system\n"};
    *bytes = 0;
    for (size_t i = 0; i < sizeof begins / sizeof begins[0]; i++) {
        const char *end = text + template_bytes, *at = text;
        while ((at = find(at, (size_t)(end - at), begins[i]))) {
            at += strlen(begins[i]);
            const char *stop = find(at, (size_t)(end - at), "<|im_end|>");
            size_t length = stop ? (size_t)(stop - at) : 0;
            // Anything that ends or escapes a literal: the text is put together by the template.
            bool is_literal = length > 0;
            for (size_t k = 0; k < length; k++)
                is_literal = is_literal && !strchr("'\"{}\\\n", at[k]) && at[k];
            *bytes = is_literal ? length : 0;
            if (is_literal)
                return at;
        }
    }
    return text;
}

// --- Framing ---

// A stretch of the text that is not yet encoded.
struct stretch {
    size_t from, to; // bytes
};

struct framing {
    const struct tokenizer *tokenizer;
    char *text; // since the last token
    size_t bytes;
    struct stretch system, question; // within text
    int32_t *ids;
    int count, capacity;
    struct run_chat *marks;
};

// Widens first .. first + tokens to hold token `index`.
static void widen(int *first, int *tokens, int index) {
    if (*tokens == 0)
        *first = index;
    *tokens = index + 1 - *first;
}

// Which of the tokens from `first` on are the user's: those with a byte of theirs. A token
// shows a leading space that the text doesn't have where SentencePiece puts one: in front, and
// behind an added token.
static void mark_own(struct framing *framing, int first) {
    struct run_chat *marks = framing->marks;
    size_t at = 0, shown = 0, bytes;
    for (int i = first; i < framing->count; i++) {
        tokenizer_text(framing->tokenizer, framing->ids[i], &bytes);
        shown += bytes;
    }
    for (int i = first; i < framing->count; i++) {
        const char *token = tokenizer_text(framing->tokenizer, framing->ids[i], &bytes);
        bool may_be_put = i == first || at >= framing->bytes || framing->text[at] != ' ';
        bool is_put = shown > framing->bytes && bytes > 0 && token[0] == ' ' && may_be_put;
        size_t end = at + bytes - is_put;
        shown -= is_put;
        if (framing->system.from < end && at < framing->system.to)
            widen(&marks->system_first, &marks->system_tokens, i);
        if (framing->question.from < end && at < framing->question.to)
            widen(&marks->question_first, &marks->question_tokens, i);
        at = end;
    }
}

static bool flush(struct framing *framing, struct why *why) {
    int first = framing->count;
    int added =
        tokenizer_encode(framing->tokenizer, framing->ids + first, framing->capacity - first,
                         framing->text, framing->bytes, false, why);
    if (added < 0)
        return false;
    framing->count += added;
    mark_own(framing, first);
    framing->bytes = 0;
    framing->system = framing->question = (struct stretch){0, 0};
    return true;
}

static struct stretch add_text(struct framing *framing, const char *text, size_t bytes) {
    size_t from = framing->bytes;
    memcpy(framing->text + from, text, bytes);
    framing->bytes += bytes;
    return (struct stretch){from, framing->bytes};
}

static bool add_fixed(struct framing *framing, const char *fixed, struct why *why) {
    while (*fixed) {
        bool is_name = *fixed == '\1';
        fixed += is_name;
        size_t bytes = strcspn(fixed, is_name ? "\2" : "\1");
        int32_t id = is_name ? tokenizer_named(framing->tokenizer, fixed, bytes) : -1;
        if (id < 0)
            add_text(framing, fixed, bytes);
        else if (!flush(framing, why))
            return false;
        else
            framing->ids[framing->count++] = id;
        fixed += bytes + is_name;
    }
    return true;
}

static void trim(const char **text, size_t *bytes) {
    while (*bytes && strchr(" \t\r\n\v\f", (*text)[0])) {
        (*text)++;
        (*bytes)--;
    }
    while (*bytes && strchr(" \t\r\n\v\f", (*text)[*bytes - 1]))
        (*bytes)--;
}

static bool frame(struct framing *framing, struct chat chat, struct why *why) {
    const struct chat_format *format = chat.format;
    if (format->trims) {
        trim(&chat.system, &chat.system_bytes);
        trim(&chat.question, &chat.question_bytes);
    }
    bool has_system = chat.system_bytes > 0;
    if (tokenizer_adds_bos(framing->tokenizer)) {
        framing->count =
            tokenizer_encode(framing->tokenizer, framing->ids, framing->capacity, "", 0, true, why);
        if (framing->count < 0)
            return false;
    }
    if (has_system) {
        if (!add_fixed(framing, format->system_before, why))
            return false;
        framing->system = add_text(framing, chat.system, chat.system_bytes);
    }
    if (!add_fixed(framing, has_system ? format->between : format->before, why))
        return false;
    framing->question = add_text(framing, chat.question, chat.question_bytes);
    return add_fixed(framing, format->after, why) && flush(framing, why);
}

int chat_encode(int32_t **ids, struct run_chat *marks, const struct tokenizer *tokenizer,
                const struct chat *chat, struct why *why) {
    enum { MOST_FIXED = 256 }; // bytes of a format's own text, and more than its tokens
    size_t most = chat->system_bytes + chat->question_bytes + MOST_FIXED;
    struct framing framing = {.tokenizer = tokenizer, .marks = marks};
    *marks = (struct run_chat){0};
    *ids = NULL;
    if (chat->system_bytes > TOKENIZER_MAX_TEXT_BYTES ||
        chat->question_bytes > TOKENIZER_MAX_TEXT_BYTES) {
        why_set(why, "the prompt is longer than %d bytes. Take a shorter text.",
                TOKENIZER_MAX_TEXT_BYTES);
        return -1;
    }
    // Every text between two tokens may have a leading space of its own.
    framing.capacity = (int)(4 * most);
    framing.text = malloc(most);
    framing.ids = malloc((size_t)framing.capacity * sizeof *framing.ids);
    bool ok = framing.text && framing.ids ? true : why_set(why, "no memory for a prompt.");
    ok = ok && frame(&framing, *chat, why);
    free(framing.text);
    if (!ok) {
        free(framing.ids);
        return -1;
    }
    snprintf(marks->name, sizeof marks->name, "%s", chat->format->name);
    *ids = framing.ids;
    return framing.count;
}
