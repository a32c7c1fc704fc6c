/* Inside src/torch: the static evaluator. It runs a model file's constructor and forward over
 * PyVals; every tensor operation becomes a node of the graph in hand.
 *
 *     module level, __init__, get_inputs   write the source graph
 *     forward                              writes the main graph; what it uses of the source
 *                                          graph becomes an input, parameter or buffer
 *
 * The first error ends the run: interp_fail writes a diagnostic and jumps back to
 * torch_read. Everything lives in one arena, so there is nothing to unwind.
 */
#ifndef TORCH_INTERP_H
#define TORCH_INTERP_H

#include "torch/torch.h"
#include "torch/val.h"
#include <setjmp.h>

enum {
    INTERP_MAX_DEPTH = 2500,    /* expressions, statements and calls inside each other */
    INTERP_MAX_ITEMS = 4 << 20, /* of one list, string or constant tensor */
};

/* The view a tensor is of another: how to make it, and how to write back through it. */
typedef enum ViewKind { VIEW_NO, VIEW_SLICE, VIEW_RESHAPE, VIEW_PERMUTE, VIEW_OTHER } ViewKind;

typedef enum TRole { ROLE_PLAIN, ROLE_INPUT, ROLE_PARAM, ROLE_BUFFER } TRole;

/* A tensor as Python sees it: a name for a value that in-place writes replace. */
struct TVar {
    int graph; /* 0 source, 1 main */
    ValueId id;
    uint32_t version, base_version;
    TVar *base; /* what it is a view of; NULL: nothing */
    ViewKind view;
    NodeSpec recipe; /* view: the node that makes it from its base (attributes in the arena) */
    bool strided;    /* not contiguous in PyTorch: reshape copies */
    TRole role;
    bool requires_grad;
    bool array; /* NumPy's: its size is a number */
    const char *name;
};

/* An override for an integer literal of the file: scaling and --set work through these. */
typedef struct Knob {
    const Py *literal;
    int64_t value;
} Knob;

/* What is known of a value's elements while reading (data.c). */
typedef struct DataSlot {
    const void *data; /* its elements, once computed; NULL: not yet, or too large to keep */
    uint32_t epoch;   /* of the last extraction that copied it */
    ValueId copy;     /* its number there */
} DataSlot;

/* What is known of a value as rows that a mask picks (masked.h). */
typedef struct MaskedRows {
    bool seen, rows; /* looked at; it is such */
    ValueId mask, whole;
} MaskedRows;

/* A value of the main graph that forward looked at, and what it found. */
typedef struct Outcome {
    ValueId id;
    const void *data; /* NULL: too large to keep */
} Outcome;

typedef struct Interp {
    Arena *arena;
    Diag *diag;
    jmp_buf fail;
    Graph *graphs[2];
    int graph;                /* which one is written now */
    VEC(ValueId) imported;    /* source value id -> main value id + 1, 0: not yet */
    VEC(const TVar *) owners; /* source value id -> the operand it is; NULL: none */
    VEC(DataSlot) data[2];    /* by value of each graph */
    uint32_t data_epoch;
    Env *globals;
    const Knob *knobs;
    uint32_t n_knobs;
    const struct KnobList *sizes; /* the knobs by name */
    uint64_t steps, max_steps;
    size_t max_bytes;
    uint32_t depth;
    int64_t stream;    /* of the next random node */
    PyVal result;      /* of the return statement just run */
    const char *scope; /* module path in hand */
    Span at;           /* of the statement or call in hand */
    uint64_t seed;
    Str case_text;    /* what open() gives */
    PyVal param;      /* a table's row, as a dict; None: there is none */
    const char *path; /* of the model file */
    VEC(TorchOperand) operands;
    VEC(TorchOperand) numbers;
    bool narrow;
    const TorchNumber *given; /* TorchOptions.numbers */
    uint32_t n_given;
    const TorchOutside *outside; /* NULL: none */
    uint64_t compared;           /* hash of the numbers that were compared so far */
    uint32_t outside_calls;
    bool again;             /* forward is called once more */
    bool no_data;           /* data-dependent values are refused */
    bool alone;             /* forward gives one tensor, not a list of one */
    const char *kept;       /* where the model keeps a result for its next call; NULL */
    DType float_type;       /* of tensors made without a dtype */
    bool used_data;         /* some shape or branch came from values */
    bool in_place;          /* some tensor was written to */
    VEC(Outcome) outcomes;  /* what forward found when it looked at values */
    VEC(TorchLook) looks;   /* numbers and branches among these */
    bool masks;             /* forward picks elements by a mask */
    VEC(MaskedRows) masked; /* by value of the main graph */
    const char *defining;   /* the library function of defined.def that is being read; NULL: none */
    Str raised;             /* the class of the current exception, where it is known */
    uint32_t trying;        /* 'try' statements around, whose handlers would catch an import */
} Interp;

