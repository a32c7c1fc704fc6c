/* Training rows of which every program was run.
 *
 *     seed, number ─draw─▶ graph ─model─▶ model.py ─torch─▶ the same graph
 *                            └─plan at points of the schedule space─▶ Craft ─judge at odd sizes─▶ right
 *                                       └─break─▶ Craft ─judge─▶ refused, or wrong: a repair
 *
 * A row is a prompt, an answer, and how its verdict was reached. The rows depend on the seed and the
 * spec alone, not on the number of processes, nor on whether the run was stopped and taken up again. */
#ifndef ROWS_ROWS_H
#define ROWS_ROWS_H

#include "base/buf.h"
#include "base/diag.h"
#include "npu/npu.h"

typedef enum RowsKind {
#define KIND(name, ...) ROWS_##name,
#include "rows/kind.def"
#undef KIND
    ROWS_KINDS
} RowsKind;

const char *rows_kind_name(RowsKind kind);
uint32_t rows_kind_share(RowsKind kind); /* of a hundred, as kind.def has it */

typedef struct RowsSpec {
    const NpuChip *chip;
    const char *dir; /* rows.jsonl, preferences.jsonl, labels.jsonl, card.md, ... */
    const char
        *tasks; /* the suites' model files; NULL: not known, nothing is kept away from them */
    const char *version; /* of the program, for the card */
    uint64_t seed, rows;
    uint32_t share[ROWS_KINDS]; /* of a hundred */
    uint32_t text_share;   /* of a hundred rows: judged through AscendC text and the twin, too */
    bool brief;            /* answers without reasons, one schedule a task, round tiles */
    bool twins;            /* write and repair rows exist a second time in AscendC */
    uint32_t jobs;         /* processes */
    uint32_t vocab;        /* of the tokenizer that is trained on the rows */
    const char *tokenizer; /* a file: used in its place; NULL: trained */
    void (*progress)(void *context, uint64_t rows, uint64_t of, double seconds_left);
    void *context;
    const volatile int *stop; /* not 0: end soon, so that the run can be taken up again */
} RowsSpec;

typedef enum RowsEnd {
    ROWS_DONE,
    ROWS_STOPPED,       /* by `stop`; the same call goes on with it */
    ROWS_CONTRADICTION, /* two judges disagree: a bug; `diag` names the task */
    ROWS_FAILED,        /* `diag` says why */
} RowsEnd;

RowsEnd rows_make(Arena *arena, const RowsSpec *spec, Diag *diag);

/* ---- what a run has written, looked at again (check.c) ---- */

typedef struct RowsCheckSpec {
    const char *dir;
    const char *tasks;     /* the suites' model files; NULL: nothing is compared */
    const char *tokenizer; /* NULL: that of the directory */
} RowsCheckSpec;

enum { ROWS_ENOUGH = 50 }; /* rows of an error */

/* Errors of one table: how many there are, of how many there is a row, of how many there are enough; the rarest. */
typedef struct RowsLeast {
    uint32_t all, there, enough;
    const char *name;
    uint64_t rows;
} RowsLeast;

typedef struct RowsCheck {
    uint64_t rows, twice; /* twice: the same text as an earlier row */
    uint64_t others;      /* rows of twins.jsonl and long.jsonl */
    uint64_t over;        /* rows of too many tokens */
    uint64_t longest;     /* tokens of the longest, but for long.jsonl */
    uint64_t tasks, lost; /* tasks that were drawn again; those that could not be */
    uint64_t graphs;      /* of these that are distinct, with their sizes and element types */
    uint32_t operators;   /* of the reader's table that tasks have */
    uint32_t of_operators;
    uint64_t near_graph, near_words;
    uint64_t hash; /* of rows.jsonl */
    uint64_t repairs, mends;
    RowsLeast diagnostics, findings; /* of repair rows; of mend rows */
} RowsCheck;

bool rows_check(Arena *arena, const RowsCheckSpec *spec, RowsCheck *check, Diag *diag);

/* ---- programs of a run, judged again through the AscendC text (again.c) ---- */

typedef struct RowsAgainSpec {
    const NpuChip *chip;
    const char *dir;
    uint64_t seed;
    uint32_t rows; /* drawn from those with programs */
    uint32_t jobs; /* processes; 0: one for each processor */
    void (*progress)(void *context, uint64_t rows, uint64_t of, double seconds_left);
    void *context;
} RowsAgainSpec;

typedef struct RowsAgain {
    uint64_t rows;
    uint64_t right, wrong;   /* programs that are as their row says */
    uint64_t unjudged;       /* ... that the twin could not judge */
    uint64_t contradictions; /* `said` names them */
    Buf said;                /* the caller frees it */
} RowsAgain;

bool rows_again(Arena *arena, const RowsAgainSpec *spec, RowsAgain *again, Diag *diag);

/* ---- what is held out (split.c) ---- */

typedef struct RowsSplitSpec {
    const char *rows, *dir;
    const char *families; /* "pad,window": held out; NULL: none */
    int64_t operators;    /* rows of more are held out; 0: none */
    uint32_t share;       /* of a thousand compositions, how many are held out */
} RowsSplitSpec;

enum { ROWS_UNSEEN = 20 }; /* of a thousand compositions, unless the split says otherwise */

/* Counts of train, families, longer, unseen. */
bool rows_split(Arena *arena, const RowsSplitSpec *spec, uint64_t counts[4], Diag *diag);
/* The hash of a question without its numbers and element types. */
uint64_t rows_composition(Str question);

/* ---- scores (score.c) ---- */

typedef struct RowsScoreSpec {
    const NpuChip *chip;
    const char *rows; /* rows.jsonl of a run; those to write are asked */
    const struct Generator *generator;
    uint32_t tasks;   /* at most */
    uint32_t samples; /* of each */
    uint32_t turns;   /* repairs after an answer */
    uint32_t jobs;    /* processes; 0: one for each processor */
    double
        seconds; /* for a task, answers and judging; 0: ten minutes. What is later counts as not right */
    const char *keep; /* a file for all samples, as rows with their mark; NULL: none */
} RowsScoreSpec;

/* The score over a family, over tasks of some length, or ("") over all tasks. */
typedef struct RowsScore {
    const char *family;
    uint32_t tasks, samples;
    uint32_t wrong, refused,
        none;      /* samples with wrong values, that do not check, without a program */
    uint32_t lost; /* tasks that could not be scored */
    uint32_t late; /* tasks that ran out of time, which are counted as not right */
    double at_one, at_one_squares; /* sums over tasks of the share of right samples */
    double at_all;                 /* tasks with a right sample */
} RowsScore;
typedef VEC(RowsScore) RowsScores;

bool rows_score(Arena *arena, const RowsScoreSpec *spec, RowsScores *scores, Diag *diag);
double rows_score_half(const RowsScore *score); /* half of the 95 % interval of at_one / tasks */

#endif
