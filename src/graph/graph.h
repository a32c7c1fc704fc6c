/* The graph: what a task computes, as operators over typed values.
 *
 *     source graph                      main graph
 *     random.uniform [8,4] ──out 0──▶  %0 input  x f32[8,4] ─┐
 *     random.uniform [3,4] ──out 1──▶  %1 param  w f32[3,4] ─┴▶ linear ─▶ %2 f32[8,3] ─▶ out 0
 *
 * Values are SSA: each is a constant, an input, a parameter, a buffer, or the output of one
 * node; nodes stand in evaluation order. Views and in-place forms of the model file are
 * already gone: a write makes a new value. The values of inputs, parameters and buffers are
 * the outputs of a second graph (`source`), made of `random`, `full`, `arange` and the like,
 * so that `torch.rand(8, 4) * 2 > 0.5` needs nothing of its own.
 *
 * Operators are the rows of op.def. A node has a kind (`unary.relu`, `reduce.sum`) where its
 * row names a kind table, and attributes; an absent optional input is VALUE_NONE.
 * Python numbers are rank-0 constants with `weak` set: they take part in promotion as
 * PyTorch's wrapped numbers do.
 */
#ifndef GRAPH_GRAPH_H
#define GRAPH_GRAPH_H

#include "base/diag.h"
#include "base/dtype.h"

enum { GRAPH_MAX_RANK = 8 };

typedef struct Shape {
    int rank;
    int64_t dim[GRAPH_MAX_RANK];
} Shape;

typedef uint32_t ValueId;
#define VALUE_NONE UINT32_MAX
#define NODE_NONE UINT32_MAX

typedef enum Op {
#define OP(name, ...) OP_##name,
#include "graph/op.def"
#undef OP
    OP_COUNT
} Op;

typedef enum AttrKey {
#define ATTR(name, ...) AT_##name,
#include "graph/op.def"
#undef ATTR
    AT_COUNT
} AttrKey;

typedef enum AttrType {
    ATTR_INT,
    ATTR_FLOAT,
    ATTR_BOOL,
    ATTR_INTS,
    ATTR_TEXT,
    ATTR_DTYPE
} AttrType;

/* Kinds, one enum for each kind table of op.def: UNARY_relu, BINARY_add, REDUCE_sum, ... */
#define KIND(table, name, ...) table##_##name,
#define KIND_TABLE(table)     \
    typedef enum table##_Kind \
    {
#define KIND_END(table) \
    table##_COUNT       \
    }                   \
    table##_Kind;
#include "graph/op.def"
#undef KIND
#undef KIND_TABLE
#undef KIND_END

typedef struct Attr {
    AttrKey key;
    union {
        int64_t i; /* ATTR_INT, ATTR_BOOL */
        double f;  /* ATTR_FLOAT */
        DType dtype;
        Str text;
        struct {
            const int64_t *at;
            uint32_t len;
        } ints;
    };
} Attr;

typedef enum ValueKind {
    VALUE_CONST,  /* `data` holds its elements */
    VALUE_INPUT,  /* argument of forward */
    VALUE_PARAM,  /* nn.Parameter */
    VALUE_BUFFER, /* register_buffer, and tensors kept as plain attributes */
    VALUE_NODE    /* output of `node` */
} ValueKind;

/* Between which numbers elements lie (bounds.h). */
typedef struct GraphBounds {
    bool known;
    double low, high;
} GraphBounds;

typedef struct Value {
    DType dtype;
    Shape shape;
    ValueKind kind;
    bool weak;          /* a Python number: F64, I64 or BOOL, rank 0 */
    uint32_t node;      /* VALUE_NODE: its producer, else NODE_NONE */
    uint32_t source;    /* input, param, buffer: which output of the source graph it is */
    const char *name;   /* "x", "conv1.weight"; NULL: none */
    const void *data;   /* VALUE_CONST: row-major elements of `dtype` */
    GraphBounds bounds; /* not known until graph_bounds says them */
    /* Bit a: numbers of the graph were computed from the size of axis a, so that the graph is another
     * one at other sizes (torch_mark_held, for inputs and parameters; rules that rewrite graphs) */
    uint32_t held_axes;
} Value;

