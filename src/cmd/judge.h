/* What cmd_judge.c and judge_serve.c share. */
#ifndef CMD_JUDGE_H
#define CMD_JUDGE_H

#include "loop/bench_pool.h"
#include "loop/judge_line.h"

/* A request that is being judged: the pool's reply needs its text when the worker fails. */
typedef struct JudgeItem {
    bool used;
    Buf line;
    void *asker; /* the server's */
    uint32_t index;
} JudgeItem;

/* The items of all workers; as many as the pool has jobs. */
typedef struct JudgeDesk {
    Pool *pool;
    JudgeItem *items;
    uint32_t count;
    double seconds;       /* deadline of one item */
    uint64_t judged, bad; /* bad: lines that ask for nothing that can be judged */
} JudgeDesk;

bool judge_desk_free(const JudgeDesk *desk);
/* False: no worker can be started. */
bool judge_desk_send(JudgeDesk *desk, Str line, void *asker, uint32_t index);
/* Waits for one; NULL: none ended. The answer line goes to `reply`; the item is free again. */
JudgeItem *judge_desk_next(JudgeDesk *desk, double seconds, int wake, Buf *reply);

/* Serves POST requests on 127.0.0.1 until a signal ends it. Returns an exit status. */
int judge_serve(JudgeDesk *desk, int64_t port);

enum { JUDGE_MOST_LINE = 64 << 20 };

#endif
