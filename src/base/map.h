/* A map from text to a 32-bit number, in an arena; open addressing, keys are not copied.
 *
 *     Map names = {0};
 *     map_put(arena, &names, STR("x"), 3);
 *     uint32_t slot;
 *     if (map_get(&names, STR("x"), &slot)) ...
 *
 * Nothing iterates over it: whoever needs an order keeps a vector beside it.
 */
#ifndef BASE_MAP_H
#define BASE_MAP_H

#include "base/str.h"

typedef struct MapSlot {
    Str key;
    uint32_t value;
    bool used;
} MapSlot;

typedef struct Map {
    MapSlot *slots;
    uint32_t len, cap; /* cap is a power of two, or 0 */
} Map;

bool map_get(const Map *map, Str key, uint32_t *value);
void map_put(Arena *arena, Map *map, Str key, uint32_t value); /* replaces */

#endif
