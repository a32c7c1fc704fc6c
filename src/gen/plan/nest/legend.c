/* What the axes and tensors of a schedule are in the task. In: loop nests. Out: one line for each tensor, such as
 * "x0: gate f32[2048,4096]; a1 is axis 0, a2 is axis 1". */
#include "gen/plan/nest/nest.h"

/* The index that reads or writes the tensor first; NULL: none does. */
static const Affine *first_index(const Nest *nest, uint32_t tensor)
{
    for (uint32_t i = 1; i < nest->values.len; i++)
        if (nest_reads(&nest->values.at[i]) && nest->values.at[i].tensor == tensor)
            return &nest->values.at[i].index;
    for (uint32_t i = 0; i < nest->stores.len; i++)
        if (nest->stores.at[i].tensor == tensor)
            return &nest->stores.at[i].index;
    return NULL;
}

/* The axes first to last of the shape hold `size` elements that lie `by` apart. False: no axes of it do. */
static bool find_axes(Shape shape, int64_t by, int64_t size, int *first, int *last)
{
    int64_t apart = 1;
    for (*last = shape.rank - 1; *last >= 0; apart *= shape.dim[(*last)--]) {
        if (apart != by || shape.dim[*last] == 1)
            continue;
        int64_t held = shape.dim[*last];
        for (*first = *last; held<size && * first> 0;)
            held *= shape.dim[--*first];
        return held == size;
    }
    return false;
}

static void put_axes(const Nest *nest, Shape shape, const Affine *index, Buf *out)
{
    for (uint32_t i = 0; i < index->n; i++) {
        const AffineTerm *term = &index->term[i];
        int first, last;
        buf_printf(out, "%s a%u ", i ? "," : ";", term->axis);
        if (!find_axes(shape, term->by, nest->axes.at[term->axis].size, &first, &last))
            buf_printf(out, "steps by %lld elements", (long long)term->by);
        else if (first == last)
            buf_printf(out, "is axis %d", first);
        else
            buf_printf(out, "is axes %d to %d", first, last);
    }
    if (index->at)
        buf_printf(out, ", from element %lld on", (long long)index->at);
}

static void put_shape(Shape shape, Buf *out)
{
    buf_char(out, '[');
    for (int d = 0; d < shape.rank; d++)
        buf_printf(out, "%s%lld", d ? "," : "", (long long)shape.dim[d]);
    buf_char(out, ']');
}

void nest_legend(const Nest *nest, Buf *out)
{
    for (uint32_t i = 0; i < nest->tensors.len; i++) {
        const NestTensor *t = &nest->tensors.at[i];
        const Affine *index = first_index(nest, i);
        if (t->role != NEST_INPUT && t->role != NEST_OUTPUT)
            continue;
        const Value *value = graph_value(nest->graph, t->value);
        const char *unnamed = t->role == NEST_OUTPUT ? "what forward returns" : "an input";
        buf_printf(out, "  %s: %s %s", nest_tensor_name(nest, i),
                   t->role == NEST_INPUT && value->name ? value->name : unnamed,
                   dtype_name(t->dtype));
        put_shape(value->shape, out);
        if (index)
            put_axes(nest, value->shape, index, out);
        buf_char(out, '\n');
    }
}
