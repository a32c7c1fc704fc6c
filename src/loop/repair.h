/* The repair loop: a generator writes, the judge answers, it tries again.
 *
 *     prompt ─▶ answer ─extract─▶ candidate ─judge─▶ verdict ─┬─ ok: done
 *        ▲                                                    │
 *        └────────────── what is wrong, in words ◀────────────┘
 *
 * Several conversations run at once, in step: the requests of all open ones are sent together. */
#ifndef LOOP_REPAIR_H
#define LOOP_REPAIR_H

#include "eval/candidate.h"
#include "gen/chat.h"

/* One conversation: a sample of a task. */
typedef struct RepairJob {
    const char *task;
    Str task_text;
    ChatMessages prompt;
    EvalForm form; /* of the answers */
    uint32_t sample;
} RepairJob;

typedef struct RepairTurn {
    ChatReply reply;
    EvalCandidate candidate;
    bool has_candidate, cut;
    Verdict verdict; /* of the worst case */
    Str said;        /* diagnostics that the next turn is told; empty when it is ok */
    Str said_json;
} RepairTurn;

typedef enum RepairEnd {
    REPAIR_OK,       /* a candidate passed */
    REPAIR_TURNS,    /* no turn was left */
    REPAIR_REPEATED, /* the model gave the same program again */
    REPAIR_FAILED,   /* no answer came; the last reply says why */
} RepairEnd;

const char *repair_end_text(RepairEnd end);

typedef struct RepairResult {
    VEC(RepairTurn) turns;
    RepairEnd end;
    int best; /* turn of the best candidate: ok before wrong before not compiled; -1: none */
} RepairResult;

typedef struct RepairSpec {
    const Generator *generator;
    uint32_t turns; /* repairs after the first answer */
    /* Judges a candidate of job `index` on all its cases. Fills the verdict and the messages. */
    void (*judge)(void *context, uint32_t index, const EvalCandidate *candidate, Arena *arena,
                  Verdict *verdict, Diag *diag);
    /* As each turn ends, to store it; NULL: nobody. */
    void (*turned)(void *context, uint32_t index, const RepairJob *job, uint32_t turn,
                   const ChatMessages *messages, const RepairTurn *of);
    void *context;
} RepairSpec;

/* False when further requests are useless (`diag` says why); results hold what there is until then. */
bool repair_run(Arena *arena, const RepairSpec *spec, const RepairJob *jobs, uint32_t count,
                RepairResult *results, Diag *diag);

#endif
