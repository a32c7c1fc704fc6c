/* A typed vector in an arena.
 *
 *     VEC(int) v = {0};
 *     vec_push(arena, &v, 7);
 *     for (uint32_t i = 0; i < v.len; i++) use(v.at[i]);
 */
#ifndef BASE_VEC_H
#define BASE_VEC_H

#include "base/arena.h"
#include <stdint.h>

#define VEC(type)          \
    struct {               \
        type *at;          \
        uint32_t len, cap; \
    }

#define vec_reserve(arena, v, extra)                                                        \
    ((size_t)(v)->len + (size_t)(extra) > (v)->cap                                          \
         ? (void)((v)->at = vec_grow_((arena), (v)->at, &(v)->cap,                          \
                                      (size_t)(v)->len + (size_t)(extra), sizeof *(v)->at)) \
         : (void)0)
#define vec_push(arena, v, item) \
    (vec_reserve((arena), (v), 1), (void)((v)->at[(v)->len++] = (item)))
#define vec_last(v) ((v)->at[(v)->len - 1])

void *vec_grow_(Arena *arena, void *at, uint32_t *cap, size_t want, size_t size);

#endif
