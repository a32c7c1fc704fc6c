/* Reductions as passes. A reduction whose operand needs nothing reduced belongs to pass 0; one
 * that needs the results of pass 0 to pass 1, and so on; what is cheap is computed again in each
 * pass rather than stored. Results of the last axis reduced are scalars, else tiles. */
#include "gen/plan/strategy.h"

const char *const reduce_starts[] = {
    [PRIM_SUM] = "0.0", [PRIM_MAX] = "-inf", [PRIM_MIN] = "inf", [PRIM_PROD] = "1.0"};
const char *const reduce_steps[] = {[PRIM_SUM] = "%s + %s",
                                    [PRIM_MAX] = "max(%s, %s)",
                                    [PRIM_MIN] = "min(%s, %s)",
                                    [PRIM_PROD] = "%s * %s"};
static const char *const tile_steps[] = {[PRIM_SUM] = "%s + reduce_sum(%s)",
                                         [PRIM_MAX] = "max(%s, reduce_max(%s))",
                                         [PRIM_MIN] = "min(%s, reduce_min(%s))",
                                         [PRIM_PROD] = "%s * reduce_prod(%s)"};

const char *reduce_format(Writer *w, const char *form, const char *so_far, const char *operand)
{
    Buf out = {0};
    const char *words[] = {so_far, operand};
    int next = 0;
    for (const char *c = form; *c; c++) {
        if (c[0] == '%' && c[1] == 's') {
            buf_puts(&out, words[next++]);
            c++;
        } else {
            buf_char(&out, *c);
        }
    }
    char *text = buf_take(&out, w->arena);
    buf_free(&out);
    return text;
}

static uint64_t reduced_members(const Space *s)
{
    uint64_t members = 0;
    for (uint32_t i = 0; i < s->len; i++)
        members |= s->axis[i].reduced ? s->axis[i].members : 0;
    return members;
}

bool reduce_is_full(const Writer *w, uint32_t output)
{
    return w->g->prims.at[w->g->outputs.at[output].is.prim].axes & reduced_members(w->s);
}

static bool in_pass(const Writer *w, PrimId id, uint32_t pass)
{
    const Prim *p = &w->g->prims.at[id];
    return p->op == PRIM_REDUCE && p->uses && p->over != w->s->outer && w->level[id] == pass + 1;
}

uint32_t reduce_passes(const Writer *w)
{
    uint32_t last = 0;
    for (uint32_t i = 1; i < w->g->prims.len; i++)
        if (w->g->prims.at[i].op == PRIM_REDUCE && w->g->prims.at[i].uses &&
            w->g->prims.at[i].over != w->s->outer)
            last = w->level[i] - 1 > last ? w->level[i] - 1 : last;
    for (uint32_t i = 0; i < w->g->outputs.len; i++) {
        uint32_t level = w->level[w->g->outputs.at[i].is.prim];
        if (reduce_is_full(w, i))
            last = level > last ? level : last;
    }
    return last;
}

/* The results start from the neutral element. */
static void write_starts(Writer *w, uint32_t pass)
{
    bool tiles = !w->s->axis[w->last].reduced, opened = false;
    for (uint32_t i = 1; i < w->g->prims.len; i++) {
        if (!in_pass(w, i, pass))
            continue;
        const char *start = reduce_starts[w->g->prims.at[i].reduce];
        if (!tiles) {
            w->name[i] = str_format(w->arena, "r%u", w->next++);
            write_line(w, "%s = %s", w->name[i], start);
            continue;
        }
        if (!opened)
            write_line(w, "with compute():");
        opened = true;
        w->name[i] = write_view(w, write_buffer(w, 'r', DT_F32, 1, i));
        w->depth++;
        write_line(w, "%s = %s", w->name[i], start);
        w->depth--;
    }
}

static void accumulate(Writer *w, PrimId id)
{
    const Prim *p = &w->g->prims.at[id];
    bool tiles = !w->s->axis[w->last].reduced;
    write_needs(w, p->arg[0]);
    const char *from = tiles ? write_expr(w, p->arg[0]) : write_named(w, p->arg[0]);
    const char *form = tiles ? reduce_steps[p->reduce] : tile_steps[p->reduce];
    write_line(w, "%s = %s", w->name[id], reduce_format(w, form, w->name[id], from));
}

static void mark_pass(const Writer *w, uint32_t pass, bool final, bool *wanted)
{
    for (uint32_t i = 1; i < w->g->prims.len; i++)
        if (in_pass(w, i, pass))
            write_mark(w, w->g->prims.at[i].arg[0], wanted);
    for (uint32_t i = 0; i < w->g->outputs.len && final; i++)
        if (reduce_is_full(w, i))
            write_mark(w, w->g->outputs.at[i].is.prim, wanted);
}

void reduce_forget(Writer *w)
{
    uint64_t gone = reduced_members(w->s);
    for (uint32_t i = 1; i < w->g->prims.len; i++)
        if (w->g->prims.at[i].axes & gone)
            w->name[i] = NULL;
    write_free_buffers(w);
}

void reduce_pass(Writer *w, uint32_t pass, bool final, void (*open)(Writer *w))
{
    bool *wanted = arena_array(w->arena, bool, w->g->prims.len);
    int depth = w->depth;
    write_starts(w, pass);
    mark_pass(w, pass, final, wanted);
    open(w);
    write_scalar_leaves(w);
    write_loads(w, wanted);
    bool opened = false;
    for (uint32_t i = 1; i < w->g->prims.len; i++) {
        if (!in_pass(w, i, pass))
            continue;
        if (!opened)
            write_line(w, "with compute():");
        opened = true;
        w->depth++;
        accumulate(w, i);
        w->depth--;
    }
    for (uint32_t i = 0; i < w->g->outputs.len && final; i++)
        if (reduce_is_full(w, i))
            write_store(w, &w->g->outputs.at[i], write_output_name(w, i));
    reduce_forget(w);
    w->depth = depth;
}
