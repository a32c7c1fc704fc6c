/* Rows in order: those that UB holds (sort.c) and longer ones (sort_long.c). */
#ifndef GEN_PLAN_SORT_INT_H
#define GEN_PLAN_SORT_INT_H

#include "gen/plan/script.h"

typedef struct SortRows {
    int64_t outer, n, k; /* rows, their elements, how many are wanted of each */
    bool values, places; /* which results are */
} SortRows;

/* The comments, and `outer`. */
void sort_head(const NpuChip *chip, const char *reason, Buf *out);
/* The holes and operands of the task are set; false: too many turns. */
bool sort_long_rows(const Script *task, const SortRows *rows, const NpuChip *chip,
                    int64_t tile_limit, Plan *plan);

#endif
