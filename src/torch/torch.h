/* Reads PyTorch model files (KernelBench's form) into graphs, without Python.
 *
 *     class Model(nn.Module): ...          torch_read     TorchTask
 *     def get_inputs(): ...           ───────────────▶   graph of Model(*init)(*inputs),
 *     def get_init_inputs(): ...                          its source graph, notes, knobs
 *
 * The file is evaluated statically, by our own evaluator of a Python subset; nothing is
 * executed. What it does not understand is an error at its line that names it. Steps and
 * memory are limited, so that any text ends in a graph or a diagnostic.
 */
#ifndef TORCH_TORCH_H
#define TORCH_TORCH_H

#include "base/file.h"
#include "graph/graph.h"
#include "graph/operand.h"

/* An integer of the file that says a size: an assignment at module level, or a literal in
 * get_inputs or get_init_inputs. */
typedef struct TorchKnob {
    const char *name; /* "batch_size", "shape[1]", "get_inputs:12:30" */
    int64_t value;    /* as the file has it, or as it was set */
    int64_t original;
    Span at;   /* {0}: it stands in a case */
    bool deep; /* it stands inside a class: a size of last resort */
} TorchKnob;

typedef struct TorchSet {
    const char *name; /* of a knob, or of a module-level variable */
    int64_t value;
} TorchSet;

/* Another value for an argument of constructor or forward that is a float. */
typedef struct TorchNumber {
    const char *name;
    double value;
} TorchNumber;

/* Cases: typed inputs listed beside a model file, read with it one at a time.
 *   NAME.json beside NAME.py: one JSON object on each line; the file's own get_inputs or
 *             get_input_groups opens it, and gets the line of the case in hand
 *   NAME.csv  beside NAME.py: a table with ';' between columns; a row reaches get_inputs(case)
 *             as a dict. A field is a number, True, False, a list in brackets, else text; an
 *             empty one is missing. Its integers are the knobs: "shape[0]", "n"
 *   test_cases.csv and prepare_inputs.py beside module.py: such a table, too, but lists stay
 *             text; a row reaches get_inputs(param) and get_init_inputs(param) as a dict */
typedef struct TorchCases {
    VEC(Str) lines;
    Str header;    /* of a table: its column names; empty for JSON */
    Str companion; /* source of prepare_inputs.py; empty: none */
} TorchCases;

/* A model whose forward calls functions outside PyTorch (a binding that launches kernels): it is
 * constructed and called as the task's own, and each such call is handed over.
 *
 *     class ModelNew: forward(x) ─▶ call("lib.relu", x) ─▶ shapes ─▶ a new input of the graph
 *
 * The graph then is not pruned: calls name its values. */
typedef enum TorchArgKind {
    TORCH_ARG_NONE,
    TORCH_ARG_BOOL,
    TORCH_ARG_INT,
    TORCH_ARG_FLOAT,
    TORCH_ARG_TEXT,
    TORCH_ARG_TENSOR,
    TORCH_ARG_LIST
} TorchArgKind;

typedef struct TorchArg TorchArg;
struct TorchArg {
    TorchArgKind kind;
    const char *name; /* given by keyword; "": by place */
    int64_t i;
    double f;
    Str text;
    ValueId value; /* of the main graph: before the call, or as its result */
    Shape shape;
    DType dtype;
    uint32_t tensor; /* counts the tensors among the arguments */
    const TorchArg *list;
    uint32_t count;
};

typedef struct TorchCall {
    const char *function; /* "custom_ops_lib.relu" */
    Span at;
    const TorchArg *args;
    uint32_t arg_count, tensor_count;
    const Graph *graph, *source; /* as far as they are written */
    /* Filled by whoever serves the call. */
    TorchArg result;
    bool *written;     /* for each tensor among the arguments: the call changes it */
    ValueId *after;    /* ... and this is its value then (filled by the reader) */
    const char *error; /* why it could not be served */
    bool again;        /* of a further call of forward, to see whether it does the same */
} TorchCall;

typedef struct TorchOutside {
    const char *path, *class_name;
    Str source; /* empty: the class stands in the task's own file */
    /* Gives a copy of the call that lasts, with the results described; NULL: call->error. */
    TorchCall *(*call)(void *context, TorchCall *call);
    /* NULL: not called. Gets two numbers that are compared, or one that is asked whether it is 0. */
    void (*compared)(void *context, Span at, double a, double b);
    void *context;
} TorchOutside;

typedef struct TorchOptions {
    uint64_t seed; /* for values the file's control flow depends on */
    const TorchSet *sets;
    uint32_t n_sets;
    const TorchNumber *numbers;
    uint32_t n_numbers;
    const TorchCases *cases; /* NULL or without lines: the file's own inputs */
    uint32_t case_index;
    bool hf32;                   /* convolutions of f32 round their factors (graph_use_hf32) */
    bool no_data;                /* refuse files whose shapes or branches depend on data */
    DType float_type;            /* of tensors whose file names none: torch.set_default_dtype */
    bool narrow;                 /* floats given to constructor and forward have f32's precision, as
                                    an operator's attributes have; those of a table always do */
    uint64_t max_steps;          /* 0: 20 million */
    size_t max_bytes;            /* of the evaluator's memory; 0: 1 GiB */
    const TorchOutside *outside; /* NULL: the task's own class Model */
} TorchOptions;

