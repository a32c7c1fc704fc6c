/* The elementwise strategy: puts the program together. In: a graph. Out: one kernel with a loop for
 * each job. */
#include "gen/plan/elementwise_int.h"

#include "gen/plan/cores.h"

#include "gen/plan/fit.h"
#include "gen/plan/prim.h"
#include "gen/plan/int64.h"

enum { LINE = 128, MOST = 8192, LEAST = 64 };

static void declare_dims(EachPlan *p, Buf *out)
{
    VEC(const char *) said = {0};
    for (uint32_t j = 0; j < p->e->jobs.len; j++)
        for (int k = 0; k < p->axes[j].groups; k++) {
            const char *name = p->axes[j].name[k];
            bool known = false;
            for (uint32_t i = 0; i < said.len; i++)
                known = known || str_is(str_from(said.at[i]), name);
            if (known)
                continue;
            vec_push(p->e->arena, &said, name);
            if (*name == 'd')
                buf_printf(out, "%s = dim(%lld)\n", name, (long long)p->axes[j].size[k]);
            else
                buf_printf(out, "%s = dim(1, 1073741824)\n", name);
        }
}

/* The shape a tensor is declared with: the axes of the job that uses it, or numbers. */
static void shape_of(EachPlan *p, EachTensor *t, Buf *out)
{
    const Shape *seen = &p->e->seen[t->value];
    const EachUse *use = NULL;
    EachUse region;
    uint32_t number = 0;
    for (uint32_t j = 0; j < p->e->jobs.len && !use; j++) {
        const EachJob *job = &p->e->jobs.at[j];
        number = j;
        for (uint32_t i = 0; !t->output && i < job->uses.len && !use; i++)
            if (job->uses.at[i].value == t->value)
                use = &job->uses.at[i];
        for (uint32_t i = 0; t->output && i < job->outputs.len && !use; i++)
            if (job->outputs.at[i] == t->value) {
                region = elementwise_region(p, job, i);
                use = &region;
            }
    }
    const EachAxes *axes = &p->axes[number];
    t->shape = (Shape){0};
    for (int i = 0; i < t->n_kept; i++) {
        int64_t size = seen->dim[t->kept[i]];
        int axis = use ? use->dim[t->kept[i]].axis : -1;
        if (i && !t->apart[i - 1]) {
            t->shape.dim[t->shape.rank - 1] *= size;
            continue;
        }
        int64_t along = axis >= 0 ? p->e->jobs.at[number].shape.dim[axis] : 0;
        if (axis >= 0 && along == size)
            buf_printf(out, ", %s", axes->name[axes->group_of[axis]]);
        else
            buf_printf(out, ", %lld", (long long)size);
        t->shape.dim[t->shape.rank++] = size;
    }
    if (t->n_kept == 0) {
        t->shape = (Shape){1, {1}};
        bool whole = axes->n_active == 0;
        buf_printf(out, ", %s", whole ? axes->name[0] : "1");
    }
}

static void put_parameters(EachPlan *p, Buf *out)
{
    for (uint32_t i = 0; i < p->tensors.len; i++) {
        EachTensor *t = &p->tensors.at[i];
        buf_printf(out, "%s%s: %s[%s", i ? ", " : "", t->name, t->output ? "out" : "gm",
                   dtype_name(graph_value(p->e->g, t->value)->dtype));
        shape_of(p, t, out);
        buf_char(out, ']');
    }
}

static void put_reasons(const EachPlan *p, Buf *out)
{
    double bytes = 0;
    bool wide = false;
    for (uint32_t i = 0; i < p->tensors.len; i++) {
        int64_t n = 0;
        const Value *v = graph_value(p->e->g, p->tensors.at[i].value);
        shape_bytes(v->shape, v->dtype, &n);
        bytes += (double)n;
        wide = wide || v->dtype == DT_I64;
    }
    buf_printf(out, "# Planned by acraft for %s, strategy each.\n", p->chip->name);
    if (p->wide)
        buf_puts(out,
                 "# Element by element. Integers need 64 bits here, which tiles do not compute: "
                 "the scalar unit takes one\n# after the other, and that bounds it.\n");
    else
        buf_puts(out, "# Element by element, bound by memory: every operand is read once, every "
                      "result written once,\n# nothing in between touches memory. f16 and bf16 are "
                      "computed in f32 and rounded at the end;\n# integers in i32.\n");
    if (wide && !p->wide)
        buf_puts(out, "# 64-bit integers are computed in 32 bits: values beyond them saturate.\n");
    if (p->e->jobs.len > 1)
        buf_printf(out, "# %u loops, one for each tensor or part of one, each over all cores.\n",
                   p->e->jobs.len);
    if (p->e->fixed)
        buf_puts(out, "# Parts of tensors are read in place, so the sizes of their axes are those "
                      "of this task.\n");
    buf_printf(out, "# Least traffic at this task's sizes: %s; tiles of ",
               plan_bytes(p->e->arena, bytes));
    if (p->row)
        buf_printf(out, "%lld rows by %lld elements, a copy for all of them.\n",
                   (long long)(p->tile / p->pitch), (long long)p->row);
    else
        buf_printf(out, "%lld elements.\n", (long long)p->tile);
}

