/* Elementwise kernels: loops over stretches of elements of one of three compute classes. */
#ifndef GRAPH_EVAL_ELEM_H
#define GRAPH_EVAL_ELEM_H

#include "graph/eval_int.h"

typedef enum ElemClass { ELEM_F32, ELEM_F64, ELEM_I64, ELEM_CLASSES } ElemClass;

typedef struct ElemParams {
    double a, b, c;
    bool has_b, has_c; /* nan_to_num's limits */
    DType dtype;       /* of the result */
} ElemParams;

/* in[0], in[1], in[2] hold n elements of the step's class; results that are truth values are
 * int64_t whatever the class, others have the class. */
typedef void ElemFn(int64_t n, const ElemParams *p, const void *const *in, void *out);

/* NULL where a kind does not exist for a class. */
extern ElemFn *const elem_unary[UNARY_COUNT][ELEM_CLASSES];
extern ElemFn *const elem_binary[BINARY_COUNT][ELEM_CLASSES];
extern ElemFn *const elem_clamp[ELEM_CLASSES]; /* x, low, high */
extern ElemFn *const elem_clamp_low[ELEM_CLASSES], *const elem_clamp_high[ELEM_CLASSES];
extern ElemFn *const elem_where[ELEM_CLASSES]; /* cond (int64_t), x, y */
extern ElemFn *const elem_lerp[ELEM_CLASSES], *const elem_addcmul[ELEM_CLASSES];
extern ElemFn *const elem_addcdiv[ELEM_CLASSES];
extern ElemFn *const elem_nonzero[ELEM_CLASSES]; /* x != 0 */

/* Whether the result is a truth value. */
bool elem_unary_truth(int kind);
bool elem_binary_truth(int kind);

/* Complex numbers, one node at a time (eval_complex.c). */
bool eval_complex_unary(EvalNode *e);
bool eval_complex_binary(EvalNode *e);

#endif
