/* Inside the room: a drawn task, how it is judged, and what is written about it. */
#ifndef ROWS_ROWS_INT_H
#define ROWS_ROWS_INT_H

#include "base/map.h"
#include "eval/candidate.h"
#include "eval/eval.h"
#include "gen/plan/schedule/search.h"
#include "rows/rows.h"
#include "torch/torch.h"
#include <stdio.h>

/* ---- random numbers: a stream of the seed for each task, drawn in order ---- */

typedef struct Dice {
    uint64_t seed, stream, at;
} Dice;

uint64_t dice_u64(Dice *dice);
int64_t dice_below(Dice *dice, int64_t n); /* 0 .. n-1 */
bool dice_chance(Dice *dice, int64_t of_hundred);
/* An index, each as often as its weight says. */
uint32_t dice_weighted(Dice *dice, const uint8_t *weights, uint32_t n);

/* ---- tasks (draw.c, model.c) ---- */

typedef enum RowsFamily {
#define FAMILY(name, ...) FAMILY_##name,
#include "rows/family.def"
#undef FAMILY
    FAMILY_COUNT
} RowsFamily;

_Static_assert(FAMILY_COUNT <= 32, "families are bits of 32");

/* Model files that are shipped, and what their forward says (shipped.def). */
uint32_t rows_shipped(void);
const char *rows_shipped_name(uint32_t i);
const char *rows_shipped_body(uint32_t i);
const char *rows_family_name(RowsFamily family);
/* Tasks whose number has this bit are of the families behind MIXED. */
#define ROWS_WIDE (UINT64_C(1) << 32)
/* The number of the n-th task of a run: without brief rows every fourth is of the families behind MIXED. */
uint64_t rows_task_number(uint64_t n, bool brief);
/* Another task in place of task `number`, which has no place for an error; the 1st, the 2nd ... */
uint64_t rows_other_number(uint64_t number, uint32_t other, bool brief);
RowsFamily rows_number_family(uint64_t seed, uint64_t number);

typedef struct RowsKnob {
    const char *name;
    int64_t value;
} RowsKnob;

/* A size of an input that the task's program fixes. */
typedef struct RowsPin {
    uint32_t input;
    int axis;
    int64_t size;
} RowsPin;

/* How a model file writes sizes. */
typedef struct ModelDims {
    const char *const
        *of[GRAPH_MAX_RANK * 2];           /* by input, as expressions over knobs; NULL: numbers */
    const char *below[GRAPH_MAX_RANK * 2]; /* of inputs of integers: they are smaller than this */
    const RowsKnob *knobs;
    uint32_t n_knobs;
    const RowsPin *pins; /* asserted in forward */
    uint32_t n_pins;
} ModelDims;

enum { ROWS_KNOBS = 16 }; /* more are not varied */

typedef struct RowsTask {
    uint64_t number;
    RowsFamily family;
    uint32_t families;  /* of which it has a step: a bit for each */
    const char *flow;   /* "chain", "tree", "shared": how values are used */
    uint32_t operators; /* difficulty */
    const Graph *whole; /* as it was drawn */
    const Graph
        *drawn; /* the graph without what no result needs; it computes what `read` computes */
    const TorchTask *read; /* what the reader made of the model file */
    Str model;             /* the file */
    VEC(RowsKnob) knobs;   /* sizes of the file */
    uint32_t pinned;       /* a bit for each of them that the program fixes */
    VEC(RowsPin) pins;
    ModelDims dims; /* how the file was written */
    uint64_t wording;
} RowsTask;

/* Draws task `number` and reads its file back. False: nothing sensible came out, draw the next one.
 * *differs: the reader made another graph of the file than was drawn, which is a bug of ours. */
bool rows_draw(Arena *arena, uint64_t seed, uint64_t number, RowsTask *task, bool *differs);
/* The graph as a model file. False: an operator has no spelling here. */
bool model_write(Arena *arena, const Graph *graph, const ModelDims *dims, uint64_t wording,
                 Buf *out);
