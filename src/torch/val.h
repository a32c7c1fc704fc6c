/* Values of the static evaluator: Python's, with tensors standing for graph values. */
#ifndef TORCH_VAL_H
#define TORCH_VAL_H

#include "base/map.h"
#include "graph/graph.h"
#include "torch/py.h"

typedef enum PvTag {
    PV_NONE,
    PV_BOOL,
    PV_INT,
    PV_FLOAT,
    PV_STR,
    PV_LIST,
    PV_TUPLE,
    PV_SET,
    PV_DICT,
    PV_SLICE,
    PV_ELLIPSIS,
    PV_RANGE,
    PV_FUNC,
    PV_METHOD,
    PV_CLASS,
    PV_OBJECT,
    PV_TENSOR,
    PV_DTYPE,
    PV_NAME,  /* something of a library, by its dotted path: a namespace, function or class */
    PV_OPAQUE /* a thing that is only passed around: device, generator, exception */
} PvTag;

typedef struct PyVal PyVal;
typedef struct PyList PyList;
typedef struct PyDict PyDict;
typedef struct PySlice PySlice;
typedef struct PyRange PyRange;
typedef struct PyFunc PyFunc;
typedef struct PyMethod PyMethod;
typedef struct PyClass PyClass;
typedef struct PyObject PyObject;
typedef struct TVar TVar;

struct PyVal {
    PvTag tag;
    union {
        bool b;
        int64_t i;
        double f;
        const Str *str; /* STR, NAME, OPAQUE */
        PyList *list;   /* LIST, TUPLE, SET */
        PyDict *dict;
        PySlice *slice;
        PyRange *range;
        PyFunc *func;
        PyMethod *method;
        PyClass *cls;
        PyObject *object;
        TVar *tensor;
        DType dtype;
    };
};

typedef VEC(PyVal) PyVals;

struct PyList {
    PyVals items;
};

typedef struct PyEntry {
    PyVal key, value;
    bool gone;
} PyEntry;

/* Keeps insertion order; keys that are text are found through the map. */
struct PyDict {
    VEC(PyEntry) entries;
    Map names;
    uint32_t live;
};

struct PySlice {
    PyVal start, stop, step;
};

struct PyRange {
    int64_t start, stop, step, count;
};

/* Variables of one scope; looked up outwards. */
typedef struct Env Env;
struct Env {
    Env *outer, *globals;
    Map names;
    PyVals slots;
    Map outer_names; /* declared global or nonlocal: value 0 global, 1 nonlocal */
};

struct PyFunc {
    const Py *def; /* DEF or LAMBDA */
    Env *env;
    PyClass *owner;  /* class whose body defines it; NULL: none */
    PyVal *defaults; /* one for each parameter */
    bool is_static, is_property, is_class_method;
    PyFunc *setter; /* of a property; NULL: it is only read */
};

struct PyMethod {
    PyVal self;
    PyVal function; /* FUNC, or NAME for a method of a built-in type */
};

struct PyClass {
    Str name;
    Span at;      /* {0}: not of the file */
    PyVals bases; /* CLASS or NAME */
    PyDict attrs;
    VEC(Str) fields;                   /* names its body annotates, in order */
    bool is_record, is_tuple, is_enum; /* record.h */
};

struct NnRow;
struct PyObject {
    PyClass *cls;           /* NULL: of a library class alone */
    const struct NnRow *nn; /* the library module it is or derives from; NULL: a plain object */
    PyDict attrs;
    const char *path; /* where it hangs in the model, "features.0" */
};

static inline PyVal pv_none(void) { return (PyVal){.tag = PV_NONE}; }
static inline PyVal pv_bool(bool b) { return (PyVal){.tag = PV_BOOL, .b = b}; }
static inline PyVal pv_int(int64_t i) { return (PyVal){.tag = PV_INT, .i = i}; }
static inline PyVal pv_float(double f) { return (PyVal){.tag = PV_FLOAT, .f = f}; }
static inline PyVal pv_dtype(DType d) { return (PyVal){.tag = PV_DTYPE, .dtype = d}; }
static inline PyVal pv_tensor(TVar *t) { return (PyVal){.tag = PV_TENSOR, .tensor = t}; }
static inline bool pv_is_none(PyVal v) { return v.tag == PV_NONE; }
static inline bool pv_is_seq(PyVal v)
{
    return v.tag == PV_LIST || v.tag == PV_TUPLE || v.tag == PV_SET;
}
static inline bool pv_is_int(PyVal v) { return v.tag == PV_INT || v.tag == PV_BOOL; }
static inline bool pv_is_number(PyVal v) { return pv_is_int(v) || v.tag == PV_FLOAT; }
static inline int64_t pv_as_int(PyVal v) { return v.tag == PV_BOOL ? v.b : v.i; }
static inline double pv_as_double(PyVal v)
{
    return v.tag == PV_FLOAT ? v.f : (double)pv_as_int(v);
}

PyVal pv_str(Arena *arena, Str s);
PyVal pv_name(Arena *arena, Str path);
PyVal pv_opaque(Arena *arena, const char *what);
PyVal pv_list(Arena *arena, PvTag tag); /* LIST, TUPLE or SET, empty */
PyVal pv_dict(Arena *arena);
PyVal pv_tuple_of(Arena *arena, uint32_t count, const PyVal *items);
void pv_push(Arena *arena, PyVal list, PyVal item);

bool dict_get(const PyDict *dict, PyVal key, PyVal *value);
void dict_set(Arena *arena, PyDict *dict, PyVal key, PyVal value);
bool dict_remove(PyDict *dict, PyVal key);
bool dict_get_name(const PyDict *dict, Str name, PyVal *value);
void dict_set_name(Arena *arena, PyDict *dict, Str name, PyVal value);

bool pv_same(PyVal a, PyVal b);  /* `is` */
bool pv_equal(PyVal a, PyVal b); /* `==`; tensors only by identity */
const char *pv_type_name(PyVal v);
/* str(v), or repr(v) when quoted. */
void pv_print(PyVal v, bool quoted, Buf *out);

bool env_get(const Env *env, Str name, PyVal *value);
void env_set(Arena *arena, Env *env, Str name, PyVal value);
Env *env_new(Arena *arena, Env *outer);

#endif
