/* Inside src/torch: library modules (nn.Conv2d, ...) and the library function table. */
#ifndef TORCH_NN_H
#define TORCH_NN_H

#include "torch/tvar.h"

enum { FN_MAX_ARGS = 20 };

/* Where a function of fn.def is found. */
enum {
    IN_TORCH = 1,    /* torch.f */
    IN_F = 2,        /* torch.nn.functional.f */
    IN_METHOD = 4,   /* tensor.f, and tensor.f_ in place */
    IN_LINALG = 8,   /* torch.linalg.f */
    IN_SPECIAL = 16, /* torch.special.f, scipy.special.f */
    IN_ATEN = 32,    /* torch.ops.aten.f */
    IN_NUMPY = 64,   /* numpy.f */
    IN_FFT = 128,    /* torch.fft.f */
    IN_INIT = 256,   /* torch.nn.init.f */
    IN_NN = 512      /* torch.nn.f */
};

typedef struct Args Args;
typedef PyVal FnBody(Args *a);

typedef struct FnRow {
    const char *name;
    unsigned where;
    const char *params; /* "input dim=None *sizes": names, defaults, the rest as a tuple */
    FnBody *body;
    int kind; /* for bodies that serve several rows */
} FnRow;

extern const FnRow fn_rows[];
extern const uint32_t fn_count;

/* Arguments bound to the parameters of a row. */
struct Args {
    Interp *it;
    Span at;
    const char *name;
    int kind;
    PyVal v[FN_MAX_ARGS];
    uint32_t n; /* parameters */
    bool given[FN_MAX_ARGS];
    PyObject *self; /* module calls */
};

/* Binds positional and keyword arguments to `params`; defaults are filled in. Unknown keywords
 * that change no value (device, requires_grad, ...) are dropped. */
void args_bind(Args *a, const char *params, const CallArgs *call);
uint32_t params_count(const char *params);
/* Name of parameter `index`. */
Str params_name(const char *params, uint32_t index);

PyVal fn_call(Interp *it, Span at, const FnRow *row, const CallArgs *call);
/* The name at the end of a dotted path, and what stands before it. */
Str path_name(Str path, Str *space);
const FnRow *fn_find(Str path);        /* "torch.relu" */
const FnRow *fn_find_method(Str name); /* "relu", "add_" gives add */
/* Applies the function of this name in torch.nn.functional or torch, which must exist. */
PyVal fn_apply(Interp *it, Span at, const char *path, uint32_t n, const PyVal *v);

/* Reading bound arguments. */
ValueId arg_value(Args *a, uint32_t i);    /* tensor or number */
ValueId arg_optional(Args *a, uint32_t i); /* None: VALUE_NONE */
TVar *arg_tensor(Args *a, uint32_t i);
int64_t arg_int(Args *a, uint32_t i);
double arg_float(Args *a, uint32_t i);
bool arg_bool(Args *a, uint32_t i);
Str arg_str(Args *a, uint32_t i);
bool arg_none(const Args *a, uint32_t i);
const char *fn_tensor_type(DType dtype); /* "torch.FloatTensor" */
DType arg_dtype(Args *a, uint32_t i, DType fallback);
/* An int or a sequence of them. */
uint32_t arg_ints(Args *a, uint32_t i, int64_t out[GRAPH_MAX_RANK]);
/* An int for all of n, or n of them. */
void arg_ntuple(Args *a, uint32_t i, uint32_t n, int64_t out[GRAPH_MAX_RANK]);
Shape arg_shape(Args *a, uint32_t i);          /* sizes, as one sequence or several ints */
int arg_dim(Args *a, uint32_t i, Shape shape); /* 0..rank-1 */
ATTR_NORETURN void arg_no_dtype(Args *a, Str name);
ATTR_NORETURN void arg_fail(Args *a, const char *format, ...) ATTR_PRINTF(2, 3);
PyVal out1(Args *a, ValueId id);
PyVal out_tuple(Args *a, ValueId first, uint32_t count);

typedef struct NnRow NnRow;
typedef void NnMake(Args *a); /* a->self has its arguments as attributes already */
typedef PyVal NnCall(Args *a, const CallArgs *call);

struct NnRow {
    const char *name; /* "Conv2d" */
    const char *params;
    NnMake *make;         /* NULL: nothing to make */
    NnCall *call;         /* NULL: by `function` */
    const char *function; /* functional form; arguments of the same name come from attributes */
    int kind;
};

extern const NnRow nn_rows[];
extern const uint32_t nn_count;

const NnRow *nn_find(Str path); /* "torch.nn.Conv2d" */
PyVal nn_construct(Interp *it, Span at, const NnRow *row, const CallArgs *call);
void nn_init_object(Interp *it, Span at, PyObject *self, const NnRow *row, const CallArgs *call);
PyVal nn_call_row(Interp *it, Span at, PyObject *self, const NnRow *row, const CallArgs *call);
bool module_has_method(const PyObject *object, Str name);
PyVal module_method(Interp *it, Span at, PyObject *object, Str name, const CallArgs *call);
PyVal module_index(Interp *it, Span at, PyObject *object, PyVal index);
void module_set_index(Interp *it, Span at, PyObject *object, PyVal index, PyVal value);
/* Gives every parameter and buffer below `object` its dotted name. */
void module_name_all(Interp *it, PyObject *object, const char *prefix, int depth);

/* einops.rearrange, repeat and reduce; false: some other name. */
bool einops_call(Interp *it, Span at, Str path, const CallArgs *args, PyVal *result);

PyVal self_get(Args *a, const char *name); /* attribute of a->self, None when absent */
void self_set(Args *a, const char *name, PyVal value);
int64_t self_int(Args *a, const char *name);
double self_float(Args *a, const char *name);
bool self_bool(Args *a, const char *name);
ValueId self_value(Args *a, const char *name); /* tensor attribute, VALUE_NONE when None */
/* New parameter drawn uniformly from [-bound, bound). */
void self_param_uniform(Args *a, const char *name, Shape shape, double bound);
void self_param_full(Args *a, const char *name, Shape shape, double value);
void self_buffer_full(Args *a, const char *name, Shape shape, DType dtype, double value);

#endif