/* Buffers of one direction: what is loaded and stored as it is goes both ways. */
static bool goes(const EachBuffers *all, uint32_t i, char stem)
{
    return all->at[i].stem == stem || (stem == 'o' && all->at[i].stored);
}

/* A kernel has eight slots for each direction (lower E093): the last buffers get one instead of two;
 * more buffers than slots are for several kernels. */
static void share_slots(EachBuffers *all, char stem)
{
    int slots = 8;
    for (uint32_t i = 0; i < all->len; i++)
        slots -= goes(all, i, stem);
    all->failed = all->failed || slots < 0;
    for (uint32_t i = 0; i < all->len; i++) {
        if (!goes(all, i, stem) || all->at[i].depth < 2)
            continue;
        all->at[i].depth = slots > 0 ? 2 : 1;
        slots--;
    }
}

static void put_buffers(const EachPlan *p, const EachBuffers *all, Buf *out)
{
    const char *wide = p->row ? str_format(p->e->arena, "tile, %lld", (long long)p->pitch) : "tile";
    for (uint32_t i = 0; i < all->len; i++) {
        if (all->at[i].stem == 'm')
            buf_printf(out, "    %s = mask(tile)\n", all->at[i].name);
        else
            buf_printf(out, "    %s = ub(%s, %s%s)\n", all->at[i].name,
                       dtype_name(all->at[i].dtype), wide, all->at[i].depth > 1 ? ", depth=2" : "");
    }
}

/* Elements of a tile, or rows. */
static void put_choice(const EachPlan *p, Buf *out)
{
    int64_t tile = p->row ? p->tile / p->pitch : p->tile;
    int64_t unit = p->row ? 1 : LINE, least = p->row ? (tile + 7) / 8 : 512;
    buf_printf(out, "    tile = choose(\"tile\", [%lld", (long long)tile);
    for (int64_t t = tile / 2 / unit * unit; t >= least; t = t / 2 / unit * unit)
        buf_printf(out, ", %lld", (long long)t);
    buf_puts(out, "])\n");
}

/* Writes host lines that give every core the same number of row tiles. False where the kernel is not a
 * single loop over rows. */
static bool put_even(const EachPlan *p, Buf *out)
{
    if (!p->row)
        return false;
    for (uint32_t i = 0; i < p->e->jobs.len; i++)
        if (p->axes[i].groups != 2 || p->axes[i].size[0] != p->axes[0].size[0])
            return false;
    const char *rows = p->axes[0].name[0];
    buf_printf(out, "    even = ceildiv(%s, align_up(ceildiv(%s, tile), chip.cores))\n", rows,
               rows);
    return true;
}

/* Cycles of 64 elements to bring a tensor to or from the width that is computed in; truth values are
 * made from a mask. */
static double cast_cycles(DType dtype)
{
    return dtype == DT_BOOL ? 4 : dtype_bytes(dtype) == 4 ? 0 : 2;
}

/* One loop over one axis is worth only so many cores; false: it is not one. */
static bool put_cores(EachPlan *p, Buf *out)
{
    CoresWork work = {.cycles = p->e->g->nodes.len, .calls = p->e->g->nodes.len};
    if (p->all_cores || p->e->jobs.len != 1 || p->axes[0].groups != 1)
        return false;
    for (uint32_t i = 0; i < p->tensors.len; i++) {
        const Value *v = graph_value(p->e->g, p->tensors.at[i].value);
        *(p->tensors.at[i].output ? &work.out : &work.in) += (double)dtype_bytes(v->dtype);
        work.cycles += cast_cycles(v->dtype);
    }
    buf_printf(out, "    %s\n", cores_lines(p->e->arena, p->axes[0].name[0], work));
    return true;
}

