/* Which tasks are matrix products. In: a graph. Out: a Product, or that it is none. */
#include "gen/plan/cube/product.h"

/* A tensor as one side of a product: rows, columns, and what stands before them. */
typedef struct Side {
    ValueId value;
    bool turned;
    Shape shape; /* as the product sees it */
} Side;

/* Swaps the last two dimensions and leaves the others. */
static bool swaps_last(const Node *node)
{
    const Attr *dims = node_attr(node, AT_DIMS);
    if (!dims || dims->ints.len < 2)
        return false;
    for (uint32_t i = 0; i + 2 < dims->ints.len; i++)
        if (dims->ints.at[i] != (int64_t)i)
            return false;
    return dims->ints.at[dims->ints.len - 2] == (int64_t)dims->ints.len - 1 &&
           dims->ints.at[dims->ints.len - 1] == (int64_t)dims->ints.len - 2;
}

/* The tensor behind transpositions; `seen` counts the nodes. */
static Side read_side(const Graph *g, ValueId id, uint32_t *seen)
{
    Side s = {.value = id, .shape = graph_value(g, id)->shape};
    for (const Node *node = graph_maker(g, s.value);
         node && node->op == OP_PERMUTE && swaps_last(node); node = graph_maker(g, s.value)) {
        s.value = node->in[0];
        s.turned = !s.turned;
        ++*seen;
    }
    return s;
}

static int64_t batch_of(Shape s)
{
    int64_t n = 1;
    for (int i = 0; i + 2 < s.rank; i++)
        n *= s.dim[i];
    return n;
}

/* Whether both shapes have equal dimensions before the last two. */
static bool same_batch(Shape a, Shape b)
{
    if (a.rank != b.rank)
        return false;
    for (int i = 0; i + 2 < a.rank; i++)
        if (a.dim[i] != b.dim[i])
            return false;
    return true;
}

/* A vector is a row on the left, a column on the right: both lie as [1, k]. */
static void as_matrix(Side *s, bool right)
{
    if (s->shape.rank != 1)
        return;
    int64_t k = s->shape.dim[0];
    s->shape = (Shape){2, {right ? k : 1, right ? 1 : k}};
    s->turned = right;
}

/* Many rows and one matrix are one product of all rows. */
static bool read_batch(Product *p, const Side *a, const Side *b)
{
    int64_t of_a = batch_of(a->shape), of_b = batch_of(b->shape);
    if (of_a == 1 && of_b == 1) {
        p->batch = 1;
    } else if (of_b == 1 && !a->turned) {
        p->batch = 1;
        p->m *= of_a;
    } else if (of_a == 1 || of_b == 1 || same_batch(a->shape, b->shape)) {
        p->batch = of_a > of_b ? of_a : of_b;
        p->a.batched = of_a > 1;
        p->b.batched = of_b > 1;
    } else {
        return false;
    }
    return true;
}

/* y of one column lies like its transpose: the columns of the other side become the rows of y, and a
 * vector is never loaded element by element. */
static void turn_around(Product *p)
{
    if (p->n != 1 || p->m == 1 || p->bias != VALUE_NONE)
        return;
    ProductOperand a = p->a, b = p->b;
    p->a = (ProductOperand){b.value, !b.turned, b.batched};
    p->b = (ProductOperand){a.value, !a.turned, a.batched};
    p->a.turned = false; /* [1, k] and [k, 1] lie alike */
    p->n = p->m;
    p->m = 1;
}

static bool types_fit(const Graph *g, const Product *p)
{
    DType a = graph_value(g, p->a.value)->dtype, b = graph_value(g, p->b.value)->dtype;
    DType y = graph_value(g, p->y)->dtype;
    bool half = a == DT_F16 || a == DT_BF16;
    return a == b && (half || a == DT_F32) && (a == y || y == DT_F32);
}

static bool is_tensor(const Graph *g, ValueId id)
{
    ValueKind kind = graph_value(g, id)->kind;
    return kind != VALUE_NODE && kind != VALUE_CONST;
}

bool product_read(const Graph *graph, Product *p)
{
    const Node *node = graph->nodes.len ? &graph->nodes.at[graph->nodes.len - 1] : NULL;
    uint32_t seen = 1;
    if (!node || (node->op != OP_MATMUL && node->op != OP_LINEAR) || graph->outputs.len != 1 ||
        graph->outputs.at[0] != node->out)
        return false;
    Side a = read_side(graph, node->in[0], &seen), b = read_side(graph, node->in[1], &seen);
    as_matrix(&a, false);
    bool linear = node->op == OP_LINEAR;
    if (linear && b.shape.rank == 2) {
        b.turned = !b.turned;
        b.shape = (Shape){2, {b.shape.dim[1], b.shape.dim[0]}};
    } else {
        as_matrix(&b, true);
    }
    if (a.shape.rank < 2 || b.shape.rank < 2 || seen != graph->nodes.len)
        return false;
    *p = (Product){.a = {a.value, a.turned, false},
                   .b = {b.value, b.turned, false},
                   .bias = linear && node->n_in > 2 ? node->in[2] : VALUE_NONE,
                   .y = node->out,
                   .m = a.shape.dim[a.shape.rank - 2],
                   .n = b.shape.dim[b.shape.rank - 1],
                   .k = a.shape.dim[a.shape.rank - 1]};
    if (!read_batch(p, &a, &b) || !is_tensor(graph, p->a.value) || !is_tensor(graph, p->b.value) ||
        !types_fit(graph, p))
        return false;
    p->dtype = graph_value(graph, p->a.value)->dtype;
    p->out = graph_value(graph, p->y)->dtype;
    p->hf32 = node_bool(node, AT_HF32);
    if (p->bias != VALUE_NONE) {
        p->bias_dtype = graph_value(graph, p->bias)->dtype;
        if (!is_tensor(graph, p->bias) || p->bias_dtype != p->dtype || p->batch != 1)
            return false;
    }
    turn_around(p);
    return true;
}
