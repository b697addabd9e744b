// See publish.h. Every store releases what was written before it and every load
// acquires, so a reader that sees a mark count also sees the marks, tokens and
// text below it. No fences: ThreadSanitizer does not know them.
#include "compute/run/publish.h"

static struct publish_slot *shown_slot(struct publish *publish) {
    // The worker is the only one who changes it.
    uint32_t now = atomic_load_explicit(&publish->generation, memory_order_relaxed);
    return &publish->slots[now & 1];
}

void publish_begin(struct publish *publish, const struct run *run) {
    uint32_t next = atomic_load_explicit(&publish->generation, memory_order_relaxed) + 1;
    if (next == 0)
        next = 2; // 0 means nothing published; the same slot as 0
    struct publish_slot *slot = &publish->slots[next & 1];
    atomic_store_explicit(&slot->mark_count, 0, memory_order_release);
    atomic_store_explicit(&slot->state, RUN_OPEN, memory_order_release);
    atomic_store_explicit(&slot->run, run, memory_order_release);
    atomic_store_explicit(&publish->generation, next, memory_order_release);
}

void publish_marks(struct publish *publish, const struct run *run) {
    atomic_store_explicit(&shown_slot(publish)->mark_count, run->mark_count, memory_order_release);
}

void publish_end(struct publish *publish, const struct run *run) {
    publish_marks(publish, run);
    // After the marks: who sees the end sees all of them.
    atomic_store_explicit(&shown_slot(publish)->state, (int)run->state, memory_order_release);
}

bool publish_prefix(const struct publish *publish, struct run *out, uint32_t *generation) {
    for (;;) {
        uint32_t before = atomic_load_explicit(&publish->generation, memory_order_acquire);
        if (before == 0)
            return false;
        const struct publish_slot *slot = &publish->slots[before & 1];
        const struct run *run = atomic_load_explicit(&slot->run, memory_order_acquire);
        int state = atomic_load_explicit(&slot->state, memory_order_acquire);
        int mark_count = atomic_load_explicit(&slot->mark_count, memory_order_acquire);
        // The slot is written again only after the generation has moved on.
        if (atomic_load_explicit(&publish->generation, memory_order_acquire) != before)
            continue;
        run_prefix(out, run, mark_count);
        out->state = (enum run_state)state;
        if (generation)
            *generation = before;
        return true;
    }
}
