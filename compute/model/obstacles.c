// See obstacles.h. Every reason is written on its own, so that a language can have it, and they
// are joined here.
#include "compute/model/obstacles.h"

#include "compute/base/utf8.h"
#include "compute/gguf/quant.h"
#include "compute/model/architecture.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum {
    MOST = 8,
    NAME_BYTES = 64,
    LIST_BYTES = 96,
    HOLE_BYTES = 1 << 19, // zeros from one multiple of it to the next are no weights
};

struct obstacles {
    const struct gguf *file;
    struct why list[MOST];
    int count;
    int64_t parts; // of the model, as the file says; 0 = it says nothing
    bool is_fixed; // one of them belongs to the model
    bool is_cured; // another file of the model would do
};

static struct why *next(struct obstacles *o) {
    return o->count < MOST ? &o->list[o->count++] : NULL;
}

// Appends to a list of names, each once: "a, b".
static void add_name(char list[LIST_BYTES], const char *name) {
    size_t used = strlen(list), length = strlen(name);
    for (const char *at = list; (at = strstr(at, name)); at += length) {
        if ((at == list || at[-1] == ' ') && (at[length] == ',' || at[length] == '\0'))
            return;
    }
    snprintf(list + used, LIST_BYTES - used, "%s%s", used ? ", " : "", name);
}

// --- What belongs to the model ---

static const struct architecture *find_architecture(struct obstacles *o, struct gguf_string *name) {
    char text[NAME_BYTES], known[LIST_BYTES] = "";
    const struct architecture *found = NULL;
    for (int i = 0; architecture_at(i); i++)
        add_name(known, architecture_at(i)->name);
    if (!gguf_string(o->file, "general.architecture", name)) {
        *name = (struct gguf_string){0};
        why_set(next(o), "does not say which architecture it has; these work: %s", known);
    } else if (!(found = architecture_find(name->data, name->bytes))) {
        utf8_printable(text, sizeof text, name->data, name->bytes);
        why_set(next(o), "has the architecture \"%s\"; these work: %s", text, known);
    }
    o->is_fixed |= !found;
    return found;
}

static void key_of(char out[NAME_BYTES], struct gguf_string architecture, const char *name) {
    snprintf(out, NAME_BYTES, "%.*s.%s", (int)(architecture.bytes < 32 ? architecture.bytes : 32),
             architecture.data, name);
}

// Keys that change the arithmetic in a way this program does not know; the caps only where the
// architecture has none.
static void find_arithmetic(struct obstacles *o, const struct architecture *architecture,
                            struct gguf_string name) {
    static const char *const keys[] = {
        "attention.scale",         "attention.clamp_kqv", "logit_scale",
        "embedding_scale",         "residual_scale",      "attn_logit_softcapping",
        "final_logit_softcapping",
    };
    char key[NAME_BYTES], found[LIST_BYTES] = "";
    size_t count = sizeof keys / sizeof keys[0];
    if (architecture->parts & ARCHITECTURE_CAPS)
        count -= 2;
    for (size_t i = 0; i < count; i++) {
        key_of(key, name, keys[i]);
        if (gguf_has(o->file, key))
            add_name(found, key);
    }
    if (!found[0])
        return;
    why_set(next(o), "uses %s, which this program does not compute", found);
    o->is_fixed = true;
}

static void find_fixed(struct obstacles *o) {
    struct gguf_string name;
    char key[NAME_BYTES];
    int64_t experts;
    const struct architecture *architecture = find_architecture(o, &name);
    key_of(key, name, "expert_count");
    if (name.bytes > 0 && gguf_int(o->file, key, &experts) && experts > 0) {
        why_set(next(o), "is a mixture of %" PRId64 " experts", experts);
        o->is_fixed = true;
    }
    if (architecture)
        find_arithmetic(o, architecture, name);
}

// --- What another file of the model cures ---

static void find_types(struct obstacles *o) {
    char types[LIST_BYTES] = "";
    for (int i = 0; i < gguf_tensor_count(o->file); i++) {
        enum gguf_tensor_type type = gguf_tensor_at(o->file, i)->type;
        if (!quant_is_known(type))
            add_name(types, gguf_tensor_type_name(type));
    }
    if (!types[0])
        return;
    why_set(next(o), "has weights in %s, which are not read here", types);
    o->is_cured = true;
}

// Such a reason begins with the file's name, which stands once in the line. True.
static bool add_reason(struct obstacles *o, const char *reason) {
    size_t length = strlen(gguf_name(o->file));
    bool has_name =
        strncmp(reason, gguf_name(o->file), length) == 0 && strncmp(reason + length, ": ", 2) == 0;
    why_set(next(o), "%s", has_name ? reason + length + 2 : reason);
    return true;
}

