/* Text to tokens, by Python's lexical rules. */
#ifndef CRAFT_LEX_H
#define CRAFT_LEX_H

#include "craft/ast.h"

/* Tokens of the whole text, ending in END; comments go to the file. Errors go to `diag`, and
 * the list goes on after them. Token texts point into `text`. */
TokenList craft_lex(Arena *arena, Str text, CraftFile *file, Diag *diag);

#endif
