/* The text of a move while it is written; inside the planner's moves only. */
#ifndef GEN_PLAN_MOVE_INT_H
#define GEN_PLAN_MOVE_INT_H

#include "gen/plan/move.h"

typedef struct MoveText {
    Arena *arena;
    const Move *m;
    const char *name;
    const char *index[GRAPH_MAX_RANK]; /* of the result */
    const char *type;
    int64_t tile;
    bool free; /* sizes may vary: dimensions only change places */
    Buf host;  /* lines of the host before the launch */
    Buf out;
} MoveText;

void move_put(MoveText *w, int depth, const char *format, ...) ATTR_PRINTF(3, 4);
const char *move_taken(MoveText *w, Buf *text);
/* Along one dimension of the source: "i0 * 2 + i3 - 1"; with what keeps it inside. */
const char *move_sum(MoveText *w, const MoveDim *d);
const char *move_place(MoveText *w, const MoveDim *d);
/* "i0 - 1 >= 0 and i0 - 1 < 8": where the source has the element, along dims that can lack it; NULL: everywhere. */
const char *move_inside(MoveText *w, bool also_last);
/* The indices but for the last, each followed by a comma. */
const char *move_before_last(MoveText *w);
const char *move_result_before_last(MoveText *w);
const char *move_size(MoveText *w, int index); /* of a dimension of the result */
/* Refuses rows of source and result that are 4 GiB apart, along `row` and `across`. */
void move_near(MoveText *w, int row, int across);
/* Everything before the body of the kernel. */
void move_open(MoveText *w, const char *reason, const NpuChip *chip);
/* for i0, i1, t in mine(4, 8, tiles(100, 64)): without the dims in `but`, as bits */
void move_loop(MoveText *w, uint32_t but, const char *variables, const char *axes);
void move_fill_buffer(MoveText *w);

/* Few lanes put side by side, or taken apart: [2, n] to [n, 2] and back. False: it is not that. */
bool move_lanes(MoveText *w, const NpuChip *chip);
/* Rows whose elements are gathered, many at once. False: they are too long, or single bytes. */
bool move_block(MoveText *w, const NpuChip *chip);

#endif
