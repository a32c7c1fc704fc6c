/* A worker: a function of the tool in a process of its own, because what it works on comes from
 * foreign code. Its bugs end one piece of work and not the tool.
 *
 *     BoxWorkerSpec spec = {.body = simulate, .context = &job, .seconds = 90, .memory = 1ull << 32};
 *     BoxWorker w;
 *     if (box_worker_start(arena, &w, &spec) && box_worker_wait_ready(&w))
 *         while (!box_worker_step(&w, 10))
 *             ...                                  what else there is to watch
 *     BoxEnd end = box_worker_finish(&w, &answer, &signal);
 *     ... answer.at ...
 *     box_worker_close(&w);
 *
 * In: a function and what it may use. Out: how it ended and the bytes it left. The process is a copy
 * of the tool (memory that is mapped shared stays shared), without its descriptors; the filter
 * leaves it computing, taking memory and writing its answer. It dies with the thread that started
 * it, and it does not get Ctrl-C. */
#ifndef BOX_WORKER_H
#define BOX_WORKER_H

#include "base/buf.h"
#include "box/box.h"
#include <sys/types.h>

typedef struct BoxWorker BoxWorker;

typedef struct BoxWorkerSpec {
    /* Runs in the new process; what it puts into *answer goes back. False: it could not do its work. */
    bool (*body)(void *context, const BoxWorker *self, Buf *answer);
    void *context;
    double seconds;  /* wall clock */
    uint64_t memory; /* private bytes beyond what the tool has at the start */
} BoxWorkerSpec;

struct BoxWorker {
    pid_t pid; /* 0: none */
    int pidfd, ready, answer;
    double deadline;
    bool ended, late;
    int wait_status;
    Str mapped;
};

/* False: the system gives no process (errno); the worker may be finished and closed all the same. */
bool box_worker_start(Arena *arena, BoxWorker *worker, const BoxWorkerSpec *spec);
/* In the body: the other side may go on. */
void box_worker_say_ready(const BoxWorker *self);
/* False: it ended without an answer. */
bool box_worker_wait_ready(BoxWorker *worker);
/* Waits up to `milliseconds` for the end and kills whoever is late. True once it has ended. */
bool box_worker_step(BoxWorker *worker, int milliseconds);
/* Ends it if it has not ended. BOX_EXITED: *answer holds its bytes until box_worker_close; SIGNAL
 * (*signal), TIMEOUT, MEMORY; FAILED: it gave up, or was never there. */
BoxEnd box_worker_finish(BoxWorker *worker, Str *answer, int *signal);
void box_worker_close(BoxWorker *worker);

#endif
