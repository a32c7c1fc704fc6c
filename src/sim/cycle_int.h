/* Inside the cycle model: the clocks of a core and what is counted. */
#ifndef SIM_CYCLE_INT_H
#define SIM_CYCLE_INT_H

#include "sim/cycle.h"
#include "sim/cycle_cache.h"
#include "sim/cycle_cost.h"
#include "sim/cycle_memory.h"
#include "sim/sim_int.h"

enum { PIPES = NPU_PIPE_ALL, EVENTS = 8, DEPTH = 32, WRITES = 16, PENDING = 16 };
enum { MOST_LINES = 4096 };

typedef struct Wrote {
    uint64_t from, to;
} Wrote;

/* UB bytes that some pipe has written or will have, and from when they are there. */
typedef struct Result {
    uint64_t from, to;
    double when;
} Result;
enum { RESULTS = 16 };

/* Until when a pipe is held up, and by what. */
typedef struct Gate {
    double until;
    CycleWait why;
    enum NpuPipe on;
} Gate;

/* What is known of an instruction that repeats. */
typedef struct Kept {
    bool set;
    InstructionCost cost; /* where GM has no part in it */
    uint32_t line;        /* 1 + place in the table of lines */
} Kept;

typedef struct CycleCore {
    double scalar;       /* the scalar unit's clock */
    double ready[PIPES]; /* the pipe can take its next instruction */
    Gate gate[PIPES];
    double done[PIPES]; /* all it was given is finished */
    double busy[PIPES];
    double waits[PIPES][CYCLE_WAIT_COUNT], flag_waits[PIPES][PIPES];
    double small[PIPES], conflict;
    double start[PIPES][DEPTH]; /* of the last instructions, a ring */
    uint32_t given[PIPES];
    double flag[PIPES][PIPES][EVENTS][2]; /* the oldest set first */
    uint8_t flags[PIPES][PIPES][EVENTS];
    Wrote wrote[WRITES]; /* UB written by the vector pipe since its last barrier */
    uint32_t wrotes;
    Result result[RESULTS];
    double sent[3][16][PENDING], arrived[16][PENDING];
    uint32_t sents[3][16], arriveds[16];
    uint64_t sync_calls[2];
    bool ran;
    DataCache *cache; /* from the first scalar access of GM on */
    Kept *kept;       /* by place in the period that repeats */
    uint32_t kept_cap;
} CycleCore;

/* Queues that copies from GM fill, and the first of them with one buffer. */
typedef struct CycleBuffers {
    uint32_t queues;
    const char *single_file;
    uint32_t single_line; /* 0: none */
} CycleBuffers;

struct Cycle {
    Sim *sim;
    CycleBuffers buffers;
    Arena arena;
    const NpuChip *chip;
    CycleCore *core;
    uint32_t cores;
    CycleMemory memory;
    CycleSink *sink;
    void *sink_context;
    uint64_t copies, copied;
    double conflict;
    double sync_time[2];
    uint64_t sync_epoch[2];
    VEC(CycleLine) lines;
    uint32_t last_line; /* index in `lines`: the next record is often of the same */
    Kept *kept;         /* of the record being observed; NULL: it may be the first of its kind */
};

static inline double later(double a, double b) { return a > b ? a : b; }

#endif
