/* Targets: a lowered program becomes files.
 *
 *     EmitInput in = {.file = "softmax.craft", .source = text};
 *     vec_push(arena, &in.variants, lower_program(...));         one for each dtype variant
 *     EmitFiles files = {0};
 *     emit_target(STR("project"))->emit(arena, &in, &files, &diag);
 *     emit_write(arena, dir, &files, &diag);
 *
 * Deterministic: equal input gives equal bytes; no time, path or version of this machine.
 */
#ifndef EMIT_EMIT_H
#define EMIT_EMIT_H

#include "lower/lower.h"

typedef struct EmitFile {
    const char *path; /* relative, with '/' */
    Str text;
    bool executable;
} EmitFile;

typedef VEC(EmitFile) EmitFiles;

/* The Python model that the operator takes the place of, for forms that have a model of their own: it
 * is constructed and called as that one, and hands its own parameters to the operator. */
typedef struct EmitModel {
    Str name;        /* of the task's class */
    Str prelude;     /* lines before the class: imports, what the constructor names */
    Str bases;       /* "nn.Module"; empty: torch.nn.Module */
    Str constructor; /* lines of __init__, indented; empty: it takes anything and holds nothing */
    Str parameters;  /* of forward: "self, gate, x" */
    const char *const *given;      /* for each operand of the operator: "gate", "self.weight" */
    const char *const *attributes; /* for each attribute: "eps", "1e-06" */
} EmitModel;

typedef struct EmitInput {
    const char *file; /* of the Craft text: its last part stands in comments */
    Str source;       /* for the comments; may be empty */
    bool custom;      /* names end in _custom and Custom, as MultiKernelBench wants them */
    const char *type; /* of the operator: "GeluQuant"; NULL: made from the program's name */
    bool lines; /* kernel text says with #line which Craft line each of its lines comes from */
    /* The operands that bindings return, in the order of the model's results; NULL: as they stand */
    const uint32_t *results;
    /* One shape's tiling: its numbers stand in the kernel as literals; NULL: the kernel reads them. */
    const struct EmitTiling *fixed;
    const EmitModel *model;     /* NULL: forward takes what the operator takes */
    VEC(AscProgram *) variants; /* of one Craft file, in its order; at least one */
} EmitInput;

typedef bool EmitFunction(Arena *arena, const EmitInput *in, EmitFiles *out, Diag *diag);

typedef struct Target {
    const char *name;
    const char *about;
    EmitFunction *emit;
} Target;

extern const Target emit_targets[];  /* ends with a row without name */
const Target *emit_target(Str name); /* NULL: none of that name */

/* The type of the operator that the files define. From the program's name, "relu" gives ReluCustom where
 * CANN has a Relu of its own. */
const char *emit_op_type(Arena *arena, const EmitInput *in);
/* The class of torch/module.py that takes the model's place. It has no name of the model's own: a file is often
 * called as its class is. */
const char *emit_module_class(Arena *arena, const EmitInput *in);
/* Its name in files, the kernel's entry and the header of its C interface, by CANN's own rule. */
const char *emit_op_name(Arena *arena, const EmitInput *in);
/* That rule (opbuild's ConvertToSnakeCase): AveragePooling1d is average_pooling1d. */
const char *emit_snake(Arena *arena, const char *type);
bool emit_is_builtin(const char *type); /* CANN has an operator of this type */
/* "GeluQuant": a capital first, letters and digits. */
bool emit_is_op_type(const char *text);

/* The kernel text alone, as op_kernel has it: for the judge and for slices. */
void emit_kernel_text(Arena *arena, const EmitInput *in, Buf *out);
/* What the pass added, as AscendC: the tiling, the class, the functions, all. */
void emit_slice(Arena *arena, const EmitInput *in, LowerPass pass, Buf *out);

/* Whether emit_write will take the directory, before there is something to write; makes it. */
bool emit_may_write(Arena *arena, const char *dir, Diag *diag);
/* Writes the files under `dir`, which is new, empty, or one that this function wrote before (it
 * keeps a list in `.acraft`); anything else is left alone and refused with E098. */
bool emit_write(Arena *arena, const char *dir, const EmitFiles *files, Diag *diag);

#endif
