/* Loads and stores of a planned kernel. In: leaves and outputs, and how the strategy indexes their
 * axes. Out: copies, scalars read from memory, casts on the way in and out. */
#include "gen/plan/write.h"

#include <string.h>

const char *write_access(Writer *w, const char *tensor, uint64_t prim_axes)
{
    Buf out = {0};
    const char *before = "[";
    buf_puts(&out, tensor);
    for (uint32_t i = 0; i < w->s->len; i++) {
        if (!(w->s->axis[i].members & prim_axes))
            continue;
        buf_printf(&out, "%s%s", before, w->index[i]);
        before = ", ";
    }
    buf_puts(&out, *before == '[' ? "[0]" : "]");
    char *text = buf_take(&out, w->arena);
    buf_free(&out);
    return text;
}

/* A copy of one row is one-dimensional, whatever lies between the rows. */
static const char *move_view(Writer *w, WriteKind kind, const char *buffer)
{
    if (w->one_row && kind == KIND_TILE)
        return str_format(w->arena, "%s[0, :%s]", buffer, w->count);
    return write_view(w, kind, buffer);
}

static const char *move_access(Writer *w, const char *tensor, uint64_t prim_axes)
{
    const char *row = w->index[w->row_axis];
    if (w->one_row && row && !strcmp(row, "r") && (prim_axes & w->s->axis[w->last].members))
        w->index[w->row_axis] = "r.start";
    const char *text = write_access(w, tensor, prim_axes);
    w->index[w->row_axis] = row;
    return text;
}

const char *write_leaf_name(const Writer *w, PrimId id)
{
    for (uint32_t i = 0; i < w->operands.len; i++)
        if (w->operand_prims.at[i] == id)
            return w->operands.at[i].name;
    panic("a leaf without an operand");
}

const char *write_output_name(const Writer *w, uint32_t output)
{
    uint32_t first = w->operands.len - w->g->outputs.len;
    return w->operands.at[first + output].name;
}

static void write_picks(Writer *w);

void write_scalar_leaves(Writer *w)
{
    for (uint32_t i = 0; i < w->g->leaves.len; i++) {
        PrimId id = w->g->leaves.at[i].prim;
        const Prim *p = &w->g->prims.at[id];
        bool bound = !w->name[id] && p->uses && write_kind(w, id) == KIND_SCALAR &&
                     (!w->wanted || w->wanted[id]);
        for (uint32_t a = 0; a < w->s->len && bound; a++)
            bound = !(w->s->axis[a].members & p->axes) || w->index[a];
        if (!bound)
            continue;
        if (!dtype_is_float(p->dtype) && p->dtype != DT_I64 && p->dtype != DT_I32) {
            w->failed = true;
            diag_error(w->diag, "G003", (Span){0},
                       "the planner cannot plan this task yet: a %s operand of one value per row",
                       dtype_name(p->dtype));
        }
        const char *name = str_format(w->arena, "w%u", w->next++), *row = w->index[w->row_axis];
        if (w->two && row && !strcmp(row, "r"))
            w->index[w->row_axis] = "r.start";
        write_line(w, "%s = %s", name, write_access(w, write_leaf_name(w, id), p->axes));
        w->index[w->row_axis] = row;
        w->name[id] = name;
    }
    write_picks(w);
}

/* "x0[i0, w3]": the picked axis is indexed by what the position's leaf holds. */
static void write_picks(Writer *w)
{
    for (uint32_t i = 1; i < w->g->prims.len; i++) {
        const Prim *p = &w->g->prims.at[i];
        if (p->op != PRIM_PICK || !p->uses || w->name[i] || !w->name[p->arg[1]])
            continue;
        const char *saved[PLAN_MAX_AXES];
        for (uint32_t a = 0; a < w->s->len; a++) {
            saved[a] = w->index[a];
            if (w->s->axis[a].members & p->over)
                w->index[a] = w->name[p->arg[1]];
            else if (w->two && a == w->row_axis)
                w->index[a] = "r.start";
        }
        const char *name = str_format(w->arena, "w%u", w->next++);
        write_line(w, "%s = %s", name,
                   write_access(w, write_leaf_name(w, p->arg[0]), w->g->prims.at[p->arg[0]].axes));
        w->name[i] = name;
        for (uint32_t a = 0; a < w->s->len; a++)
            w->index[a] = saved[a];
    }
}