typedef struct CallArgs {
    uint32_t n, n_kw;
    PyVal *v;
    Str *kw_names;
    PyVal *kw;
} CallArgs;

/* Ends the run. `code` T010 Python error, T011 not supported, T012 limit, T013 raised by the
 * file, T014 needs data. */
ATTR_NORETURN void interp_fail(Interp *it, Span at, const char *code, const char *format, ...)
    ATTR_PRINTF(4, 5);
ATTR_NORETURN void interp_stop(Interp *it); /* a diagnostic was already written */
void interp_step(Interp *it, uint64_t cost, Span at);
void interp_enter(Interp *it, Span at); /* one level deeper */
static inline void interp_leave(Interp *it) { it->depth--; }

/* stmt.c */
typedef enum Flow { FLOW_NEXT, FLOW_BREAK, FLOW_CONTINUE, FLOW_RETURN } Flow;
Flow interp_block(Interp *it, Env *env, const Py *block);
void interp_assign(Interp *it, Env *env, const Py *target, PyVal value);

/* expr.c */
PyVal interp_eval(Interp *it, Env *env, const Py *e);
PyVal interp_binary(Interp *it, Span at, PyOp op, PyVal a, PyVal b);
PyVal interp_compare(Interp *it, Span at, PyOp op, PyVal a, PyVal b);
bool interp_truth(Interp *it, Span at, PyVal v);
/* Every item of what can be iterated, as a list (ranges, dicts, tensors, modules too). */
PyVal interp_items(Interp *it, Span at, PyVal v);

/* format.c */
PyVal interp_format(Interp *it, Span at, PyVal v, Str conversion, Str spec);
PyVal interp_percent(Interp *it, Span at, Str text, PyVal values); /* text % values */

/* call.c */
PyVal interp_call(Interp *it, Span at, PyVal callee, const CallArgs *args);
PyVal interp_call1(Interp *it, Span at, PyVal callee, PyVal arg);
PyVal interp_attr(Interp *it, Span at, PyVal owner, Str name);
bool interp_find_attr(Interp *it, Span at, PyVal owner, Str name, PyVal *value);
void interp_set_attr(Interp *it, Span at, PyVal owner, Str name, PyVal value);
bool interp_class_attr(const PyClass *cls, Str name, PyVal *value, PyClass **owner);
/* What a call of a module runs: the object's own `forward` before that of its class. */
bool interp_forward(const PyObject *object, PyVal *function);
bool interp_is_instance(Interp *it, Span at, PyVal v, PyVal type);
PyVal interp_new_class(Interp *it, Env *env, const Py *def);
PyVal interp_new_func(Interp *it, Env *env, const Py *def);

/* builtin.c, method.c: Python's own functions, and methods of str, list, dict */
bool builtin_call(Interp *it, Span at, Str name, const CallArgs *args, PyVal *result);
bool builtin_exists(Str name);
PyVal builtin_method(Interp *it, Span at, PyVal self, Str name, const CallArgs *args);
bool builtin_has_method(PyVal self, Str name);
bool name_constant(Interp *it, Str path, PyVal *value); /* torch.float32, math.pi, ... */

/* index.c */
PyVal interp_index(Interp *it, Span at, PyVal owner, PyVal index);
void interp_set_index(Interp *it, Span at, PyVal owner, PyVal index, PyVal value);

/* Numbers out of values, or an error naming `what`. */
int64_t need_int(Interp *it, Span at, PyVal v, const char *what);
double need_double(Interp *it, Span at, PyVal v, const char *what);
Str need_str(Interp *it, Span at, PyVal v, const char *what);

#endif
