/* Inside of the evaluator: what eval.c hands to the operators in eval_*.c. */
#ifndef GRAPH_EVAL_INT_H
#define GRAPH_EVAL_INT_H

#include "graph/eval.h"

typedef struct Eval {
    const Graph *graph;
    Tensor **values;    /* by ValueId; NULL: not there yet, or no longer */
    uint32_t *last_use; /* by ValueId: index of the last node that reads it */
    bool *narrow;       /* by ValueId, when wide: held as f32 all the same; NULL: none */
    uint64_t seed;
    bool wide;
    const bool *rounds; /* by node: nudged before it is rounded; NULL: none */
    const EvalOptions *options;
    Diag *diag;
} Eval;

/* One node, its inputs (NULL: absent) and its outputs, made by the driver and not yet written. */
typedef struct EvalNode {
    Eval *eval;
    const Graph *graph;
    const Node *node;
    Tensor **in, **out;
} EvalNode;

/* False after an error in diag (eval_fail): values that cannot be worked with, no memory. */
typedef bool EvalOp(EvalNode *e);
#define OP(name, ...) EvalOp eval_op_##name;
#include "graph/op.def"
#undef OP

/* The operator, its first two inputs rounded to HF32. */
bool eval_in_hf32(EvalNode *e, EvalOp *op);

bool eval_fail(EvalNode *e, const char *format, ...) ATTR_PRINTF(2, 3);
/* An arena-less scratch tensor; NULL after an error in diag. */
Tensor *eval_scratch(EvalNode *e, DType dtype, Shape shape);
/* What a value of this dtype is held as. */
static inline DType eval_dtype(const Eval *eval, DType dtype)
{
    return eval->wide && dtype == DT_F32 ? DT_F64 : dtype;
}

/* What an operator with an optional attribute dtype works on: that, else its input as it is held. */
static inline DType eval_asked_dtype(const EvalNode *e)
{
    const Attr *asked = node_attr(e->node, AT_DTYPE);
    return asked ? eval_dtype(e->eval, asked->dtype) : e->in[0]->dtype;
}

/* Elementwise nodes run in groups, a stretch of elements at a time (eval_elem.c). */
bool eval_elem_is(const Eval *eval, const Node *node);
/* Nodes first .. first+count-1, all elementwise with outputs of one shape; makes the outputs
 * that are read after the group. */
bool eval_elem_run(Eval *eval, uint32_t first, uint32_t count);

/* A dimension as outer x n x inner. */
typedef struct Axis {
    int64_t outer, n, inner;
} Axis;
Axis eval_axis(Shape shape, int dim);
/* Dims first .. last-1 as one. */
Axis eval_axes(Shape shape, int first, int last);
int64_t eval_row_stride(Shape shape, int dim); /* product of the dims after it */
/* The attribute's dims as flags; absent or empty: all of them. */
void eval_dim_flags(const Node *node, AttrKey key, Shape shape, bool flags[GRAPH_MAX_RANK]);
int eval_dim(const Node *node, Shape shape, int64_t fallback);

/* out[i0, i1, ...] = in[offset + sum of i * stride]: the work of permute, slice, flip, ... */
void eval_copy_strided(const Tensor *in, int64_t offset, const int64_t *stride, Tensor *out);

/* The dtype floating work is done in: f64 for f64, f32 for the rest. */
static inline DType eval_compute_dtype(DType dtype)
{
    return dtype == DT_F64 || dtype_is_int(dtype) || dtype == DT_BOOL ? DT_F64 : DT_F32;
}
/* The tensor itself (with one more owner) or a converted copy; NULL after an error in diag. */
Tensor *eval_as(EvalNode *e, const Tensor *t, DType dtype);

/* Lines of doubles (eval_line.c); sums in a fixed order, several running sums side by side. */
double eval_sum(const double *x, int64_t n);
double eval_sum_squares(const double *x, int64_t n, double mean); /* of x - mean */
double eval_max(const double *x, int64_t n);                      /* nan wins; of nothing: -inf */
void eval_exp_minus(double *x, int64_t n, double minus);          /* exp(x - minus) */
void eval_softmax(double *x, int64_t n);
void eval_softmax_f32(float *x, int64_t n, float scale); /* of scale * x, for values held as f32 */
/* narrow: the sum of the exponentials and its logarithm are held in f32, as PyTorch does. */
void eval_log_softmax(double *x, int64_t n, bool narrow);

/* y[b] = a[b] @ b[b] (+ bias over columns) over `batch` matrices; strides in elements; dtype f32
 * or f64; c is dense rows of n. */
typedef struct EvalMatmul {
    DType dtype;
    int64_t m, n, k, batch;
    const void *a, *b;
    void *c;
    int64_t a_batch, a_row, a_col; /* a[i, l] */
    int64_t b_batch, b_row, b_col; /* b[l, j] */
    int64_t c_batch;
    const void *bias; /* [n], or NULL */
} EvalMatmul;
void eval_matmul(const EvalMatmul *m);

double eval_digamma(double x);
double eval_erfinv(double x);
double eval_spence(double x);

#endif