/* Reads the task with other sizes. NULL: it does not exist for them. */
const TorchTask *rows_read(Arena *arena, Str model, const TorchSet *sets, uint32_t n_sets);

/* ---- sizes that a program fixes (pin.c) ---- */

/* Finds them and writes the task's file again with an assertion for each. False: the program or the file
 * cannot be read. */
bool rows_pin(Arena *arena, RowsTask *task, Str craft, const NpuChip *chip);
/* assert x.shape[1] == 640 */
void rows_put_pins(const Graph *graph, const RowsPin *pins, uint32_t n, const char *margin,
                   Buf *out);

/* ---- rounding (rounding.c) ---- */

bool rows_is_short(const Graph *graph); /* an input has 16 bits */
/* Whether a comparison or a rounding to whole numbers is made of rounded values. */
bool rows_rounding_decides(Arena *arena, const Graph *graph);
/* Whether the place of an element is asked among values that machines compute differently. */
bool rows_place_decides(Arena *arena, const Graph *graph);

/* ---- judging (cases.c) ---- */

enum { ROWS_CASES = 4, ROWS_ELEMENTS = 16384 };

/* Elements of the largest tensor, where the task's sizes allow it. */
typedef struct RowsSizes {
    int64_t cases, tolerance, tolerance_short; /* _short: of tasks with 16 bits */
} RowsSizes;
extern const RowsSizes rows_sizes, rows_sizes_brief;

/* Right answers of a task at odd sizes. */
typedef struct RowsCases {
    uint32_t n;
    EvalReference ref[ROWS_CASES];
    const char *inputs[ROWS_CASES]; /* "x f32[3,65]" */
    InputLaw law;                   /* of the inputs */
    bool telling;                   /* trivial answers do not pass in all of them */
} RowsCases;

/* Draws sizes that the program takes, after rows_pin. False: fewer than ROWS_CASES are small enough, the
 * task's own values are not finite, or trivial answers pass in every case. */
bool rows_cases(Arena *arena, const RowsTask *task, Str craft, const NpuChip *chip,
                const RowsSizes *sizes, Dice *dice, RowsCases *cases);
void rows_cases_free(RowsCases *cases);
/* The case of most elements, whose cores have several tiles most often: kernels for one shape are for its sizes. */
const EvalReference *rows_kernel_case(const RowsCases *cases);
/* Whether the program uses at most half of the tolerance at a larger size, with large numbers, too. */
bool rows_margin(Arena *arena, const RowsTask *task, Str craft, const NpuChip *chip,
                 const RowsSizes *sizes, InputLaw law, Dice *dice);
/* The verdict of the first case that is not ok; true: all are. `texts`: through the AscendC text and the
 * twin, else by the reference interpreter. */
bool rows_judge(Arena *arena, Str craft, const RowsCases *cases, const NpuChip *chip, bool texts,
                Verdict *verdict, Diag *diag);

/* The judge lacks something or ran out of time: it says nothing about the program. */
bool rows_is_unjudged(VerdictStatus status);

/* ---- programs (program.c) ---- */

/* The program of a task at a point of the schedule space. */
typedef struct RowsProgram {
    PlanPoint point;
    const Nest *nest; /* NULL: the program has no schedule */
    Schedule schedule;
    Plan plan; /* with the task's own boundary */
    Str craft;
    uint32_t lines;
    int64_t ub;           /* bytes of declared buffers */
    bool double_buffered; /* a buffer has two slots or more */
    bool scans;           /* a running sum or product is among its steps */
    struct {              /* of a kernel of the cube; products 0: there is none */
        uint32_t products, channels;
        int64_t m, n, k; /* of the first L0C buffer, of the first L0A buffer */
    } cube;
    bool tail;                  /* a loop takes pieces of which the last may be shorter */
    double us;                  /* predicted at the task's sizes; negative: not known */
    double share[NPU_PIPE_ALL]; /* of each pipe: of the slowest core's time */
} RowsProgram;

