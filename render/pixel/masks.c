// See masks.h. A hash table of chains; every mask is in one chain and in the list of
// uses. Both are linked by index, so that a mask can move when another one goes.
#include "render/pixel/masks.h"

#include <stdlib.h>
#include <string.h>

enum { BUCKETS = 8192 }; // a power of two

// Indices into masks.places, 0 = none.
struct place {
    struct text_key key;
    struct mask mask;
    uint16_t next_in_bucket;
    uint16_t newer, older;
};

struct masks {
    struct place places[MASKS_MAX + 1]; // [0]: head of the list of uses
    uint16_t buckets[BUCKETS];
    int count;
    int64_t px; // of all masks together
};

bool masks_create(struct masks **out) {
    *out = calloc(1, sizeof **out);
    return *out != NULL;
}

void masks_destroy(struct masks *masks) {
    if (!masks)
        return;
    for (int i = 1; i <= masks->count; i++)
        free(masks->places[i].mask.coverage);
    free(masks);
}

static uint16_t *bucket_of(struct masks *masks, struct text_key key) {
    return &masks->buckets[(key.high ^ key.high >> 32) % BUCKETS];
}

// Where the chain points to the place.
static uint16_t *link_to(struct masks *masks, uint16_t index) {
    uint16_t *at = bucket_of(masks, masks->places[index].key);
    while (*at != index)
        at = &masks->places[*at].next_in_bucket;
    return at;
}

static void unlink_use(struct masks *masks, uint16_t index) {
    struct place *place = &masks->places[index];
    masks->places[place->newer].older = place->older;
    masks->places[place->older].newer = place->newer;
}

static void link_as_newest(struct masks *masks, uint16_t index) {
    struct place *head = &masks->places[0], *place = &masks->places[index];
    place->newer = 0;
    place->older = head->older;
    masks->places[head->older].newer = index;
    head->older = index;
}

// Moves the last place into the gap, so that places in use stay together.
static void fill_gap(struct masks *masks, uint16_t gap) {
    uint16_t last = (uint16_t)masks->count--;
    if (last == gap)
        return;
    *link_to(masks, last) = gap;
    struct place *moved = &masks->places[gap];
    *moved = masks->places[last];
    masks->places[moved->newer].older = gap;
    masks->places[moved->older].newer = gap;
}

static int64_t px_of(const struct mask *mask) {
    return (int64_t)mask->width_px * mask->height_px;
}

static void drop_oldest(struct masks *masks) {
    uint16_t index = masks->places[0].newer;
    struct place *place = &masks->places[index];
    *link_to(masks, index) = place->next_in_bucket;
    unlink_use(masks, index);
    masks->px -= px_of(&place->mask);
    free(place->mask.coverage);
    fill_gap(masks, index);
}

const struct mask *masks_find(struct masks *masks, struct text_key key) {
    uint16_t index = *bucket_of(masks, key);
    struct place *places = masks->places;
    while (index && (places[index].key.high != key.high || places[index].key.low != key.low))
        index = places[index].next_in_bucket;
    if (!index)
        return NULL;
    unlink_use(masks, index);
    link_as_newest(masks, index);
    return &places[index].mask;
}

const struct mask *masks_keep(struct masks *masks, struct text_key key, struct mask fresh) {
    int64_t px = px_of(&fresh);
    while (masks->count > 0 && (masks->count == MASKS_MAX || masks->px + px > MASKS_MAX_PX))
        drop_oldest(masks);
    uint16_t index = (uint16_t)++masks->count, *bucket = bucket_of(masks, key);
    masks->places[index] = (struct place){.key = key, .mask = fresh, .next_in_bucket = *bucket};
    *bucket = index;
    masks->px += px;
    link_as_newest(masks, index);
    return &masks->places[index].mask;
}