typedef struct Node {
    Op op;
    uint16_t kind;  /* of the row's kind table; 0 where there is none */
    uint16_t n_out; /* outputs are the values out, out+1, ... */
    uint32_t n_in;
    ValueId *in; /* VALUE_NONE: absent optional input */
    ValueId out;
    uint32_t n_attr;
    Attr *attr;        /* ordered by key */
    Span at;           /* line of the model file */
    const char *scope; /* module path, "features.0"; NULL: top */
} Node;

typedef struct GraphOperand GraphOperand; /* operand.h */
typedef struct Graph Graph;
struct Graph {
    Arena *arena;
    const char *name;
    VEC(Value) values;
    VEC(Node) nodes;
    VEC(ValueId) inputs; /* in the order of forward's arguments */
    VEC(ValueId) params; /* parameters and buffers, in order of construction */
    VEC(ValueId) outputs;
    VEC(const char *) notes;    /* what was read other than literally ("dropout ... identity") */
    Graph *source;              /* NULL for a source graph itself */
    VEC(GraphOperand) operands; /* as the file's own table lists them; empty: it has none */
};

/* What a node is made from. n_out 0 means the row's least number of outputs. */
typedef struct NodeSpec {
    Op op;
    int kind;
    uint32_t n_in, n_out, n_attr;
    const ValueId *in;
    const Attr *attr;
    Span at;
    const char *scope;
} NodeSpec;

typedef struct OpRow {
    const char *name;
    int min_in, max_in; /* max_in -1: any number */
    int min_out, max_out;
    const char *const *kinds; /* names of its kinds; NULL: none */
    int n_kinds;
    uint64_t attrs; /* bit AT_x: the attribute is allowed */
    const char *meaning;
} OpRow;

typedef struct AttrRow {
    const char *name;
    AttrType type;
} AttrRow;

extern const OpRow op_rows[OP_COUNT];
extern const AttrRow attr_rows[AT_COUNT];

/* What an operator that only moves elements moves: the MOVE rows of op.def. */
enum { MOVE_ALL = 1, MOVE_VIEW = 2, MOVE_FILLS = 4, MOVE_BY = 8 };
#define MOVE_EVERY UINT32_MAX
typedef struct OpMove {
    uint32_t inputs; /* bit i: elements of input i (MOVE_EVERY: of all); 0: it does not only move */
    uint32_t flags;
} OpMove;
OpMove op_move(const Node *node);
/* Elements of inputs and nothing else. */
bool op_only_moves(const Node *node);

/* Each element of the result comes from one element of each input, broadcast. */
bool op_is_elementwise(Op op);
bool graph_any_empty(const Graph *graph); /* some value has no elements */
/* Where a tensor stands among the task's operands: inputs, parameters, then constants. */
uint32_t graph_place(const Graph *graph, ValueId id);

Graph *graph_new(Arena *arena, const char *name);
/* Copies the spec, checks arity and attributes, infers shapes and dtypes of the outputs.
 * False with an error at spec->at when a rule is broken. *out is the first output. */
bool graph_add(Graph *graph, const NodeSpec *spec, Diag *diag, ValueId *out);
ValueId graph_add_value(Graph *graph, Value value);    /* const, input, param, buffer */
ValueId graph_const_int(Graph *graph, int64_t value);  /* weak */
ValueId graph_const_float(Graph *graph, double value); /* weak */
ValueId graph_const_bool(Graph *graph, bool value);    /* weak */
static inline const Value *graph_value(const Graph *graph, ValueId id)
{
    return &graph->values.at[id];
}
/* The node that made it; NULL: none did. */
static inline const Node *graph_maker(const Graph *graph, ValueId id)
{
    const Value *v = graph_value(graph, id);
    return v->kind == VALUE_NODE ? &graph->nodes.at[v->node] : NULL;
}
bool graph_is_output(const Graph *graph, ValueId id);
uint32_t graph_readers(const Graph *graph,
                       ValueId id); /* how many operands and outputs are this value */