enum { ROWS_LINES = 80 };

/* False: the point cannot be built, or the program is too long. */
bool rows_program(Arena *arena, const RowsTask *task, const NpuChip *chip, const PlanPoint *point,
                  RowsProgram *program);
/* Bytes of the buffers that the kernels declare, or of these and of what their expressions need; -1: not known. */
int64_t rows_ub_bytes(const struct IrProgram *p, bool with_scratch);
/* Fills us and share. */
bool rows_time(Arena *arena, const NpuChip *chip, RowsProgram *program);

/* ---- answers (answer.c) ---- */

/* The task as a prompt shows it: the graph with shapes and dtypes, with or without the sizes that are
 * fixed, or the model file. */
typedef enum RowsShow { SHOW_GRAPH, SHOW_BARE, SHOW_FILE } RowsShow;
void rows_put_task(const RowsTask *task, RowsShow show, Buf *out);
/* Why the schedule is as it is, from facts alone; the schedule. */
void rows_put_reasons(const NpuChip *chip, const RowsProgram *program, Dice *dice, Buf *out);
/* What the schedule of a faster program has in place of the slower one's: a sentence, or nothing. */
void rows_put_changes(const RowsProgram *was, const RowsProgram *is, Dice *dice, Buf *out);
void rows_put_schedule(const RowsProgram *program, Buf *out);
const char *rows_pipe_text(enum NpuPipe pipe); /* "copies in" */

/* ---- errors (break.c) ---- */

typedef struct RowsBreak {
    const char *class; /* "STAGE" */
    const char *code;  /* meant to be raised; "": wrong values */
    const char *cause;
    uint32_t line; /* of the right program */
    Str right;     /* that line */
    bool all;      /* other lines changed, too */
    Str craft;     /* the broken program */
} RowsBreak;

uint32_t rows_break_count(void);
const char *rows_break_code(uint32_t row);
const char *rows_break_class(uint32_t row);
/* False: there is no place for this error in the program. */
bool rows_break(Arena *arena, Str craft, uint32_t row, const NpuChip *chip, Dice *dice,
                RowsBreak *broken);

/* Errors of AscendC kernels (twin_break.def). */
uint32_t rows_twin_break_count(void);
const char *rows_twin_break_code(uint32_t row);
const char *rows_twin_break_class(uint32_t row);
bool rows_twin_break(Arena *arena, Str text, uint32_t row, Dice *dice, RowsBreak *broken);

/* ---- which errors are wanted (wants.c) ---- */

enum { ROWS_WANTS = 384 }; /* rows of both tables, at most */

uint32_t rows_wants(void);
const char *rows_want_name(uint32_t want);
/* Whether a row of this class and code counts for the want; wrong values have class VALUE and code "". */
bool rows_want_is(uint32_t want, Str class, Str code);
/* The want that a row counts for; ROWS_WANTS: none. */
uint32_t rows_want_of(RowsKind kind, Str class, Str code);
/* The first table row of its want. */
bool rows_want_is_first(uint32_t want);
/* What the row of this turn is to show: one want after the other, wrong values several times. */
uint32_t rows_want_at(uint64_t turn, bool twin);
RowsLeast rows_want_least(const uint64_t rows[ROWS_WANTS], bool twin);

/* ---- AscendC (ascendc.c) ---- */

/* A right program in one of NPUKernelBench's two forms, without comments; the kernel is the last text.
 * FORM_NPUKB_KERNEL: a kernel for the sizes of the graph; false: it needs a workspace, or the program does not take
 * the sizes. FORM_NPUKB_FULL: tiling header, host and kernel for all sizes. */
bool rows_ascendc(Arena *arena, Str craft, EvalForm form, const Graph *graph, const NpuChip *chip,
                  EvalCandidate *candidate);