// "" where the reasons say it.
static void advise(const struct obstacles *o, struct why *advice) {
    *advice = (struct why){0};
    if (o->is_fixed)
        why_set(advice, "another model is needed");
    else if (o->is_cured && o->parts > 1)
        why_set(advice, "another file of this model can work: all of it in one file, in F16, Q8_0 "
                        "or Q4_K_M, from a new conversion");
    else if (o->is_cured)
        why_set(advice, "another file of this model can work: in F16, Q8_0 or Q4_K_M, from a new "
                        "conversion");
    else if (o->parts > 1)
        why_set(advice, "join them first (llama-gguf-split --merge)");
}

static void join(const struct obstacles *o, struct why *why) {
    struct why advice;
    char *out = why->text;
    size_t used = (size_t)snprintf(out, WHY_BYTES, "%s: ", gguf_name(o->file));
    advise(o, &advice);
    for (int i = 0; i < o->count && used < WHY_BYTES; i++)
        used +=
            (size_t)snprintf(out + used, WHY_BYTES - used, "%s%s", i ? "; " : "", o->list[i].text);
    // What can be done is never cut off.
    size_t room = strlen(advice.text) + 3;
    used = used + room < WHY_BYTES ? used : WHY_BYTES - room;
    if (advice.text[0])
        snprintf(out + used, WHY_BYTES - used, ": %s", advice.text);
}

static struct obstacles find_all(const struct gguf *file, const struct obstacles_more *more) {
    struct obstacles o = {.file = file};
    struct obstacles_more found = more ? *more : (struct obstacles_more){0};
    find_fixed(&o);
    if (found.tokenizer && found.is_kind)
        o.is_fixed = add_reason(&o, found.tokenizer);
    if (gguf_int(file, "split.count", &o.parts) && o.parts > 1)
        why_set(next(&o), "is one of %" PRId64 " parts", o.parts);
    find_types(&o);
    if (found.detail)
        add_reason(&o, found.detail);
    if (found.tokenizer && !found.is_kind)
        o.is_cured = add_reason(&o, found.tokenizer);
    return o;
}

bool obstacles_none(const struct gguf *file, const struct obstacles_more *more, struct why *why) {
    struct obstacles o = find_all(file, more);
    if (o.count > 0 && why)
        join(&o, why);
    return o.count == 0;
}

int obstacles_list(struct why *list, int capacity, const struct gguf *file,
                   const struct obstacles_more *more) {
    struct obstacles o = find_all(file, more);
    struct why advice;
    int count = 0;
    advise(&o, &advice);
    int room = capacity - (advice.text[0] != '\0');
    for (; count < o.count && count < room; count++)
        list[count] = o.list[count];
    if (o.count > 0 && advice.text[0])
        list[count++] = advice;
    return count;
}

// --- Holes ---

static bool is_zero(const unsigned char *data, size_t bytes) {
    for (size_t i = 0; i < bytes; i++) {
        if (data[i])
            return false;
    }
    return true;
}

static bool name_is(struct gguf_string name, const char *text) {
    return name.bytes == strlen(text) && memcmp(name.data, text, name.bytes) == 0;
}

static bool is_bias(struct gguf_string name) {
    return name.bytes > 5 && memcmp(name.data + name.bytes - 5, ".bias", 5) == 0;
}

// Rows of tokens that a vocabulary only reserves may be zero, so there a quarter must be.
static bool has_hole(const struct gguf_tensor *tensor) {
    bool has_rows_of_tokens =
        name_is(tensor->name, "token_embd.weight") || name_is(tensor->name, "output.weight");
    size_t part = has_rows_of_tokens ? (tensor->bytes + 3) / 4 : HOLE_BYTES;
    part = part < tensor->bytes ? part : tensor->bytes;
    const unsigned char *data = tensor->data;
    for (size_t at = 0; at + part <= tensor->bytes; at += part) {
        if (is_zero(data + at, part))
            return true;
    }
    return false;
}

bool obstacles_no_holes(const struct gguf *file, struct why *why) {
    const struct gguf_tensor *first = NULL;
    char name[NAME_BYTES];
    int count = 0;
    for (int i = 0; i < gguf_tensor_count(file); i++) {
        const struct gguf_tensor *tensor = gguf_tensor_at(file, i);
        if (tensor->bytes == 0 || is_bias(tensor->name) || !has_hole(tensor))
            continue;
        first = first ? first : tensor;
        count++;
    }
    if (count == 0)
        return true;
    utf8_printable(name, sizeof name, first->name.data, first->name.bytes);
    return why_set(why,
                   "%s: %d of its %d tensors hold zeros instead of weights, the first is %s: the "
                   "file is not whole, get it again",
                   gguf_name(file), count, gguf_tensor_count(file), name);
}
