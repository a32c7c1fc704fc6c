/* Reading a graph as element-by-element jobs. In: a graph. Out: for each region of an output the
 * values it needs, and where their dimensions lie. */
#include "gen/plan/elementwise.h"

enum { MAX_DEPTH = 200, MAX_USES = 1000, MOST_PARTS = 3 };

static bool refuse_node(Each *e, const Node *node, const char *why)
{
    const char *kind = node_kind_name(node);
    diag_error(e->diag, "G001", node->at, "the planner cannot plan %s%s%s yet: %s",
               op_rows[node->op].name, *kind ? "." : "", kind, why);
    return false;
}

static bool same_place(const EachUse *a, const EachUse *b)
{
    bool same = a->rank == b->rank;
    for (int i = 0; same && i < a->rank; i++)
        same = a->dim[i].axis == b->dim[i].axis && a->dim[i].offset == b->dim[i].offset;
    return same;
}

/* The operand of an elementwise node: its dimensions line up from the right. */
static EachUse lined_up(const Each *e, const EachUse *out, ValueId id)
{
    const Value *v = graph_value(e->g, id);
    EachUse in = {.value = id, .shape = v->shape, .rank = v->shape.rank};
    for (int i = 0; i < in.rank; i++) {
        int from = out->rank - in.rank + i;
        bool single = v->shape.dim[i] == 1 || from < 0;
        in.dim[i] = single ? (EachDim){-1, 0} : out->dim[from];
    }
    return in;
}

/* Only dimensions of size 1 come or go. */
static bool reshaped(const Each *e, const EachUse *out, ValueId id, EachUse *in)
{
    const Value *v = graph_value(e->g, id), *to = graph_value(e->g, out->value);
    int next = 0;
    *in = (EachUse){.value = id, .rank = v->shape.rank};
    for (int i = 0; i < in->rank; i++) {
        in->dim[i] = (EachDim){-1, 0};
        if (v->shape.dim[i] == 1)
            continue;
        while (next < to->shape.rank && to->shape.dim[next] == 1)
            next++;
        if (next == to->shape.rank || to->shape.dim[next] != v->shape.dim[i])
            return false;
        in->dim[i] = out->dim[next++];
    }
    return true;
}

static EachUse permuted(const Each *e, const Node *node, const EachUse *out)
{
    const Attr *dims = node_attr(node, AT_DIMS);
    EachUse in = {.value = node->in[0], .rank = graph_value(e->g, node->in[0])->shape.rank};
    for (int i = 0; dims && i < in.rank && i < (int)dims->ints.len; i++) {
        int64_t from = dims->ints.at[i] < 0 ? dims->ints.at[i] + in.rank : dims->ints.at[i];
        in.dim[from] = out->dim[i];
    }
    return in;
}

/* Puts the value and all below it into the job; its place among the uses, -1: refused. */
static int need(Each *e, EachJob *job, EachUse use);

static int need_slice(Each *e, EachJob *job, const Node *node, const EachUse *out)
{
    EachUse in = *out;
    int dim = 0;
    in.value = node->in[0];
    in.shape = graph_value(e->g, in.value)->shape;
    shape_dim(graph_value(e->g, in.value)->shape, node_int(node, AT_DIM, 0), &dim);
    if (node_int(node, AT_STEP, 1) != 1 && in.dim[dim].axis >= 0)
        return refuse_node(e, node, "steps other than 1") - 1;
    if (graph_value(e->g, out->value)->shape.dim[dim] == 1)
        in.dim[dim].axis = -1;
    in.dim[dim].offset += node_int(node, AT_START, 0);
    e->fixed = e->fixed || in.dim[dim].axis >= 0;
    return need(e, job, in);
}

static int need_reshape(Each *e, EachJob *job, const Node *node, const EachUse *out)
{
    EachUse in;
    if (graph_value(e->g, node->in[0])->kind != VALUE_NODE && !reshaped(e, out, node->in[0], &in)) {
        in = *out;
        in.value = node->in[0];
        in.shape = graph_value(e->g, out->value)->shape;
        return need(e, job, in);
    }
    if (!reshaped(e, out, node->in[0], &in))
        return refuse_node(e, node, "it changes the shape between operators") - 1;
    return need(e, job, in);
}

/* Operators that only say where elements lie vanish: *to is the value they show. */
static bool is_view(Op op)
{
    return op == OP_RESHAPE || op == OP_EXPAND || op == OP_SLICE || op == OP_PERMUTE ||
           op == OP_DROPOUT;
}