Str rows_kernel_text(const EvalCandidate *candidate);
/* The candidate with `kernel` in place of its own kernel text. */
EvalCandidate rows_with_kernel(Arena *arena, const EvalCandidate *candidate, Str kernel);
bool rows_judge_ascendc(Arena *arena, const EvalCandidate *candidate, const EvalReference *ref,
                        const NpuChip *chip, Verdict *verdict, Diag *diag);
void rows_ask_ascendc(EvalForm form, const Graph *graph, const NpuChip *chip, Buf *out);
void rows_put_ascendc(const EvalCandidate *candidate, Buf *out);

/* ---- suites (near.c) ---- */

typedef enum RowsNear { NEAR_NOT, NEAR_GRAPH, NEAR_WORDS } RowsNear;

/* The suites' tasks: graphs without sizes, and runs of 13 tokens of their files. */
typedef struct RowsSuites {
    Arena arena;
    Map graphs, grams;
    uint32_t files, unread;
} RowsSuites;

/* `dir`: a folder of model files. */
void rows_suites_add(RowsSuites *suites, const char *dir);
RowsNear rows_near(Arena *arena, const RowsSuites *suites, const RowsTask *task);

/* ---- rows (kinds.c, explain.c) ---- */

/* Rows that a thousand tasks are thought to give before it is known; kind.def. */
uint32_t rows_kind_yield(RowsKind kind);
/* Rows of whole operators: they go to long.jsonl. */
bool rows_kind_is_long(RowsKind kind);

typedef struct Row Row;
struct Row {
    RowsKind kind;
    const char *number; /* of the task, and of the row among its rows: "17-2" */
    const char *family, *flow, *dtype, *error, *code, *verdict;
    uint32_t families; /* as RowsTask has them */
    uint32_t operators;
    uint64_t graph, schedule; /* hashes */
    Str prompt, answer;
    Str worse; /* an answer that fails, to the task's own prompt; empty: none */
    Str task;  /* that prompt, and the right answer to it */
    Str right;
    Row *twin; /* the row in AscendC: at most two */
    uint32_t twins;
    bool is_twin;
};

/* Why a task gave no rows, or fewer. */
typedef enum RowsDrop {
#define DROP(name, text) DROP_##name,
#include "rows/drop.def"
#undef DROP
    DROP_COUNT
} RowsDrop;

typedef struct RowsMade {
    Arena *arena;
    VEC(Row) rows;
    uint32_t dropped[DROP_COUNT];               /* of the task as a whole */
    uint32_t of_kind[ROWS_EXPLAIN][DROP_COUNT]; /* of its rows of a kind */
    const char *contradiction;                  /* NULL: none */
    uint64_t
        turn[ROWS_EXPLAIN]; /* tasks that were asked for the kind before; it decides the errors */
} RowsMade;

typedef struct RowsMaker {
    const NpuChip *chip;
    const RowsSuites *suites;
    uint64_t seed;
    uint32_t text_share; /* of a hundred rows, judged through the text, too */
    bool brief, twins;   /* as RowsSpec has them */
} RowsMaker;

/* Units of work (base/meter.h) that a task has for other tasks in its place. */
enum { ROWS_SEEK_UNITS = 3000000 };
/* The task of a number, with its program's fixed sizes, and its cases. False: it gives no rows; the cases are
 * to be freed either way. */
bool rows_prepare(Arena *arena, const RowsMaker *maker, uint64_t number, RowsTask *task,
                  RowsCases *cases);
/* All rows of one task of the kinds whose bit is set. */
void rows_of_task(const RowsMaker *maker, uint64_t number, uint32_t kinds, RowsMade *made);
/* Questions from the tables, and their answers. */
typedef struct RowsFacts RowsFacts;
const RowsFacts *rows_facts(Arena *arena);
uint32_t rows_fact_count(const RowsFacts *facts);
Row rows_explain(Arena *arena, const RowsFacts *facts, uint32_t number);

/* ---- rows as text (wire.c) ---- */

