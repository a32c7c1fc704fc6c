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

/* An integer of the file that says a size: an assignment at module level, or a literal in
 * get_inputs or get_init_inputs. */
typedef struct TorchKnob {
    const char *name; /* "batch_size", "shape[1]", "get_inputs:12:30" */
    int64_t value;    /* as the file has it, or as it was set */
    int64_t original;
    Span at;
} TorchKnob;

typedef struct TorchSet {
    const char *name; /* of a knob, or of a module-level variable */
    int64_t value;
} TorchSet;

/* Cases: typed inputs listed beside a model file, read with it one at a time.
 *   NAME.json beside NAME.py: one JSON object on each line; the file's own get_inputs or
 *             get_input_groups opens it, and gets the line of the case in hand
 *   test_cases.csv and prepare_inputs.py beside module.py: a table with ';' between columns; a
 *             row reaches get_inputs(param) and get_init_inputs(param) as a dict */
typedef struct TorchCases {
    VEC(Str) lines;
    Str header;    /* of a table: its column names; empty for JSON */
    Str companion; /* source of prepare_inputs.py; empty: none */
} TorchCases;

typedef struct TorchOptions {
    uint64_t seed; /* for values the file's control flow depends on */
    const TorchSet *sets;
    uint32_t n_sets;
    const TorchCases *cases; /* NULL or without lines: the file's own inputs */
    uint32_t case_index;
    bool no_data;       /* refuse files whose shapes or branches depend on data */
    uint64_t max_steps; /* 0: 20 million */
    size_t max_bytes;   /* of the evaluator's memory; 0: 1 GiB */
} TorchOptions;

typedef struct TorchTask {
    const char *name;     /* file name without .py; T for T/validation/module.py */
    const char *category; /* name of the directory around it */
    Graph *graph;         /* graph->source makes its inputs and parameters */
    VEC(TorchKnob) knobs;
    bool used_data; /* some shape or branch came from the values drawn with this seed */
    bool in_range;  /* no index drawn at random can lie outside what it indexes */
} TorchTask;

/* NULL with errors in diag. `path` gives name and category; the text is `source`. */
TorchTask *torch_read(Arena *arena, const char *path, Str source, const TorchOptions *options,
                      Diag *diag);
TorchTask *torch_read_file(Arena *arena, const char *path, const TorchOptions *options, Diag *diag);

/* Finds the cases of a model file; leaves `cases` empty when it has none. */
bool torch_cases(Arena *arena, const char *model_path, TorchCases *cases, Diag *diag);

/* The model files below a directory, in order of path: Python files that define a class Model
 * and the inputs for it, themselves or in a file beside them. */
bool torch_suite(Arena *arena, const char *dir, NameList *paths, Diag *diag);

typedef enum TorchScale { SCALE_FULL, SCALE_MEDIUM, SCALE_SMALL, SCALE_FUZZ } TorchScale;
bool torch_scale_from_name(Str name, TorchScale *scale);

/* Reads the file with its sizes shrunk (fuzz: drawn) so that all values together stay under
 * the scale's budget while inference still holds. Sets in `options` are kept as they are. */
TorchTask *torch_read_scaled(Arena *arena, const char *path, Str source,
                             const TorchOptions *options, TorchScale scale, Diag *diag);

#endif
