/* Text of planned programs: renaming, lines, branches. */
#ifndef GEN_PLAN_CHAIN_TEXT_H
#define GEN_PLAN_CHAIN_TEXT_H

#include "base/buf.h"
#include "base/str.h"
#include "base/vec.h"

typedef struct Rename {
    Str from;
    const char *to;
} Rename;

typedef VEC(Rename) Renames;

/* The text with every name in it that is renamed; not behind a dot. */
void text_rename(const Renames *names, Str text, Buf *out);
/* A name that is there already keeps its meaning. */
void text_add_name(Arena *arena, Renames *names, Str from, const char *to);
bool text_in_name(char ch);
Str text_assigned(Str line);                   /* the name before " = "; empty: none */
bool text_fixed_size(Str line, int64_t *size); /* d64 = dim(64) */
bool text_size_range(Str line, int64_t *most); /* n0 = dim(1, 1024) */
Str text_first_choice(Arena *arena, Str line); /* choose("tile", [8, 4]) becomes 8 */
size_t text_indent(Str line);
bool text_is_branch(Str trimmed); /* if, elif, else */

#endif
