/* Ordering and merging axes. In: primitives with their axes. Out: the iteration space. */
#include "gen/plan/space.h"

#include "gen/plan/prim_int.h"

static bool refuse_graph(PrimGraph *g, const char *why)
{
    diag_error(g->diag, "G002", (Span){0}, "the planner cannot plan this task yet: %s", why);
    return false;
}

/* before[a] bit b: axis a stands left of axis b in some tensor */
static void order_of(PrimGraph *g, const PrimValue *v, uint64_t before[64])
{
    for (int i = 0; i < v->rank; i++)
        for (int k = i + 1; k < v->rank; k++)
            if (v->dim[i] && v->dim[k])
                before[prim_axis(g, v->dim[i])] |= UINT64_C(1) << prim_axis(g, v->dim[k]);
}

static uint64_t used_axes(const PrimGraph *g)
{
    uint64_t used = 0;
    for (uint32_t i = 1; i < g->prims.len; i++)
        used |= g->prims.at[i].axes | g->prims.at[i].over;
    return used;
}

static bool sort_axes(PrimGraph *g, Space *s)
{
    uint64_t before[64] = {0}, left = used_axes(g);
    for (uint32_t i = 0; i < g->leaves.len; i++)
        order_of(g, &g->leaves.at[i], before);
    for (uint32_t i = 0; i < g->outputs.len; i++)
        order_of(g, &g->outputs.at[i].is, before);
    while (left) {
        uint32_t next = 64;
        for (uint32_t a = 0; a < 64 && next == 64; a++) {
            bool first = left >> a & 1;
            for (uint32_t b = 0; b < 64 && first; b++)
                first = !(left >> b & 1) || b == a || !(before[b] >> a & 1);
            if (first)
                next = a;
        }
        if (next == 64 || (before[next] >> next & 1))
            return refuse_graph(g, "its tensors hold their dimensions in different orders");
        if (s->len == PLAN_MAX_AXES)
            return refuse_graph(g, "it has more than 8 dimensions");
        s->axis[s->len++] = (SpaceAxis){.members = UINT64_C(1) << next,
                                        .size = g->axes.at[next].size};
        left &= ~(UINT64_C(1) << next);
    }
    return true;
}

/* Whether some reduction stands below this one. */
static bool above_another(const PrimGraph *g, PrimId id)
{
    for (uint32_t i = 0; i < g->prims.at[id].n_arg; i++) {
        PrimId arg = g->prims.at[id].arg[i];
        if (g->prims.at[arg].op == PRIM_REDUCE || above_another(g, arg))
            return true;
    }
    return false;
}

/* What comes of sums over rows goes nowhere but into results. */
static bool only_results(const PrimGraph *g, uint64_t across)
{
    bool *from = arena_array(g->arena, bool, g->prims.len);
    for (uint32_t i = 1; i < g->prims.len; i++) {
        const Prim *p = &g->prims.at[i];
        bool column = !(p->axes & across) && p->op != PRIM_REDUCE;
        for (uint32_t k = 0; k < p->n_arg && p->uses; k++) {
            from[i] = from[i] || from[p->arg[k]];
            column = column && (from[p->arg[k]] || !g->prims.at[p->arg[k]].axes);
        }
        if (from[i] && !column)
            return false;
        from[i] = from[i] || (p->op == PRIM_REDUCE && p->uses && p->over == across);
    }
    return true;
}

/* Rows along the last axis, and beside them sums over everything else: the axes of a row; 0: no. */
static uint64_t rows_beside_columns(const PrimGraph *g, const Space *s, uint64_t *across)
{
    uint64_t rows = 0, last = s->len ? s->axis[s->len - 1].members : 0;
    *across = 0;
    for (uint32_t i = 1; i < g->prims.len; i++) {
        const Prim *p = &g->prims.at[i];
        if (p->op != PRIM_REDUCE || !p->uses)
            continue;
        uint64_t *set = p->over & last ? &rows : across;
        uint64_t needs = set == &rows ? 0 : p->over | last;
        if ((*set && *set != p->over) || needs & ~g->prims.at[p->arg[0]].axes)
            return 0;
        *set = p->over;
    }
    bool apart = rows && *across && !(rows & *across) && (rows | *across) == used_axes(g);
    return apart && only_results(g, *across) ? rows : 0;
}

static void set_reduced(Space *s, uint64_t inner)
{
    for (uint32_t i = 0; i < s->len; i++)
        s->axis[i].reduced = s->axis[i].members & inner;
}