/* Attributes; the fallback is returned when the node does not carry it. */
const Attr *node_attr(const Node *node, AttrKey key); /* NULL: absent */
int64_t node_int(const Node *node, AttrKey key, int64_t fallback);
double node_float(const Node *node, AttrKey key, double fallback);
bool node_bool(const Node *node, AttrKey key); /* absent: false */
DType node_dtype(const Node *node, AttrKey key, DType fallback);
Str node_text(const Node *node, AttrKey key); /* absent: empty */
/* Both sides of an einsum's equation, "bij,j" and "bi"; false: it does not name its result. */
bool node_equation(const Node *node, Str *operands, Str *result);
const char *node_kind_name(const Node *node); /* "" where there is none */

/* Shapes. */
bool shape_equal(Shape a, Shape b);
bool shape_count(Shape shape, int64_t *count); /* elements; false: over 2^62 */
bool shape_bytes(Shape shape, DType dtype, int64_t *bytes);
bool shape_broadcast(Shape a, Shape b, Shape *out);
/* dim in -rank..rank-1 to 0..rank-1 (rank 0 counts as 1); false when outside. */
bool shape_dim(Shape shape, int64_t dim, int *out);
void shape_print(Shape shape, Buf *out); /* "[8,4]" */

/* PyTorch's promotion. */
DType dtype_promote(DType a, DType b);
/* Common dtype of several values, weak numbers and rank-0 tensors giving way; skips
 * VALUE_NONE. What binary operators compute in. */
DType graph_promote(const Graph *graph, const ValueId *ids, uint32_t count);

/* A copy without what no output rests on; inputs stay. */
Graph *graph_prune(Arena *arena, const Graph *graph);
/* A copy in which equal nodes are computed once; values keep their numbers. */
Graph *graph_share(Arena *arena, const Graph *graph);

/* Bytes of every value held at once, and the largest single one. False: over 2^62. */
bool graph_bytes(const Graph *graph, int64_t *all, int64_t *largest);

/* Arithmetic operations (a multiply-add counts two) and least bytes moved: inputs,
 * parameters, constants read once, outputs written once. */
typedef struct GraphCost {
    double flops, bytes;
} GraphCost;
GraphCost graph_cost(const Graph *graph);

/* Products of one element of a convolution's result, times the outputs of its group. */
int64_t graph_conv_products(const Graph *graph, const Node *conv);
enum { GRAPH_FEW_PRODUCTS = 49 }; /* of these the vector unit does as many, exactly */
/* Convolutions of f32 round their factors to HF32, but for those of few products. False: there is none. */
bool graph_use_hf32(Graph *graph);

/* Text form: prints, and parses back to a graph that prints the same bytes. */
void graph_print(const Graph *graph, Buf *out);
/* One value's line of it, or its node's, without its place in the file and without the line's end. */
void graph_print_value(const Graph *graph, ValueId id, Buf *out);
Graph *graph_parse(Arena *arena, Str text, Diag *diag); /* NULL: errors in diag */

/* The same computation, written once: dead nodes gone, constants folded, commutative inputs
 * ordered, no-op views removed, values renumbered, names and places dropped. Two graphs mean
 * the same when the texts of their normal forms are equal. */
Graph *graph_normal(Arena *arena, const Graph *graph);

/* The same computation, without how its tensors are held: parameters, buffers and arguments are
 * inputs, those nothing reads are gone, one-element tensors have rank 0, nothing says how they
 * are drawn. With `loose`, results come without their last cast. Names are kept. */
Graph *graph_plain(Arena *arena, const Graph *graph, bool loose);
/* Puts the inputs of a plain graph in the order of another's: with `names` those of the same
 * name, dtype and shape belong together, the others by their order among inputs of the same
 * dtype and shape. False: they do not pair off. */
bool graph_align(Arena *arena, const Graph *ours, Graph *theirs, bool names);

#endif