/* One operand of an op definition, from the table in a model file's docstring, and what the case
 * in hand has for it. The table begins after a blank line; one operand on each line, in the
 * definition's order:
 *
 *     in    x      f16 f32 bf16     a tensor; a dtype for each combination declared ("f16*3": 3)
 *     opt   bias   f16 f32 bf16     a tensor or None
 *     list  xs     f16 f32 bf16     a list of tensors
 *     out   y      f16 f32 bf16     a result
 *     outs  ys     f16 f32 bf16     a list of results
 *     mut   x      f16 f32 bf16     a result that replaces the input of this name; the kernel has
 *                                   no argument of its own for it
 *     attr  eps    float 1e-5       bool, int, float, text, ints or floats; its default, if any
 *
 * forward takes in, opt and list in this order, then attributes (those it leaves out have their
 * default), under these names; it returns out, outs and mut in this order. An `out` that has the
 * name of an input is an argument of the kernel, and the same memory. */
typedef GraphOperand TorchOperand;

/* A place where forward made Python decide by values of inputs or parameters: what was read holds
 * for the values drawn. */
typedef struct TorchLook {
    Span at;
    bool branch;        /* an if or a while; else a number that goes into the graph or a shape */
    const char *advice; /* what to write instead; NULL: nothing special */
} TorchLook;

typedef struct TorchTask {
    const char *name;     /* file name without .py; T for T/validation/module.py */
    const char *category; /* name of the directory around it */
    Graph *graph;         /* graph->source makes its inputs and parameters */
    VEC(TorchKnob) knobs;
    VEC(TorchOperand) operands; /* empty: the file has no such table */
    VEC(TorchOperand) numbers;  /* arguments of constructor and forward that are no tensors */
    bool in_place;              /* it writes into a tensor it has, an input perhaps */
    bool alone;                 /* forward gives one tensor, not a list of one */
    const char *kept; /* where a model with calls outside keeps a result for its next call; NULL */
    bool used_data;   /* some shape or branch came from the values drawn with this seed */
    /* What forward looked at while it was read, as outputs of a graph over the same source, and
     * what it found there: the graph is the task's wherever these hold. NULL: it never looked. */
    Graph *conditions;
    const void **outcomes; /* elements of each output, in its dtype; NULL: too large to keep */
    VEC(TorchLook) looks;  /* in the order of forward; a place may occur more than once */
    bool in_range;         /* no index drawn at random can lie outside what it indexes */
} TorchTask;

typedef enum TorchScale {
    SCALE_FULL,
    SCALE_MEDIUM, /* 512 MiB and 20 GFLOP */
    SCALE_SMALL,  /* 16 MiB and 0.2 GFLOP */
    SCALE_FUZZ,   /* as small, with odd sizes drawn by the seed */
    SCALE_TINY    /* 256 KiB and 4 MFLOP */
} TorchScale;
bool torch_scale_from_name(Str name, TorchScale *scale);
const char *torch_scale_name(TorchScale scale);

/* NULL with errors in diag. `path` gives name and category; the text is `source`. */
TorchTask *torch_read(Arena *arena, const char *path, Str source, const TorchOptions *options,
                      Diag *diag);
TorchTask *torch_read_file(Arena *arena, const char *path, const TorchOptions *options, Diag *diag);

/* A list of JSON objects, or a table. */
void torch_cases_lines(Arena *arena, Str text, TorchCases *cases);
void torch_cases_table(Arena *arena, Str text, TorchCases *cases);
/* Finds the cases of a model file; leaves `cases` empty when it has none. */
bool torch_cases(Arena *arena, const char *model_path, TorchCases *cases, Diag *diag);

/* What most callers want: the file with the cases beside it, at a scale. `options->cases` is not
 * looked at; `options->case_index` chooses the case. */
TorchTask *torch_open(Arena *arena, const char *path, const TorchOptions *options, TorchScale scale,
                      Diag *diag);
/* The operand of this name (an input before a result); NULL: there is none. */
const TorchOperand *torch_operand(const TorchTask *task, const char *name);

/* The model files below a directory, in order of path: Python files that define a class Model
 * and the inputs for it, themselves or in a file beside them. */
bool torch_suite(Arena *arena, const char *dir, NameList *paths, Diag *diag);

/* Marks the sizes of inputs and parameters that numbers of the graph were computed from
 * (Value.held_axes), by reading the file again at other sizes. */
void torch_mark_held(Arena *arena, const char *path, Str source, const TorchOptions *options,
                     TorchTask *task);

/* Reads the file with its sizes shrunk (fuzz: drawn) so that all values together stay under
 * the scale's budget while inference still holds. Sets in `options` are kept as they are. The
 * sizes of a case move when they stand in a NAME.csv; cases of other forms are read as they are. */
TorchTask *torch_read_scaled(Arena *arena, const char *path, Str source,
                             const TorchOptions *options, TorchScale scale, Diag *diag);
/* Whether the graph of other sizes is the same operator: windows and steps as they are, and no operand broadcast
 * along an axis where the full graph's is not. */
bool torch_same_operator(const Graph *full, const Graph *graph);

#endif