static int show(Each *e, EachJob *job, const Node *node, const EachUse *out)
{
    switch (node->op) {
    case OP_SLICE: return need_slice(e, job, node, out);
    case OP_PERMUTE: return need(e, job, permuted(e, node, out));
    case OP_RESHAPE: return need_reshape(e, job, node, out);
    default: return need(e, job, lined_up(e, out, node->in[0]));
    }
}

/* Element by element, or made of positions alone. */
static bool is_pointwise(Op op)
{
    return op_is_elementwise(op) || op == OP_FULL || op == OP_TRI || op == OP_EYE ||
           op == OP_ARANGE || op == OP_ONE_HOT;
}

static void keep_apart(EachJob *job, const EachUse *use)
{
    for (int i = 0; i < use->rank; i++) {
        int axis = use->dim[i].axis;
        if (axis < 0)
            continue;
        job->apart[axis] = true;
        if (axis)
            job->apart[axis - 1] = true;
    }
}

static bool need_operands(Each *e, EachJob *job, const Node *node, EachUse *out)
{
    if (node->op == OP_TRI || node->op == OP_EYE || node->op == OP_ARANGE || node->op == OP_ONE_HOT)
        keep_apart(job, out);
    for (uint32_t i = 0; i < node->n_in && i < 3; i++) {
        EachUse in = *out;
        if (node->in[i] == VALUE_NONE)
            continue;
        if (node->op == OP_ONE_HOT) {
            in.value = node->in[i];
            in.shape = graph_value(e->g, in.value)->shape;
            in.rank--;
        } else {
            in = lined_up(e, out, node->in[i]);
        }
        out->in[i] = need(e, job, in);
        if (out->in[i] < 0)
            return false;
    }
    return true;
}

static bool add_leaf(Each *e, const EachUse *use)
{
    for (uint32_t i = 0; i < e->leaves.len; i++)
        if (e->leaves.at[i] == use->value)
            return shape_equal(e->seen[use->value], use->shape);
    e->seen[use->value] = use->shape;
    vec_push(e->arena, &e->leaves, use->value);
    return e->leaves.len <= EACH_MAX_LEAVES;
}

static bool is_number(const Value *v)
{
    int64_t count = 0;
    return v->kind == VALUE_CONST && shape_count(v->shape, &count) && count == 1;
}

/* A use at the same place counts once more. */
static int known(EachJob *job, const EachUse *use, bool number)
{
    for (uint32_t i = 0; i < job->uses.len; i++) {
        EachUse *old = &job->uses.at[i];
        if (old->value != use->value || (!number && !same_place(old, use)))
            continue;
        old->uses++;
        return (int)i;
    }
    return -1;
}

static int need(Each *e, EachJob *job, EachUse use)
{
    const Value *v = graph_value(e->g, use.value);
    const Node *node = v->kind == VALUE_NODE ? &e->g->nodes.at[v->node] : NULL;
    if (node && is_view(node->op))
        return show(e, job, node, &use);
    bool number = is_number(v);
    if (!use.shape.rank)
        use.shape = v->shape;
    int old = known(job, &use, number);
    if (old >= 0)
        return old;
    if (v->dtype == DT_C64 || (v->dtype == DT_F64 && !number) || job->uses.len == MAX_USES)
        return -1;
    if (node && (!is_pointwise(node->op) || e->depth == MAX_DEPTH))
        return refuse_node(e, node, "it is not element by element") - 1;
    e->depth++;
    bool ok = node ? need_operands(e, job, node, &use) : number || add_leaf(e, &use);
    e->depth--;
    use.uses = 1;
    vec_push(e->arena, &job->uses, use);
    return ok ? (int)job->uses.len - 1 : -1;
}

static EachUse whole(const Each *e, ValueId id)
{
    const Value *v = graph_value(e->g, id);
    EachUse use = {.value = id, .rank = v->shape.rank};
    for (int i = 0; i < use.rank; i++)
        use.dim[i] = (EachDim){v->shape.dim[i] == 1 ? -1 : i, 0};
    return use;
}

/* Does the job read a tensor that `id` rests on? */
static bool shares(const Each *e, const EachJob *job, ValueId id, uint32_t *budget)
{
    const Value *v = graph_value(e->g, id);
    int64_t count = 0;
    shape_count(v->shape, &count);
    if (*budget == 0 || (v->kind != VALUE_NODE && count <= 1))
        return false;
    --*budget;
    for (uint32_t i = 0; i < job->uses.len; i++)
        if (job->uses.at[i].value == id)
            return true;
    if (v->kind != VALUE_NODE)
        return false;
    const Node *node = &e->g->nodes.at[v->node];
    for (uint32_t i = 0; i < node->n_in; i++)
        if (node->in[i] != VALUE_NONE && shares(e, job, node->in[i], budget))
            return true;
    return false;
}

