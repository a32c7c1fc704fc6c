/* The verdict on one candidate and one case: plain data, to and from JSON.
 *
 * In: filled by src/twin and src/eval. Out: one JSON object, keys in a fixed order, the same
 * bytes for the same verdict. Unknown numbers are NaN, or 0 for counts, and become null; NaN and
 * infinities that are values (first_bad) become the strings "nan", "inf", "-inf". Lists live in
 * the arena of whoever filled them. */
#ifndef VERDICT_VERDICT_H
#define VERDICT_VERDICT_H

#include "base/diag.h"

typedef enum VerdictStatus {
#define STATUS(name, ...) VERDICT_##name,
#include "verdict/status.def"
#undef STATUS
    VERDICT_STATUS_COUNT
} VerdictStatus;

typedef enum VerdictStage {
#define STAGE(name, text) STAGE_##name,
#include "verdict/stage.def"
#undef STAGE
    VERDICT_STAGE_COUNT
} VerdictStage;

typedef struct VerdictStatusRow {
    const char *text;
    int exit;
    bool counted;
    const char *meaning;
} VerdictStatusRow;

typedef enum VerdictAnswer { VERDICT_UNKNOWN, VERDICT_NO, VERDICT_YES } VerdictAnswer;

typedef enum FindingKind { FINDING_RACE, FINDING_FAULT, FINDING_HANG, FINDING_LEAK } FindingKind;

/* Bytes touched by one side of a finding. */
typedef struct VerdictAccess {
    const char *memory; /* "UB" */
    const char *tensor; /* in GM: the tensor whose bytes these are; "": none */
    bool write;
    uint64_t from, to; /* first byte, one past the last */
    const char *file;  /* "": the finding's own */
    uint32_t line;
} VerdictAccess;

typedef struct VerdictFinding {
    FindingKind kind;
    bool warning;        /* reported, but no reason for the verdict */
    bool inserted;       /* a race that the device compiler's own synchronisation orders */
    const char *code;    /* "S007" */
    const char *message; /* one sentence */
    const char *file;    /* "": not known */
    uint32_t line;       /* 0: not known */
    uint32_t core;
    uint64_t count; /* occurrences at that line */
    const char *api;
    const char *device; /* what the device would show; "" where no public source tells */
    const char *repair;
    VEC(VerdictAccess) accesses;
} VerdictFinding;

typedef struct VerdictPipe {
    const char *name; /* as msprof names it: "aiv_vec" */
    double cycles, share;
} VerdictPipe;

typedef struct Verdict {
    const char
        *config;   /* hash of what the judge was told to do (judge_config); "": not of a judge */
    uint64_t seed; /* of the case's inputs */
    bool seeded;   /* ... which is known */
    const char *task, *candidate; /* "": none */
    const char *kase;             /* "case" in JSON */
    const char *inputs;           /* of the case: "x f32[64,512], w f32[512]"; "": not known */
    VerdictStatus status;
    VerdictStage stage; /* the last one that began */
    const char *reason; /* one line for people; "" for ok */
    VerdictAnswer compiled, correct;
    double max_abs_err, max_rel_err;
    double
        tolerance_used; /* the largest error as a share of what its element may be off: 1 is all */
    struct {
        bool any;
        const char *tensor;
        uint64_t index;
        double got, want;
    } first_bad;
    VEC(VerdictFinding) hazards;
    VEC(const char *) unsupported;
    uint64_t cycles;
    double predicted_us, bound_us;
    VEC(VerdictPipe) pipes;
    uint64_t proved, watched;
    const char *walls_missing; /* "": all stood */
    double seconds;
} Verdict;

/* An empty verdict: status ok, everything unknown. */
Verdict verdict_make(void);
/* The first failure stays: a later one changes nothing. */
void verdict_fail(Verdict *verdict, VerdictStatus status, VerdictStage stage, const char *reason);
/* The one place where a verdict against a task becomes ok: values were compared and were right.
 * True: it is. Every judge of a candidate calls this last. */
bool verdict_settle(Verdict *verdict);
const VerdictStatusRow *verdict_status_row(VerdictStatus status);
bool verdict_status_from_text(Str text, VerdictStatus *status);
const char *verdict_stage_text(VerdictStage stage);
const char *verdict_kind_text(FindingKind kind);

/* Several lines for people: every finding with its place and repair, then the status. */
void verdict_to_text(const Verdict *verdict, Buf *out);
/* One line, no newline at the end. */
void verdict_to_json(const Verdict *verdict, Buf *out);
/* False, with an error in `diag`, when the text is no verdict. Keys it does not know are passed
 * over. */
bool verdict_from_json(Arena *arena, Str text, Verdict *verdict, Diag *diag);

#endif
