/* The host side of an operator, piece by piece: for the project, the direct launch and the answers
 * of MultiKernelBench. */
#ifndef EMIT_ASCENDC_HOST_H
#define EMIT_ASCENDC_HOST_H

#include "emit/ascendc_int.h"

typedef VEC(AscField) EmitFields;

typedef struct Host {
    Arena *arena;
    const EmitInput *in;
    const AscProgram *p; /* the variant being written */
    uint32_t variant;
    Pen *pen;
    Printer pr;
    uint32_t last_line;
} Host;

Host host_for(Arena *arena, const EmitInput *in, uint32_t variant, Pen *pen);
bool host_check(const EmitInput *in, Diag *diag);
const char *host_op_type(const Host *h); /* "Softmax" */
const char *host_op_name(const Host *h); /* "softmax" */
const char *host_ge_dtype(DType d);      /* "DT_FLOAT" */
/* Asserts that must hold before the shapes of outputs, which divide, can be computed: the next one
 * from statement *at of the host on. */
bool host_next_guard(const Host *h, uint32_t *at, const IrStmt **guard);
bool host_find_dim(const IrProgram *ir, IrVarId dim, uint32_t *operand, uint32_t *axis);

/* ---- the plan (ascendc_plan.c) ---- */

/* struct SoftmaxPlan and PlanSoftmax(), one function for each variant whose text differs. */
void host_print_plan(Host *h);
uint32_t host_same_plan(Arena *arena, const EmitInput *in, uint32_t variant);
const char *host_plan_name(const Host *h, uint32_t variant);
const char *host_plan_call(const Host *h, uint32_t variant); /* with the names of its parameters */
extern const char *const host_chip_args[IR_CHIP_COUNT]; /* parameters that are facts of the chip */
void host_fields(const Host *h, EmitFields *out);       /* every field some variant has */
void host_print_tiling_header(Host *h);

/* ---- op_host (ascendc_host.c, ascendc_infer.c) ---- */

void host_print_operator(Host *h, bool inline_plan);
void host_print_inference(Host *h);
void host_print_definition(Host *h);
void host_print_shapes(Host *h, bool infer);        /* the sizes, from what the context holds */
void host_print_derived(Host *h, const IrVar *dim); /* "const int64_t rows = b * s;" */
void host_print_attrs(Host *h);
void host_print_list_len(Host *h, uint32_t operand);
uint32_t host_input_index(const IrProgram *ir, uint32_t operand);
/* The contexts count tensors that are there: an input after an optional one or a list is asked for
 * by its place in the definition. */
bool host_place_moves(const IrProgram *ir, uint32_t operand);
/* The list that gives lists that are written their length and shapes; operand_count: none. */
uint32_t host_first_list(const IrProgram *ir);
/* Where the output is among the tensors: "1", after a list "1 + xsLen". */
const char *host_output_place(const Host *h, uint32_t operand);

void project_print_json(Host *h);

/* ---- torch (ascendc_torch.c) ---- */

void torch_print_binding(Host *h);
/* A part of a binding, and before it the helpers that it calls. */
void torch_print_with_helpers(Host *h, void (*part)(Host *h));
void torch_print_setup(Host *h);
void torch_print_module(Host *h);
void torch_print_test(Host *h);
/* Whether a caller in C++ can be written: not for operators with lists or optional operands
 * (ascendc_example.c). */
bool example_has(const EmitInput *in);
void example_print_main(Host *h);
void example_print_cmake(Host *h);
/* Prints the CMake files by which the project is built (ascendc_build.c). */
void build_print_cmake(Host *h);
void build_print_presets(Host *h);
void build_print_script(Host *h);
void build_print_board(Host *h);
/* "const at::Tensor &x, double eps" and the same without types. */
const char *torch_params(const Host *h);
const char *torch_args(const Host *h);
void torch_print_outputs(Host *h, const char *like); /* at::Tensor y = at::empty(...); */
const char *torch_result_type(const Host *h);
const char *torch_result(const Host *h);
void torch_print_sizes(Host *h); /* the dims, from the tensors */

/* ---- targets ---- */

EmitFunction emit_project, emit_direct, emit_mkb, emit_mkb_direct;

#endif