static bool reads_there(const EachJob *job, const EachUse *use)
{
    for (uint32_t i = 0; i < job->uses.len; i++)
        if (job->uses.at[i].value == use->value && same_place(&job->uses.at[i], use))
            return true;
    return false;
}

/* A part of the same output, of the same shape, that reads nothing which another part does not: their
 * job; NULL: none. */
static EachJob *job_of_part(Each *e, ValueId output, ValueId value, int along)
{
    EachJob part = {.shape = graph_value(e->g, value)->shape, .along = along};
    if (need(e, &part, whole(e, value)) < 0)
        return NULL;
    for (uint32_t k = 0; k < e->jobs.len; k++) {
        EachJob *job = &e->jobs.at[k];
        bool all = job->along == along && job->outputs.at[0] == output &&
                   job->outputs.len < MOST_PARTS && shape_equal(job->shape, part.shape);
        for (uint32_t i = 0; i < part.uses.len && all; i++)
            all = graph_value(e->g, part.uses.at[i].value)->kind == VALUE_NODE ||
                  reads_there(job, &part.uses.at[i]);
        if (all)
            return job;
    }
    return NULL;
}

/* The region of `output` that `value` fills; whole outputs of one shape that rest on the
 * same tensors share a job. */
static bool add_region(Each *e, ValueId output, ValueId value, int along, int64_t place)
{
    const Value *v = graph_value(e->g, value);
    EachJob *job = NULL;
    for (uint32_t i = 0; i < e->jobs.len && along < 0; i++) {
        EachJob *old = &e->jobs.at[i];
        uint32_t budget = 1000;
        if (old->along < 0 && shape_equal(old->shape, v->shape) && shares(e, old, value, &budget))
            job = old;
    }
    if (along >= 0)
        job = job_of_part(e, output, value, along);
    if (!job) {
        if (e->jobs.len == EACH_MAX_JOBS)
            return false;
        EachJob fresh = {.shape = v->shape, .along = along};
        vec_push(e->arena, &e->jobs, fresh);
        job = &e->jobs.at[e->jobs.len - 1];
    }
    vec_push(e->arena, &job->results, value);
    vec_push(e->arena, &job->outputs, output);
    vec_push(e->arena, &job->places, place);
    int stored = need(e, job, whole(e, value));
    vec_push(e->arena, &job->stored, stored);
    return stored >= 0;
}

static bool add_joined(Each *e, ValueId output, const Node *node)
{
    int along = 0;
    int64_t place = 0;
    e->fixed = true;
    shape_dim(e->seen[output], node_int(node, AT_DIM, 0), &along);
    for (uint32_t i = 0; i < node->n_in; i++) {
        const Value *v = graph_value(e->g, node->in[i]);
        if (v->shape.rank != e->seen[output].rank)
            return refuse_node(e, node, "torch.cat has an operand of another rank");
        if (!add_region(e, output, node->in[i], along, place))
            return false;
        place += v->shape.dim[along];
    }
    return true;
}

/* An output in another shape holds the same elements, and storing casts to its dtype. */
static ValueId without_reshape(const Graph *g, ValueId id)
{
    const Value *v = graph_value(g, id);
    while (v->kind == VALUE_NODE) {
        const Node *node = &g->nodes.at[v->node];
        const Value *from = node->n_in ? graph_value(g, node->in[0]) : v;
        bool rounds = node->op == OP_CAST && dtype_is_float(v->dtype) &&
                      dtype_is_float(from->dtype) && from->kind == VALUE_NODE &&
                      g->nodes.at[from->node].op == OP_CAT;
        if (from->kind != VALUE_NODE || (node->op != OP_RESHAPE && !rounds))
            break;
        id = node->in[0];
        v = from;
    }
    return id;
}

bool elementwise_read(Each *e)
{
    e->seen = arena_array(e->arena, Shape, e->g->values.len + 1);
    for (uint32_t i = 0; i < e->g->outputs.len; i++) {
        ValueId id = e->g->outputs.at[i], value = without_reshape(e->g, id);
        const Value *v = graph_value(e->g, value);
        const Node *node = v->kind == VALUE_NODE ? &e->g->nodes.at[v->node] : NULL;
        e->seen[id] = v->shape;
        bool ok = node && node->op == OP_CAT ? add_joined(e, id, node)
                                             : add_region(e, id, value, -1, 0);
        if (!ok)
            return false;
    }
    return true;
}