/* What the index keeps of a row. */
typedef struct RowsEntry {
    RowsKind kind;
    Str key, text; /* 16 digits each: graph, schedule and error; prompt and answer */
    Str family, flow, dtype, error, code, verdict;
    uint32_t operators, bytes;
} RowsEntry;

/* One line of the index, then the row as JSON, then its preference and labels where it has them:
 *     R <index line> / {"id": ...} / P {...} / L {...} / L {...} / T kind, hash, {"id": ...} */
void rows_put_row(const RowsSpec *spec, const Row *row, Buf *out);
bool rows_entry_parse(Str line, RowsEntry *entry);
/* The line of a twin, also in the index, where it ends with the hash. */
bool rows_twin_parse(Str line, RowsKind *kind, Str *text, Str *json);

/* ---- counts and the card (card.c) ---- */

typedef struct RowsCount {
    const char *name;
    uint64_t n;
} RowsCount;

enum {
    COUNT_KIND,
    COUNT_FAMILY,
    COUNT_FLOW,
    COUNT_DTYPE,
    COUNT_OPERATORS,
    COUNT_ERROR,
    COUNT_CODE,
    COUNT_VERDICT,
    COUNT_LENGTH,
    COUNT_TABLES
};

typedef struct RowsCounts {
    Arena *arena;
    VEC(RowsCount) of[COUNT_TABLES];
    uint64_t kinds[ROWS_KINDS];
    uint64_t wants[ROWS_WANTS]; /* rows of each error */
    uint64_t twins[ROWS_KINDS]; /* of the rows, in twins.jsonl and long.jsonl */
    uint64_t rows, dropped[DROP_COUNT];
    uint64_t tasks;           /* drawn */
    uint64_t tokens;          /* of the packed file */
    uint64_t over, long_over; /* too long: rows of rows.jsonl, and others */
} RowsCounts;

void counts_add(RowsCounts *counts, const RowsEntry *entry);
void counts_card(const RowsCounts *counts, const RowsSpec *spec, const RowsSuites *suites,
                 Buf *out);

/* ---- tokens (pack.c) ---- */

#define ROWS_BYTES ((size_t)16 << 30) /* of a file of rows, at most */

enum { ROWS_TOKENS = 2048, ROWS_LONG_TOKENS = 8192 };

/* Trains or reads the tokenizer, and writes to the folder `to`: rows.jsonl without rows of more than ROWS_TOKENS tokens,
 * twins.jsonl without them, long.jsonl with these and without rows of more than ROWS_LONG_TOKENS; what is left of
 * rows.jsonl as tokens. */
bool rows_pack(Arena *arena, const RowsSpec *spec, const char *to, RowsCounts *counts, Diag *diag);

/* ---- files (files.c) ---- */

enum {
    FILE_ROWS,
    FILE_PREFERENCES,
    FILE_LABELS,
    FILE_INDEX,
    FILE_LONG,
    FILE_TWINS,
    ROWS_FILES,
};

typedef struct RowsFiles {
    const char *dir;
    FILE *file[ROWS_FILES];
    int lock;
} RowsFiles;

/* Makes the directory and holds it for this process. `state` is what was saved last; empty: a new run. */
bool rows_files_hold(Arena *arena, RowsFiles *files, Str *state, Diag *diag);
/* For appending, each cut to the bytes that the state says are good. */
bool rows_files_open(Arena *arena, RowsFiles *files, const int64_t good[ROWS_FILES], Diag *diag);
/* The bytes of each, as the state has them. */
void rows_files_put(const RowsFiles *files, Buf *out);
/* What was appended is on the disk when the new state is there. False: the state before stands. */
bool rows_files_save(Arena *arena, const RowsFiles *files, Buf *state, Diag *diag);
void rows_files_close(RowsFiles *files);
void rows_files_release(RowsFiles *files);
/* Moves the files of packed/ up, card.md last. A move that was broken off goes on. */
bool rows_files_move(Arena *arena, const RowsFiles *files, Diag *diag);

#endif
