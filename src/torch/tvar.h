/* Inside src/torch: tensors as Python names them, over the values of the graph. */
#ifndef TORCH_TVAR_H
#define TORCH_TVAR_H

#include "torch/interp.h"

/* Attributes being collected for a node; lists and text stay where they are until the node
 * copies them. */
typedef struct Attrs {
    Attr at[16];
    uint32_t n;
} Attrs;

void attrs_int(Attrs *attrs, AttrKey key, int64_t value);
void attrs_float(Attrs *attrs, AttrKey key, double value);
void attrs_bool(Attrs *attrs, AttrKey key, bool value); /* false is left out */
void attrs_ints(Attrs *attrs, AttrKey key, const int64_t *ints, uint32_t len);
void attrs_shape(Attrs *attrs, AttrKey key, const Shape *shape);
void attrs_text(Attrs *attrs, AttrKey key, Str text);
void attrs_dtype(Attrs *attrs, DType dtype);

/* Adds a node to the graph in hand; ends the run when a shape rule is broken. */
ValueId emit(Interp *it, Span at, Op op, int kind, uint32_t n_in, const ValueId *in,
             const Attrs *attrs, uint32_t n_out);
ValueId emit1(Interp *it, Span at, Op op, int kind, ValueId x, const Attrs *attrs);
ValueId emit2(Interp *it, Span at, Op op, int kind, ValueId x, ValueId y, const Attrs *attrs);
ValueId emit3(Interp *it, Span at, Op op, ValueId x, ValueId y, ValueId z, const Attrs *attrs);

const Value *emit_info(Interp *it, ValueId id);                 /* of the graph in hand */
ValueId emit_cast(Interp *it, Span at, ValueId x, DType dtype); /* nothing when it is that */
ValueId emit_reshape(Interp *it, Span at, ValueId x, Shape shape);
ValueId emit_full(Interp *it, Span at, Shape shape, DType dtype, double value);
ValueId emit_random(Interp *it, Span at, int kind, Shape shape, DType dtype, double a, double b,
                    double c);

PyVal tensor_of(Interp *it, ValueId id); /* a new tensor of the graph in hand */
ValueId tvar_read(Interp *it, TVar *t);  /* its value in the graph in hand */
/* Gives an input, parameter or registered buffer a value of its own in the source graph: neither a
 * constant, which would be folded into kernels, nor another operand's. */
void tvar_own(Interp *it, Span at, TVar *t);
Shape tvar_shape(Interp *it, TVar *t);
DType tvar_dtype(Interp *it, TVar *t);
/* Its sizes as a tuple; a tensor where only values tell one (masked.h). */
PyVal tensor_sizes(Interp *it, Span at, TVar *t);
/* Replaces what t and all it is a view of hold. `id` has t's shape and dtype. */
void tvar_write(Interp *it, Span at, TVar *t, ValueId id);
/* A view of t by one node; writes to it change t where the kind allows. */
PyVal tensor_view(Interp *it, Span at, TVar *t, ViewKind view, Op op, const Attrs *attrs);
PyVal tensor_slice(Interp *it, Span at, TVar *t, int dim, int64_t start, int64_t end, int64_t step);
PyVal tensor_reshape(Interp *it, Span at, TVar *t, Shape shape);
PyVal tensor_permute(Interp *it, Span at, TVar *t, const int64_t *dims, int rank);
PyVal tensor_expand(Interp *it, Span at, TVar *t, Shape shape);

/* A tensor, number or nested list as a value of the graph in hand. */
ValueId value_of(Interp *it, Span at, PyVal v);
TVar *need_tensor(Interp *it, Span at, PyVal v, const char *what);
/* torch.tensor: nested lists of numbers. dtype DT_COUNT: by the items. */
PyVal tensor_literal(Interp *it, Span at, PyVal v, DType dtype);

/* Ends the run where integers would be divided by the number 0. */
void tensor_check_divisor(Interp *it, Span at, int kind, ValueId x, ValueId y);
PyVal tensor_binary(Interp *it, Span at, PyOp op, PyVal a, PyVal b);
PyVal tensor_compare(Interp *it, Span at, PyOp op, PyVal a, PyVal b);
PyVal tensor_unary_op(Interp *it, Span at, PyOp op, PyVal v);
/* Writes `result` into t (cast and expanded); gives t back. */
PyVal tensor_inplace(Interp *it, Span at, TVar *t, PyVal result);
PyVal tensor_rows(Interp *it, Span at, TVar *t); /* iteration over dim 0 */
PyVal tensor_select(Interp *it, Span at, TVar *t, int dim, int64_t index);
PyVal tensor_index(Interp *it, Span at, TVar *t, PyVal index);
void tensor_set_index(Interp *it, Span at, TVar *t, PyVal index, PyVal value);

/* Values that the reference evaluator computes while the file is read (data.c). */
struct Tensor;
struct Tensor *tensor_data(Interp *it, Span at, TVar *t, const char *why); /* caller frees */
PyVal tensor_item(Interp *it, Span at, TVar *t);
/* The largest element of an integer tensor; advice NULL: nothing is read by it but whether it fits. */
int64_t tensor_largest(Interp *it, Span at, ValueId x, const char *advice);
bool tensor_truth(Interp *it, Span at, TVar *t);
/* What .item(), float() and int() give to arithmetic: a number where no input stands behind it, else
 * the tensor itself, without dims. */
PyVal tensor_number(Interp *it, Span at, TVar *t);
PyVal tensor_to_list(Interp *it, Span at, TVar *t);
int64_t tensor_count_true(Interp *it, Span at, ValueId id);

/* Attributes and methods of tensors; false: there is none of that name. */
bool tensor_attr(Interp *it, Span at, TVar *t, Str name, PyVal *value);

/* nn.c */
PyVal module_items(Interp *it, Span at, PyObject *object);

#endif
