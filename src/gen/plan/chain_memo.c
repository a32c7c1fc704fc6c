/* Which stages are the same. In: the graph of a stage. Out: a text that says all that a planner looks at,
 * and nothing of names, module paths and lines; see chain.h. */
#include "gen/plan/chain.h"

/* Planners look at the bounds of a stage that computes with integers. */
static bool has_integers(const Graph *g)
{
    for (uint32_t i = 0; i < g->values.len; i++)
        if (!dtype_is_float(g->values.at[i].dtype))
            return true;
    return false;
}

static void put_value(const Value *v, bool bounds, Buf *out)
{
    int64_t bytes = 0;
    buf_printf(out, "%d %d %d %u", (int)v->kind, (int)v->dtype, (int)v->weak, v->held_axes);
    shape_print(v->shape, out);
    if (bounds && v->bounds.known) {
        buf_char(out, ' ');
        buf_double(out, v->bounds.low);
        buf_char(out, ' ');
        buf_double(out, v->bounds.high);
    }
    if (v->kind == VALUE_CONST && v->data && shape_bytes(v->shape, v->dtype, &bytes))
        buf_str(out, (Str){v->data, (size_t)bytes});
    buf_char(out, '\n');
}

static void put_attr(const Attr *attr, Buf *out)
{
    buf_printf(out, " %d=", (int)attr->key);
    switch (attr_rows[attr->key].type) {
    case ATTR_INT:
    case ATTR_BOOL: buf_printf(out, "%lld", (long long)attr->i); break;
    case ATTR_FLOAT: buf_str(out, (Str){(const char *)&attr->f, sizeof attr->f}); break;
    case ATTR_TEXT: buf_printf(out, "%zu:%.*s", attr->text.len, STR_ARG(attr->text)); break;
    case ATTR_DTYPE: buf_printf(out, "%d", (int)attr->dtype); break;
    case ATTR_INTS:
        for (uint32_t i = 0; i < attr->ints.len; i++)
            buf_printf(out, "%lld,", (long long)attr->ints.at[i]);
        break;
    }
}

static void put_node(const Node *node, Buf *out)
{
    buf_printf(out, "%d.%d %u:%u", (int)node->op, (int)node->kind, node->out, node->n_out);
    for (uint32_t i = 0; i < node->n_in; i++)
        buf_printf(out, " %u", node->in[i]);
    for (uint32_t i = 0; i < node->n_attr; i++)
        put_attr(&node->attr[i], out);
    buf_char(out, '\n');
}

static void put_ids(const ValueId *at, uint32_t n, Buf *out)
{
    for (uint32_t i = 0; i < n; i++)
        buf_printf(out, " %u", at[i]);
    buf_char(out, '\n');
}

Str chain_key(Arena *arena, const Graph *g)
{
    Buf out = {0};
    bool bounds = has_integers(g);
    for (uint32_t i = 0; i < g->values.len; i++)
        put_value(&g->values.at[i], bounds, &out);
    for (uint32_t i = 0; i < g->nodes.len; i++)
        put_node(&g->nodes.at[i], &out);
    put_ids(g->inputs.at, g->inputs.len, &out);
    put_ids(g->outputs.at, g->outputs.len, &out);
    for (uint32_t i = 0; i < g->notes.len; i++)
        buf_printf(&out, "%s\n", g->notes.at[i]);
    size_t len = out.len;
    Str key = {buf_take(&out, arena), len};
    buf_free(&out);
    return key;
}
