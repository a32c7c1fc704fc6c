/* Comparing two readings of a task; see numbers.h. In: two graphs. Out: whether only sizes differ. */
#include "graph/numbers.h"

#include <string.h>

static bool same_attr(const Attr *a, const Attr *b)
{
    if (a->key != b->key)
        return false;
    switch (attr_rows[a->key].type) {
    case ATTR_INT:
    case ATTR_BOOL: return a->i == b->i;
    case ATTR_FLOAT: return a->f == b->f || (a->f != a->f && b->f != b->f);
    case ATTR_DTYPE: return a->dtype == b->dtype;
    case ATTR_TEXT: return str_equal(a->text, b->text);
    case ATTR_INTS: break;
    }
    bool same = a->ints.len == b->ints.len;
    for (uint32_t i = 0; same && i < a->ints.len; i++)
        same = a->ints.at[i] == b->ints.at[i];
    return same;
}

/* Attributes that are sizes differ with them: so does the end of a range from 0. */
static bool is_size(const Node *n, AttrKey key)
{
    return key == AT_SHAPE || key == AT_END || key == AT_SIZE ||
           (n->op == OP_ARANGE && key == AT_B);
}

static bool same_node(const Node *a, const Node *b)
{
    bool same = a->op == b->op && a->kind == b->kind && a->n_attr == b->n_attr;
    for (uint32_t i = 0; same && i < a->n_attr; i++)
        same = (is_size(a, a->attr[i].key) && a->attr[i].key == b->attr[i].key) ||
               same_attr(&a->attr[i], &b->attr[i]);
    return same;
}

bool graph_same_numbers(const Graph *a, const Graph *b)
{
    bool same = a->nodes.len == b->nodes.len && a->values.len == b->values.len;
    for (uint32_t i = 0; same && i < a->nodes.len; i++)
        same = same_node(&a->nodes.at[i], &b->nodes.at[i]);
    for (uint32_t i = 0; same && i < a->values.len; i++) {
        const Value *x = &a->values.at[i], *y = &b->values.at[i];
        int64_t bytes = 0;
        if (x->kind != VALUE_CONST || y->kind != VALUE_CONST)
            continue;
        same = x->dtype == y->dtype && shape_equal(x->shape, y->shape) &&
               shape_bytes(x->shape, x->dtype, &bytes) &&
               memcmp(x->data, y->data, (size_t)bytes) == 0;
    }
    return same;
}
