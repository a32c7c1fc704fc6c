/* The map from text to a number: linear probing, at most half full. */
#include "base/map.h"
#include "base/hash.h"
#include "base/diag.h"

/* The slot that holds the key, or the empty one where it would go. cap must not be 0. */
static MapSlot *find_slot(const Map *map, Str key)
{
    uint32_t mask = map->cap - 1, at = (uint32_t)hash64(key.at, key.len) & mask;
    while (map->slots[at].used && !str_equal(map->slots[at].key, key))
        at = (at + 1) & mask;
    return &map->slots[at];
}

bool map_get(const Map *map, Str key, uint32_t *value)
{
    if (map->cap == 0)
        return false;
    const MapSlot *slot = find_slot(map, key);
    if (slot->used)
        *value = slot->value;
    return slot->used;
}

static void grow(Arena *arena, Map *map)
{
    if (map->cap > UINT32_MAX / 2)
        panic("a map of more than %u keys", map->len);
    Map bigger = {.cap = map->cap ? map->cap * 2 : 16, .len = map->len};
    bigger.slots = arena_array(arena, MapSlot, bigger.cap);
    for (uint32_t i = 0; i < map->cap; i++)
        if (map->slots[i].used)
            *find_slot(&bigger, map->slots[i].key) = map->slots[i];
    *map = bigger;
}

void map_put(Arena *arena, Map *map, Str key, uint32_t value)
{
    if (map->len >= map->cap / 2)
        grow(arena, map);
    MapSlot *slot = find_slot(map, key);
    map->len += !slot->used;
    if (!slot->used)
        slot->key = key;
    slot->used = true;
    slot->value = value;
}