/* The first reductions take one set of axes; later ones the same, or all the others. */
static bool mark_reduced(PrimGraph *g, Space *s)
{
    uint64_t inner = 0, all = used_axes(g), across, rows = rows_beside_columns(g, s, &across);
    if (rows) {
        s->across = across;
        set_reduced(s, rows);
        return true;
    }
    for (uint32_t i = 1; i < g->prims.len; i++) {
        const Prim *p = &g->prims.at[i];
        if (p->op == PRIM_REDUCE && p->uses && !above_another(g, i)) {
            if (inner && p->over != inner)
                return refuse_graph(g, "its reductions take different dimensions");
            inner = p->over;
        }
    }
    for (uint32_t i = 1; i < g->prims.len; i++) {
        const Prim *p = &g->prims.at[i];
        if (p->op != PRIM_REDUCE || !p->uses || p->over == inner)
            continue;
        if (p->over != (all & ~inner))
            return refuse_graph(g, "its reductions take different dimensions");
        s->outer = p->over;
    }
    set_reduced(s, inner);
    return true;
}

static bool mark_scanned(PrimGraph *g, Space *s)
{
    uint64_t over = 0;
    for (uint32_t i = 1; i < g->prims.len; i++)
        if (g->prims.at[i].op == PRIM_SCAN && g->prims.at[i].uses)
            over |= g->prims.at[i].over;
    for (uint32_t i = 0; i < s->len; i++) {
        s->axis[i].scanned = s->axis[i].members & over;
        s->scanned += s->axis[i].scanned;
    }
    if (s->scanned > 1)
        return refuse_graph(g, "it has running sums along several dimensions");
    return true;
}

static bool together(const PrimGraph *g, uint64_t a, uint64_t b)
{
    for (uint32_t i = 1; i < g->prims.len; i++) {
        const Prim *p = &g->prims.at[i];
        bool matters = p->op == PRIM_LEAF || p->op == PRIM_COUNT;
        uint64_t axes = p->op == PRIM_COUNT ? p->over : p->axes;
        if (matters && !(axes & a) != !(axes & b))
            return false;
    }
    for (uint32_t i = 0; i < g->outputs.len; i++) {
        uint64_t axes = g->prims.at[g->outputs.at[i].is.prim].axes;
        if (!(axes & a) != !(axes & b))
            return false;
    }
    return true;
}

static bool merge_neighbours(PrimGraph *g, Space *s)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < s->len; i++) {
        SpaceAxis *last = kept ? &s->axis[kept - 1] : NULL;
        const SpaceAxis *next = &s->axis[i];
        if (last && last->reduced == next->reduced && !last->scanned && !next->scanned &&
            together(g, last->members, next->members)) {
            last->members |= next->members;
            if (__builtin_mul_overflow(last->size, next->size, &last->size))
                return refuse_graph(g, "it has too many elements");
        } else {
            s->axis[kept++] = *next;
        }
    }
    s->len = kept;
    return true;
}

/* A tile lies along the axes that are kept: what does not vary along one of them has no tile of that
 * kind to be reduced from. */
static bool reduces_whole_tiles(PrimGraph *g, const Space *s)
{
    for (uint32_t i = 1; i < g->prims.len; i++) {
        const Prim *p = &g->prims.at[i];
        for (uint32_t a = 0; a < s->len && p->op == PRIM_REDUCE && p->uses; a++)
            if (!s->axis[a].reduced && !((p->axes | p->over) & s->axis[a].members))
                return refuse_graph(
                    g, "a reduction is over an axis along which other operands are broadcast");
    }
    return true;
}

bool space_make(PrimGraph *g, Space *s)
{
    *s = (Space){0};
    if (!sort_axes(g, s) || !mark_reduced(g, s) || !mark_scanned(g, s) || !merge_neighbours(g, s) ||
        !reduces_whole_tiles(g, s))
        return false;
    if (s->len == 0)
        s->axis[s->len++] = (SpaceAxis){.size = 1};
    for (uint32_t i = 0; i < s->len; i++) {
        s->axis[i].name = str_format(g->arena, "n%u", i);
        s->kept += !s->axis[i].reduced;
        s->reduced += s->axis[i].reduced;
    }
    return true;
}

uint64_t space_reduced(const Space *s)
{
    uint64_t members = 0;
    for (uint32_t i = 0; i < s->len; i++)
        members |= s->axis[i].reduced ? s->axis[i].members : 0;
    return members;
}

uint32_t space_axes(const Space *s, uint64_t prim_axes)
{
    uint32_t bits = 0;
    for (uint32_t i = 0; i < s->len; i++)
        if (s->axis[i].members & prim_axes)
            bits |= 1u << i;
    return bits;
}