static Str write_program(EachPlan *p, const char *name, bool *failed)
{
    Buf out = {0}, body = {0};
    EachBuffers *buffers = arena_new(p->e->arena, EachBuffers);
    *buffers = (EachBuffers){0};
    for (uint32_t i = 0; i < p->e->jobs.len; i++)
        (p->wide ? elementwise_int64_body : elementwise_body)(p, i, buffers, &body);
    share_slots(buffers, 'a');
    share_slots(buffers, 'o');
    *failed = buffers->failed;
    put_reasons(p, &out);
    buf_puts(&out, "craft = 1\n\n");
    declare_dims(p, &out);
    buf_printf(&out, "\n@host\ndef %s(", name);
    put_parameters(p, &out);
    buf_puts(&out, "):\n");
    put_choice(p, &out);
    bool few = put_cores(p, &out), even = put_even(p, &out);
    buf_printf(&out, "    %s_each[%s](", name, few ? "cores" : "chip.cores");
    for (uint32_t i = 0; i < p->tensors.len; i++)
        buf_printf(&out, "%s, ", p->tensors.at[i].name);
    buf_printf(&out, "%s)\n\n@kernel\ndef %s_each(", few ? "piece" : even ? "even" : "tile", name);
    put_parameters(p, &out);
    buf_puts(&out, ", tile: i32):\n");
    put_buffers(p, buffers, &out);
    buf_str(&out, buf_view(&body));
    if (p->wide)
        buf_puts(&out, elementwise_int64_helpers);
    Str text = str_from(buf_take(&out, p->e->arena));
    buf_free(&out);
    buf_free(&body);
    return text;
}

static void name_tensors(EachPlan *p)
{
    uint32_t in = 0, out = 0;
    for (uint32_t i = 0; i < p->tensors.len; i++) {
        EachTensor *t = &p->tensors.at[i];
        t->name = str_format(p->e->arena, t->output ? "y%u" : "x%u", t->output ? out++ : in++);
    }
}

static void order_leaves(Each *e)
{
    for (uint32_t i = 1; i < e->leaves.len; i++)
        for (uint32_t k = i;
             k && graph_place(e->g, e->leaves.at[k]) < graph_place(e->g, e->leaves.at[k - 1]);
             k--) {
            ValueId other = e->leaves.at[k];
            e->leaves.at[k] = e->leaves.at[k - 1];
            e->leaves.at[k - 1] = other;
        }
}

/* 8 cores' worth of a small task: tiles no larger than a core's share. */
static int64_t first_tile(int64_t limit)
{
    int64_t tile = limit && limit < MOST ? limit / LEAST * LEAST : MOST;
    return tile < LEAST ? LEAST : tile;
}

static bool plan_each(Arena *arena, const Graph *graph, const NpuChip *chip, int64_t tile_limit,
                      bool all_cores, const char *name, Plan *plan, Diag *diag)
{
    Each e = {.arena = arena, .g = graph, .diag = diag, .rounds = prim_widens(graph)};
    EachPlan *p = arena_new(arena, EachPlan);
    bool failed = false;
    if (!elementwise_read(&e))
        return false;
    order_leaves(&e);
    *p = (EachPlan){.e = &e,
                    .chip = chip,
                    .tile = first_tile(tile_limit),
                    .all_cores = all_cores,
                    .wide = int64_node(arena, graph) != NULL};
    if (!elementwise_axes(p))
        return false;
    name_tensors(p);
    elementwise_rows(p);
    *plan = (Plan){.strategy = "elementwise", .name = name};
    do
        plan->craft = write_program(p, name, &failed);
    while (!failed && fit_program(plan->craft, chip).exceeds &&
           (p->tile = p->tile * 3 / 4 / LEAST * LEAST) >= (p->row ? p->pitch : LEAST));
    plan->tile = p->tile;
    for (uint32_t i = 0; i < p->tensors.len; i++) {
        const EachTensor *t = &p->tensors.at[i];
        PlanOperand o = {.value = t->value,
                         .output = t->output,
                         .name = t->name,
                         .dtype = graph_value(graph, t->value)->dtype,
                         .shape = t->shape};
        vec_push(arena, &plan->operands, o);
    }
    return !failed && p->tile >= (p->row ? p->pitch : LEAST);
}

bool plan_elementwise(Arena *arena, const Graph *graph, const NpuChip *chip, int64_t tile_limit,
                      const char *name, Plan *plan, Diag *diag)
{
    return plan_each(arena, graph, chip, tile_limit, false, name, plan, diag);
}

bool plan_elementwise_plain(Arena *arena, const Graph *graph, const NpuChip *chip,
                            int64_t tile_limit, const char *name, Plan *plan, Diag *diag)
{
    return plan_each(arena, graph, chip, tile_limit, true, name, plan, diag);
}
