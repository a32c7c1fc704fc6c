/* Inside src/torch: Python's own functions (builtin.c) and bits of its libraries on plain values
 * (builtin_lib.c); the table of names stands in builtin.c. */
#ifndef TORCH_BUILTIN_H
#define TORCH_BUILTIN_H

#include "torch/nn.h"

/* A call in hand. */
typedef struct B {
    Interp *it;
    Span at;
    const char *name;
    const CallArgs *args;
} B;

typedef PyVal BuiltinBody(B *b);

ATTR_NORETURN void builtin_fail(B *b, const char *why);
PyVal builtin_arg(B *b, uint32_t i); /* positional; an error when it is missing */
bool builtin_keyword(const B *b, const char *name, PyVal *value);
PyVal builtin_items(B *b, PyVal v);

BuiltinBody b_math;
BuiltinBody b_log;
BuiltinBody b_rounding;
BuiltinBody b_isinf;
BuiltinBody b_isnan;
BuiltinBody b_prod;
BuiltinBody b_gcd;
BuiltinBody b_itertools_repeat;
BuiltinBody b_chain;
BuiltinBody b_product;
BuiltinBody b_broadcast_shapes;
BuiltinBody b_checkpoint;
BuiltinBody b_finfo;
BuiltinBody b_iinfo;
BuiltinBody b_open;
BuiltinBody b_json_loads;
BuiltinBody b_eval;
BuiltinBody b_json_load;
BuiltinBody b_path_join;
BuiltinBody b_dirname;
BuiltinBody b_basename;
BuiltinBody b_splitext;
BuiltinBody b_distribution;
BuiltinBody b_true;
BuiltinBody b_random_int;
BuiltinBody b_random_float;
BuiltinBody b_numpy_uniform;
BuiltinBody b_numpy_normal;
BuiltinBody b_numpy_integers;
BuiltinBody b_choice;
BuiltinBody b_dataclass;
BuiltinBody b_einops_layer;
BuiltinBody b_field;
BuiltinBody b_namedtuple;
BuiltinBody b_partial;
BuiltinBody b_promote_types;
BuiltinBody b_reduce;
BuiltinBody b_sparse;
BuiltinBody b_autograd_grad;
BuiltinBody b_none;

#endif
