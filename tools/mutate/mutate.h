/* mutate: how many slips does the twin notice? In: AscendC kernels, each with one case, as options
 * of `acraft run`. Out: for every mutant (one slip in the text) caught, equivalent or missed, by
 * default and under --strict, and the score.
 *
 *     text.c   a kernel and its own headers -> one text
 *     scan.c   text -> mutations          run.c    text and case -> what the twin saw
 *     schema.c text and mutations -> one text for all
 *     watch.c  the checkers beside a run, what they saw
 *     proof.c  records -> is every conflicting pair of accesses ordered, by which path
 *     results.c  what a mutant did, kept in a file, so that a run can be taken up again
 *     main.c   lists, classes, figures */
#ifndef TOOLS_MUTATE_H
#define TOOLS_MUTATE_H

#include "base/arena.h"
#include "base/buf.h"
#include "twin/project.h"
#include <time.h>

/* --- text.c --- */

/* From line `at` of the joined text on stand the lines of `path` from `line` on. */
typedef struct JoinedPart {
    uint32_t at, line;
    const char *path;
} JoinedPart;

typedef struct Joined {
    Str text;
    VEC(JoinedPart) parts;
} Joined;

bool mutate_join(Arena *arena, const char *path, Joined *out, Diag *diag);
/* Where a line of the joined text comes from. */
JoinedPart mutate_place(const Joined *joined, uint32_t line);

/* --- scan.c --- */

typedef enum MutationKind {
    MUTATE_SYNC,   /* a synchronisation deleted or weakened */
    MUTATE_BUFFER, /* a buffer shrunk */
    MUTATE_OFFSET, /* an offset shifted */
    MUTATE_COUNT,  /* a count shortened */
    MUTATE_KINDS
} MutationKind;

/* Up to MUTATE_EDITS pieces of the text replaced; lines keep their numbers. */
enum { MUTATE_EDITS = 24 };
typedef struct MutationEdit {
    size_t from, to;
    const char *with;
    bool statement; /* else an expression */
} MutationEdit;

typedef struct Mutation {
    MutationKind kind;
    uint32_t line, last_line; /* what must have been executed: one of these; 0: not known */
    const char *what;         /* "delete SetFlag" */
    MutationEdit edits[MUTATE_EDITS];
    uint32_t edit_count;
} Mutation;

typedef VEC(Mutation) Mutations;
void mutate_scan(Arena *arena, Str text, Mutations *out);
Str mutate_apply(Arena *arena, Str text, const Mutation *mutation);

/* --- schema.c --- */

/* All mutants in one text, so that one compilation serves them: every place that is edited asks for
 * the number of the mutant, which mutate_number writes into the compiled programs. */
typedef struct Schema {
    Str text;
    uint64_t mark; /* stands in the program before the number */
    time_t begun;
    bool *left_out; /* by mutation: these are not in the text */
    VEC(const char *) programs;
} Schema;

void schema_write(Arena *arena, Str text, const Mutations *all, Schema *schema);
/* Leaves out what has an edit in that line. False: nothing has. */
bool schema_leave_out(Str text, const Mutations *all, uint32_t line, Schema *schema);
/* Looks for its programs among the compiled ones of `dir`. */
bool schema_find(Arena *arena, const char *dir, Schema *schema);
/* 0: the kernel itself; else the number of a mutation plus one. */
bool schema_number(const Schema *schema, uint64_t number);

/* --- proof.c --- */

typedef struct Proof Proof;
/* `prove`: else only the stream and the lines are noted. */
Proof *proof_open(Sim *sim, bool strict, bool prove);
void proof_close(Proof *proof);
/* After the run. True: every conflicting pair is ordered. `why`: a path, or what is not shown. */
bool proof_holds(const Proof *proof, Buf *why);
/* The pairs without a path; NULL: not known. */
typedef struct LoosePair {
    uint32_t line[2];
    uint8_t pipe[2], write[2];
} LoosePair;
typedef VEC(LoosePair) PairList;
const PairList *proof_loose(const Proof *proof);
/* Over the records of each core in order, places in the text left out. */
uint64_t proof_stream(const Proof *proof);
/* Whether a record came from this line; lines past MUTATE_LINES count as executed. */
enum { MUTATE_LINES = 1 << 16 };
const bool *proof_lines(const Proof *proof);

/* --- run.c --- */

typedef struct Subject {
    Arena arena;
    const char *path;
    uint64_t key; /* of its words and texts */
    bool project;
    TwinProject tree; /* of a project; the file that is mutated is tree.kernel.at[file] */
    uint32_t file;
    Joined joined;       /* the text that is mutated */
    TwinTensors tensors; /* inputs filled, outputs empty */
    NameList attrs, defines, include_dirs;
    uint32_t blocks;
    uint64_t workspace, tiling_key;
    Str tiling;
    NpuChip chip;
} Subject;

typedef struct Seen {
    bool built, ran;
    VerdictStatus status;
    const char *reason;
    VEC(uint64_t) findings; /* code and places of each */
    uint32_t own;           /* of these, what the compiler does not repair */
    const char *first;      /* "S050 line 12" */
    uint64_t stream;
    TwinTensors outputs;
    bool *lines;           /* MUTATE_LINES */
    VEC(uint32_t) refused; /* lines that did not compile */
    bool ordered, proved;  /* proved: `loose` is known */
    PairList loose;
    const char *path;
} Seen;

/* To the bit, or as far as the order of additions allows: 1e-5 of the largest magnitude, 2 per cent
 * for 16 bits. */
bool seen_same_values(const Seen *a, const Seen *b, bool exact);

/* One subject from words: PATH and options, or PATH alone when its text has a "run:" line. */
bool subject_read(Subject *subject, const char *const *words, uint32_t count, Diag *diag);
void subject_free(Subject *subject);
/* Compiles once, runs by default (seen[0]) and strict (seen[1]). `prove`: with the second checker. */
void subject_run(Arena *arena, Subject *subject, Str text, double seconds, bool prove,
                 Seen seen[2]);
/* Puts all mutants into one text. False: each has to be compiled alone. */
bool subject_combine(Subject *subject, const Mutations *all, const Seen original[2], double seconds,
                     Schema *schema);

/* --- watch.c --- */

typedef struct Watch {
    bool strict, prove;
    Arena *arena;
    Seen *seen; /* what comes back of the run */
    struct Hazard *hazard;
    Proof *proof;
} Watch;

void watch_run(TwinOptions *options, Watch *watch);

/* --- results.c --- */

/* What became of one mutant, by default and strict. */
typedef struct Result {
    uint64_t key; /* of the mutant's text, its case and the kernel itself */
    uint32_t kind, class[2];
    bool right[2]; /* the values of the original */
    const char *why[2];
} Result;

typedef struct Results {
    Arena arena;
    VEC(Result) known;
    const char *path; /* NULL: nothing is kept */
} Results;

bool results_open(Results *results, const char *path, Diag *diag);
void results_close(Results *results);
const Result *results_find(const Results *results, uint64_t key);
/* `label` is for the reader of the file. False: the file cannot be written. */
bool results_add(Results *results, Result result, const char *label);

#endif