static bool has_free(const Writer *w, WriteKind kind, DType dtype, int depth)
{
    for (uint32_t i = 0; i < w->pool.len; i++) {
        const WriteBuffer *b = &w->pool.at[i];
        if (!b->busy && b->stem == 'a' && b->kind == kind && b->dtype == dtype && b->depth == depth)
            return true;
    }
    return false;
}

/* Two slots while every load still gets one: a kernel has eight for what comes in (lower E093), and
 * reductions load their parts too. */
static int depth_for(const Writer *w, WriteKind kind, DType dtype)
{
    int slots = w->s->reduced ? 6 : 8;
    for (int depth = w->load_depth; depth > 0; depth--)
        if (has_free(w, kind, dtype, depth))
            return depth;
    for (uint32_t i = 0; i < w->pool.len; i++)
        slots -= w->pool.at[i].stem == 'a' ? w->pool.at[i].depth : 0;
    for (uint32_t i = 0; i < w->g->leaves.len; i++) {
        PrimId id = w->g->leaves.at[i].prim;
        slots -= w->g->prims.at[id].uses && !w->name[id] && write_kind(w, id) != KIND_SCALAR;
    }
    return slots > 0 ? w->load_depth : 1;
}

void write_loads(Writer *w, const bool *wanted)
{
    Buf casts = {0};
    bool any = false;
    for (uint32_t i = 0; i < w->g->leaves.len; i++) {
        PrimId id = w->g->leaves.at[i].prim;
        const Prim *p = &w->g->prims.at[id];
        WriteKind kind = write_kind(w, id);
        if (!wanted[id] || w->name[id] || kind == KIND_SCALAR)
            continue;
        int depth = depth_for(w, kind, p->dtype);
        const char *buffer = write_buffer(w, 'a', kind, p->dtype, depth, id);
        const char *raw = write_view(w, kind, buffer);
        if (!any)
            write_line(w, "with copyin():");
        any = true;
        w->depth++;
        write_line(w, "load(%s, %s)", move_view(w, kind, buffer),
                   move_access(w, write_leaf_name(w, id), p->axes));
        w->depth--;
        w->name[id] = raw;
        if (dtype_is_int(p->dtype) || p->dtype == DT_F32)
            continue;
        w->name[id] = write_view(w, kind, write_buffer(w, 'f', kind, DT_F32, 1, id));
        buf_fill(&casts, ' ', (size_t)(w->depth + 1) * 4);
        buf_printf(&casts, "%s = cast(%s, f32)\n", w->name[id], raw);
    }
    if (casts.len) {
        write_line(w, "with compute():");
        buf_str(&w->body, buf_view(&casts));
    }
    buf_free(&casts);
}

void write_store(Writer *w, const PrimOutput *out, const char *operand)
{
    DType dtype = graph_value(w->g->graph, out->value)->dtype;
    PrimId id = out->is.prim;
    WriteKind kind = write_kind(w, id);
    write_line(w, "with compute():");
    w->depth++;
    write_needs(w, id);
    bool made = dtype != DT_F32 && w->name[id]; /* then the cast reads it where it is */
    const char *buffer = made ? NULL
                              : write_buffer(w, 'o', kind, DT_F32,
                                             dtype == DT_F32 ? w->store_depth : 1, 0);
    const char *view = made ? w->name[id] : write_view(w, kind, buffer);
    if (!made)
        write_line(w, "%s = %s", view, write_expr(w, id));
    if (dtype != DT_F32) {
        buffer = write_buffer(w, 'o', kind, dtype, w->store_depth, 0);
        write_line(w, "%s = cast(%s, %s)", write_view(w, kind, buffer), view, dtype_name(dtype));
    }
    w->depth--;
    write_line(w, "with copyout():");
    w->depth++;
    write_line(w, "store(%s, %s)", move_access(w, operand, w->g->prims.at[id].axes),
               move_view(w, kind, buffer));
    w->depth--;
}
