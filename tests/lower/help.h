/* Shared by the tests of lowering: Craft text in, Ascend program out. */
#ifndef TESTS_LOWER_HELP_H
#define TESTS_LOWER_HELP_H

#include "lower/lower.h"

/* The first variant of the text, lowered up to `last`; NULL with what was said in *said. */
AscProgram *help_lower(Arena *arena, const char *text, LowerPass last, const char **said);
/* The buffer member that stands for the IR buffer of that name in the first kernel. */
const AscBuffer *help_buffer(const AscProgram *p, const char *name);
/* How many statements of a kind the function has, blocks included; UINT32_MAX: all functions. */
uint32_t help_count(const AscProgram *p, uint32_t function, AscStmtKind kind);

#endif
