/* Pieces of work over the pool of processes; see pieces.h. A request is the piece's number. */
#include "loop/pieces.h"

#include "graph/eval.h"
#include "loop/bench_pool.h"
#include <stdio.h>
#include <string.h>

static void serve(void *context, Str request, Buf *answer)
{
    const Pieces *p = context;
    uint32_t piece;
    if (request.len != sizeof piece)
        return;
    memcpy(&piece, request.at, sizeof piece);
    graph_eval_threads(1); /* the others are at work, too */
    p->work(p->context, piece, answer);
}

static void do_here(const Pieces *p, uint32_t piece)
{
    Buf answer = {0};
    p->work(p->context, piece, &answer);
    p->take(p->context, piece, buf_view(&answer), NULL);
    buf_free(&answer);
}

static void take_reply(const Pieces *p, const PoolReply *reply)
{
    char died[80];
    snprintf(died, sizeof died, "its process %s (%s)",
             reply->signal ? "died" : "ended before it answered",
             reply->signal ? strsignal(reply->signal) : "an error of its own");
    p->take(p->context, (uint32_t)reply->id, reply->text, reply->end == POOL_DONE ? NULL : died);
}

void pieces_do(const Pieces *p)
{
    PoolSpec spec = {
        .jobs = p->jobs < p->count ? p->jobs : p->count, .work = serve, .context = (void *)p};
    Pool *pool = spec.jobs > 1 ? pool_open(&spec) : NULL;
    PoolReply reply;
    for (uint32_t i = 0; i < p->count; i++) {
        while (pool && pool_busy(pool) == spec.jobs)
            if (pool_next(pool, 1, -1, &reply))
                take_reply(p, &reply);
        if (!p->wanted(p->context, i))
            continue;
        if (!pool || !pool_send(pool, i, (Str){(const char *)&i, sizeof i}))
            do_here(p, i);
    }
    while (pool && pool_busy(pool))
        if (pool_next(pool, 1, -1, &reply))
            take_reply(p, &reply);
    pool_close(pool);
}
