/* Inside gen/local: rows that the baselines are made of. */
#ifndef GEN_LOCAL_LOCAL_INT_H
#define GEN_LOCAL_LOCAL_INT_H

#include "gen/local/local.h"

typedef struct Example {
    Str prompt, answer;
} Example;
typedef VEC(Example) ExampleList;

/* The rows to write of a file. */
bool examples_read(Arena *arena, const char *path, ExampleList *list, Diag *diag);
/* Whether the program of an answer checks, proves and lowers. */
bool local_passes(const NpuChip *chip, Str answer);
ChatReply example_reply(Arena *arena, Str text, bool cut);

#endif
