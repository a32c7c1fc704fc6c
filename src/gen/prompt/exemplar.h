/* Exemplars: worked pairs of a model file and its Craft program, shown to a model. They lie below
 * DIR as NAME.py with NAME.craft beside it; the model file's opening text says what they show:
 *
 *     category: reduce
 *     pattern: long row
 */
#ifndef GEN_PROMPT_EXEMPLAR_H
#define GEN_PROMPT_EXEMPLAR_H

#include "graph/graph.h"

typedef struct Exemplar {
    const char *name, *category, *pattern;
    Str task, craft;
} Exemplar;

typedef VEC(Exemplar) Exemplars;

bool exemplars_read(Arena *arena, const char *dir, Exemplars *all, Diag *diag);

/* How the work of a task lies in memory: "flat", "short row", "long row", "other axis", "all",
 * "outer", "window", "scan", "index". */
const char *exemplar_pattern(const Graph *graph);

/* The share of a's runs of 13 tokens that b has too. */
double exemplar_overlap(Arena *arena, Str a, Str b);
/* An exemplar that gives the answer away: more than half of it is in the planner's own program. */
enum { EXEMPLAR_LEAK_PERCENT = 50 };
bool exemplar_leaks(Arena *arena, const Exemplar *e, Str planned);

/* The `most` exemplars that fit best, best first: the same category and pattern, then the same
 * pattern, then the same category; never one that leaks the answer (`planned`, may be empty). */
void exemplars_choose(Arena *arena, const Exemplars *all, const char *category, const char *pattern,
                      Str planned, uint32_t most, Exemplars *chosen);

#endif
