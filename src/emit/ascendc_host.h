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

/* struct SoftmaxPlan and PlanSoftmax(), one function for each variant whose text differs. */
void host_print_plan(Host *h);
uint32_t host_same_plan(Arena *arena, const EmitInput *in, uint32_t variant);
const char *host_plan_name(const Host *h, uint32_t variant);
const char *host_plan_call(const Host *h, uint32_t variant); /* with the names of its parameters */
void host_print_tiling_header(Host *h);
void host_print_operator(Host *h, bool inline_plan);

void project_print_json(Host *h);

/* ---- torch (ascendc_torch.c) ---- */

void torch_print_binding(Host *h);
void torch_print_setup(Host *h);
void torch_print_test(Host *h);
void torch_print_board(Host *h);
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
