/* Scans and the ways PyTorch code spells them. In: a scan, flip or cat node. Out: one scan:
 *
 *     flip(cumsum(flip(x)))                       a scan from the end
 *     cat(zeros, cumsum(x without its last))      a scan without the element itself
 */
#include "gen/plan/prim_int.h"

static uint32_t dim_of(const Node *node, int rank)
{
    const Attr *dims = node_attr(node, AT_DIMS);
    int64_t dim = dims && dims->ints.len == 1 ? dims->ints.at[0] : node_int(node, AT_DIM, 0);
    return (uint32_t)(dim < 0 ? dim + rank : dim);
}

static uint64_t axis_bit(PrimGraph *g, const PrimValue *v, uint32_t dim)
{
    return v->dim[dim] ? UINT64_C(1) << prim_axis(g, v->dim[dim]) : 0;
}

static PrimValue wrap(PrimGraph *g, Prim p, PrimValue x)
{
    p.n_arg = 1;
    p.arg[0] = x.prim;
    x.prim = prim_add(g, p);
    return x;
}

static bool make_flip(PrimGraph *g, const Node *node, PrimValue *out)
{
    const Attr *dims = node_attr(node, AT_DIMS);
    PrimValue x;
    if (!dims || dims->ints.len != 1)
        return prim_refuse(g, node, "only one dimension is planned");
    if (!prim_value(g, node->in[0], &x))
        return false;
    uint64_t over = axis_bit(g, &x, dim_of(node, x.rank));
    const Prim *p = &g->prims.at[x.prim];
    *out = x;
    if (p->op == PRIM_FLIP && p->over == over)
        out->prim = p->arg[0];
    else if (over)
        *out = wrap(g, (Prim){.op = PRIM_FLIP, .over = over}, x);
    return true;
}

static PrimReduce scan_reduce(uint16_t kind)
{
    switch (kind) {
    case SCAN_prod: return PRIM_PROD;
    case SCAN_max: return PRIM_MAX;
    case SCAN_min: return PRIM_MIN;
    case SCAN_logsumexp: return PRIM_LOGSUMEXP;
    default: return PRIM_SUM;
    }
}

static bool make_scan(PrimGraph *g, const Node *node, PrimValue *out)
{
    PrimValue x;
    bool sums = node->kind == SCAN_sum || node->kind == SCAN_prod;
    if (!prim_value(g, node->in[0], &x))
        return false;
    if (!sums && dim_of(node, x.rank) != (uint32_t)x.rank - 1) /* column.c takes rows by 16 */
        return prim_refuse(g, node, "only running sums and products are planned down columns");
    if (g->prims.at[x.prim].mask)
        x = prim_map1(g, "where($0, 1.0, 0.0)", x);
    Prim scan = {.op = PRIM_SCAN,
                 .reduce = scan_reduce(node->kind),
                 .over = axis_bit(g, &x, dim_of(node, x.rank))};
    const Prim inner = g->prims.at[x.prim];
    *out = x;
    if (!scan.over)
        return true;
    if (inner.op == PRIM_FLIP && inner.over == scan.over) {
        scan.reverse = true;
        x.prim = inner.arg[0];
        *out = wrap(g, (Prim){.op = PRIM_FLIP, .over = scan.over}, wrap(g, scan, x));
    } else {
        *out = wrap(g, scan, x);
    }
    return true;
}

static const Node *maker(const PrimGraph *g, ValueId id, Op op)
{
    const Value *v = graph_value(g->graph, id);
    const Node *node = v->kind == VALUE_NODE ? &g->graph->nodes.at[v->node] : NULL;
    return node && node->op == op ? node : NULL;
}

static bool make_exclusive(PrimGraph *g, const Node *node, PrimValue *out)
{
    const Node *scan = node->n_in == 2 ? maker(g, node->in[1], OP_SCAN) : NULL;
    const Node *head = scan ? maker(g, scan->in[0], OP_SLICE) : NULL;
    PrimValue zero, x;
    if (!head || scan->kind != SCAN_sum || !prim_value(g, node->in[0], &zero))
        return prim_refuse(g, node, "no strategy joins parts of these sizes");
    const Value *whole = graph_value(g->graph, head->in[0]);
    uint32_t dim = dim_of(node, whole->shape.rank);
    const Prim *first = &g->prims.at[zero.prim];
    bool fits = first->op == PRIM_NUMBER && first->number == 0 &&
                graph_value(g->graph, node->in[0])->shape.dim[dim] == 1 &&
                dim_of(scan, whole->shape.rank) == dim && dim_of(head, whole->shape.rank) == dim &&
                node_int(head, AT_START, 0) == 0 && node_int(head, AT_STEP, 1) == 1 &&
                node_int(head, AT_END, 0) == whole->shape.dim[dim] - 1;
    if (!fits || !prim_value(g, head->in[0], &x))
        return prim_refuse(g, node, "no strategy joins parts of these sizes");
    Prim p = {.op = PRIM_SCAN, .reduce = PRIM_SUM, .exclusive = true, .over = axis_bit(g, &x, dim)};
    *out = p.over ? wrap(g, p, x) : zero;
    return true;
}

bool prim_scan(PrimGraph *g, const Node *node, PrimValue *out)
{
    switch (node->op) {
    case OP_SCAN: return make_scan(g, node, out);
    case OP_FLIP: return make_flip(g, node, out);
    default: return make_exclusive(g, node, out);
    }
}
