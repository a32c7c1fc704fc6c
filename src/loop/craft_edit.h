/* Craft programs looked at and edited as trees: text is read, changed as a tree and written again. A text
 * that does not parse stays as it is. */
#ifndef LOOP_CRAFT_EDIT_H
#define LOOP_CRAFT_EDIT_H

#include "base/file.h"

/* The program without the comments above its first line. */
Str edit_without_reasons(Arena *arena, Str craft);
/* Whether both texts are the same program, but for comments and the ranges of free sizes. */
bool edit_same(Arena *arena, Str a, Str b);
/* By axis of the operand: the name of the size that stands alone there, or NULL. */
void edit_sizes(Arena *arena, Str craft, const char *operand, NameList *names);
/* n = dim(lo, hi), made of what it was. */
Str edit_dim(Arena *arena, Str craft, const char *name, int64_t lo, int64_t hi);

bool edit_has_choice(Arena *arena, Str craft); /* its host function has a choose() */
/* choose("tile", [4096, 2048]) with 2048 first */
Str edit_choice_first(Arena *arena, Str craft, const char *name, int64_t value);
/* tile = choose("tile", [4096, 2048])  ─▶  tile = small if size < below else large */
typedef struct EditRule {
    const char *size;
    int64_t below, small, large;
} EditRule;
Str edit_choice_rule(Arena *arena, Str craft, const char *name, const EditRule *rule);

#endif
