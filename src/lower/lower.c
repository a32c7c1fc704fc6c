/* Lowering: the passes in order.
 *
 *     tile IR
 *       │  channels  sends and receives become stores, loads and flags
 *       │  host      the host function's decisions: tiling struct, tiling keys, launches
 *       │  init      the classes' members: which storage each buffer has, what shares it
 *       │  compute   Process and stage functions: slots, hand-overs, every operation as calls
 *       │  align     DataCopy where 32-byte blocks are proven, DataCopyPad elsewhere
 *       ▼
 *     Ascend program ──▶ emit/ascendc (text), emit/sim (records)
 */
#include "lower/lower_int.h"

#include <string.h>

static const char *const pass_names[] = {"host", "init", "compute", "align"};

bool lower_pass_from_name(Str name, LowerPass *pass)
{
    for (LowerPass i = LOWER_HOST; i <= LOWER_ALIGN; i++)
        if (str_is(name, pass_names[i])) {
            *pass = i;
            return true;
        }
    return false;
}

static void *copy_array(Arena *arena, const void *from, uint32_t count, size_t size)
{
    void *to = arena_alloc_array(arena, count ? count : 1, size);
    if (count)
        memcpy(to, from, count * size);
    return to;
}

#define COPY_VEC(arena, v)                                              \
    ((v)->at = copy_array((arena), (v)->at, (v)->len, sizeof *(v)->at), \
     (v)->cap = (v)->len ? (v)->len : 1)

/* A program of our own to add variables, expressions and statements to. */
static IrProgram *own_copy(Arena *arena, const IrProgram *ir)
{
    IrProgram *p = arena_new(arena, IrProgram);
    *p = *ir;
    p->arena = arena;
    COPY_VEC(arena, &p->exprs);
    COPY_VEC(arena, &p->vars);
    COPY_VEC(arena, &p->stmts);
    COPY_VEC(arena, &p->tensors);
    COPY_VEC(arena, &p->kernels);
    return p;
}

/* ---- what nothing uses is dropped ---- */

static bool used_in_ref(const Lower *l, const AscRef *r, IrVarId var)
{
    return r->used && (lx_uses(l, r->offset, var) || lx_uses(l, r->item, var));
}

static bool used_in_stmt(const Lower *l, const AscStmt *s, IrVarId var)
{
    const IrExprId e[] = {s->lo,
                          s->hi,
                          s->step,
                          s->value,
                          s->scalar,
                          s->count,
                          s->mask,
                          s->repeat,
                          s->copy.rows,
                          s->copy.cols,
                          s->copy.gm_row,
                          s->copy.ub_row,
                          s->copy.pad,
                          s->strides.dst_block,
                          s->strides.a_block,
                          s->strides.b_block,
                          s->strides.dst_repeat,
                          s->strides.a_repeat,
                          s->strides.b_repeat};
    for (size_t i = 0; i < sizeof e / sizeof *e; i++)
        if (lx_uses(l, e[i], var))
            return true;
    for (size_t i = 0; i < ASC_CUBE_ARGS; i++)
        if (lx_uses(l, s->arg[i], var))
            return true;
    const AscRef *refs[] = {&s->dst, &s->a, &s->b, &s->c, &s->copy.gm, &s->copy.ub};
    for (size_t i = 0; i < sizeof refs / sizeof *refs; i++)
        if (used_in_ref(l, refs[i], var))
            return true;
    return ls_uses(l, &s->body, var) || ls_uses(l, &s->orelse, var);
}

bool ls_uses(const Lower *l, const AscBlock *block, IrVarId var)
{
    for (uint32_t i = 0; i < block->len; i++)
        if (used_in_stmt(l, &l->out->stmts.at[block->at[i]], var))
            return true;
    return false;
}

static bool uses_num_cores(const Lower *l, const AscKernel *k, IrVarId var)
{
    if (var != k->cores)
        return false;
    for (uint32_t i = 0; i < l->ir->exprs.len; i++)
        if (l->ir->exprs.at[i].op == IR_E_NUM_CORES)
            return true;
    return false;
}

static bool used_in_kernel(const Lower *l, const AscKernel *k, IrVarId var)
{
    for (uint32_t i = 0; i < k->functions.len; i++)
        if (ls_uses(l, &k->functions.at[i].body, var))
            return true;
    for (uint32_t i = 0; i < k->buffers.len; i++)
        if (lx_uses(l, k->buffers.at[i].bytes, var) || lx_uses(l, k->buffers.at[i].depth, var))
            return true;
    for (uint32_t i = 0; i < k->streams.len; i++)
        if (lx_uses(l, k->streams.at[i].together, var))
            return true;
    return uses_num_cores(l, k, var);
}

/* Assignments nothing reads; dropping one may make another useless. */
static bool drop_sets(Lower *l, const AscKernel *k, AscBlock *block)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < block->len; i++) {
        AscStmt *s = &l->out->stmts.at[block->at[i]];
        if (s->kind == ASC_S_SET && !used_in_kernel(l, k, s->var))
            continue;
        block->at[kept++] = block->at[i];
    }
    bool dropped = kept < block->len;
    block->len = kept;
    for (uint32_t i = 0; i < block->len; i++) {
        AscStmt *s = &l->out->stmts.at[block->at[i]];
        dropped = drop_sets(l, k, &s->body) || dropped;
        dropped = drop_sets(l, k, &s->orelse) || dropped;
    }
    return dropped;
}

static void drop_members(Lower *l, AscKernel *k)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < k->members.len; i++)
        if (used_in_kernel(l, k, k->members.at[i]))
            k->members.at[kept++] = k->members.at[i];
    k->members.len = kept;
}

static bool is_member(const AscKernel *k, IrVarId var)
{
    for (uint32_t i = 0; i < k->members.len; i++)
        if (k->members.at[i] == var)
            return true;
    return false;
}

static bool field_used(const Lower *l, uint32_t field)
{
    for (uint32_t i = 0; i < l->out->paths.len; i++)
        for (uint32_t j = 0; j < l->out->paths.at[i].rooms.len; j++)
            if (l->out->paths.at[i].rooms.at[j].field == field)
                return true;
    for (uint32_t i = 0; i < l->out->paths.len; i++)
        for (uint32_t j = 0; j < l->out->paths.at[i].launches.len; j++) {
            const AscLaunch *launch = &l->out->paths.at[i].launches.at[j];
            const AscKernel *k = &l->out->kernels.at[launch->kernel];
            if (launch->cores_field == field && asc_is_guarded(l->out, &l->out->paths.at[i]))
                return true;
            for (uint32_t b = 0; b < launch->binds.len; b++)
                if (launch->binds.at[b].field == field && is_member(k, launch->binds.at[b].var))
                    return true;
        }
    return false;
}

static void renumber(AscProgram *p, const uint32_t *now)
{
    for (uint32_t i = 0; i < p->paths.len; i++)
        for (uint32_t j = 0; j < p->paths.at[i].rooms.len; j++)
            if (p->paths.at[i].rooms.at[j].field != UINT32_MAX)
                p->paths.at[i].rooms.at[j].field = now[p->paths.at[i].rooms.at[j].field];
    for (uint32_t i = 0; i < p->paths.len; i++)
        for (uint32_t j = 0; j < p->paths.at[i].launches.len; j++) {
            AscLaunch *launch = &p->paths.at[i].launches.at[j];
            if (launch->cores_field != UINT32_MAX)
                launch->cores_field = now[launch->cores_field];
            for (uint32_t b = 0; b < launch->binds.len; b++)
                if (launch->binds.at[b].field != UINT32_MAX)
                    launch->binds.at[b].field = now[launch->binds.at[b].field];
        }
}

static void drop_fields(Lower *l)
{
    AscProgram *p = l->out;
    uint32_t *now = arena_array(l->arena, uint32_t, p->fields.len + 1);
    uint32_t kept = 0;
    for (uint32_t i = 0; i < p->fields.len; i++) {
        bool used = field_used(l, i);
        now[i] = used ? kept : UINT32_MAX;
        if (used)
            p->fields.at[kept++] = p->fields.at[i];
    }
    p->fields.len = kept;
    renumber(p, now);
}

static void drop_unused(Lower *l)
{
    for (uint32_t i = 0; i < l->out->kernels.len; i++) {
        AscKernel *k = &l->out->kernels.at[i];
        bool again = true;
        while (again) {
            again = false;
            for (uint32_t f = 0; f < k->functions.len; f++)
                again = drop_sets(l, k, &k->functions.at[f].body) || again;
        }
        drop_members(l, k);
    }
    drop_fields(l);
}

/* ---- room in UB ---- */

/* What Select keeps for itself (docs 比较与选择/Select.md). */
enum { SELECT_RESERVE = 8192 };

static IrExprId room_of(Lower *l, const AscBuffer *b)
{
    return asc_is_queue(b->storage) ? lx_mul(l, b->depth, b->bytes) : b->bytes;
}

/* "a 65536, scratch.0 32768" */
static const char *holders(Lower *l, const AscKernel *k)
{
    Buf out = {0};
    for (uint32_t i = 0; i < k->buffers.len; i++)
        buf_printf(&out, "%s%s %lld", i ? ", " : "", asc_buffer_stem(l->arena, &k->buffers.at[i]),
                   (long long)lx_least(l, room_of(l, &k->buffers.at[i])));
    if (k->uses_select)
        buf_printf(&out, ", kept by Select %d", SELECT_RESERVE);
    const char *text = buf_take(&out, l->arena);
    buf_free(&out);
    return text;
}

/* Tiles of the cube are rounded up to whole fractals. */
static void check_cube_room(Lower *l, const AscKernel *k, IrMemory memory, int64_t room)
{
    static const char *const names[] = {
        [IR_L1] = "L1", [IR_L0A] = "L0A", [IR_L0B] = "L0B", [IR_L0C] = "L0C"};
    IrExprId total = 0;
    for (uint32_t i = 0; i < k->buffers.len; i++)
        if (k->buffers.at[i].memory == memory)
            total = lx_add(l, total, room_of(l, &k->buffers.at[i]));
    if (!total || lx_most(l, total) <= room)
        return;
    diag_error(l->diag, "E094", k->source->at,
               "kernel '%s' may need %lld bytes of %s with whole fractals, %lld exist",
               k->source->name, (long long)lx_most(l, total), names[memory], (long long)room);
    diag_hint(l->diag, "use smaller tiles, or depth=1");
}

static void check_room(Lower *l, AscKernel *k)
{
    check_cube_room(l, k, IR_L1, l->chip->l1);
    check_cube_room(l, k, IR_L0A, l->chip->l0a);
    check_cube_room(l, k, IR_L0B, l->chip->l0b);
    check_cube_room(l, k, IR_L0C, l->chip->l0c);
    IrExprId total = lx_int(l, k->uses_select ? SELECT_RESERVE : 0);
    for (uint32_t i = 0; i < k->buffers.len; i++)
        if (k->buffers.at[i].memory == IR_UB)
            total = lx_add(l, total, room_of(l, &k->buffers.at[i]));
    if (lx_least(l, total) > (int64_t)l->chip->ub) {
        diag_error(
            l->diag, "E094", k->source->at,
            "kernel '%s' needs at least %lld bytes of UB with the compiler's scratch, %u exist: %s",
            k->source->name, (long long)lx_least(l, total), l->chip->ub, holders(l, k));
        diag_hint(l->diag, "use smaller tiles, or depth=1");
    } else if (lx_most(l, total) > (int64_t)l->chip->ub) {
        k->ub_bytes = total;
        diag_warn(l->diag, "W094", k->source->at,
                  "kernel '%s' may need %lld bytes of UB with the compiler's scratch, %u exist; "
                  "the tiling function refuses what does not fit",
                  k->source->name, (long long)lx_most(l, total), l->chip->ub);
    }
}

static bool passed(const Lower *l, LowerPass pass, bool ok)
{
#ifndef NDEBUG
    if (ok)
        lower_verify(l, pass);
#else
    (void)l, (void)pass;
#endif
    return ok;
}

AscProgram *lower_program(Arena *arena, const IrProgram *ir, const NpuChip *chip, LowerPass last,
                          Diag *diag)
{
    AscProgram *p = arena_new(arena, AscProgram);
    Lower l = {.arena = arena, .out = p, .ir = own_copy(arena, ir), .chip = chip, .diag = diag};
    p->arena = arena;
    p->ir = l.ir;
    p->chip = chip;
    vec_push(arena, &p->stmts, (AscStmt){0});
    ir_annotate_launched(l.ir, chip);

    bool ok = lower_channels(&l) && passed(&l, LOWER_HOST, lower_host(&l));
    if (ok && last >= LOWER_INIT)
        ok = passed(&l, LOWER_INIT, lower_init(&l));
    if (ok && last >= LOWER_COMPUTE)
        ok = passed(&l, LOWER_COMPUTE, lower_compute(&l));
    if (ok && last >= LOWER_ALIGN)
        ok = passed(&l, LOWER_ALIGN, lower_align(&l));
    if (!ok)
        return NULL;
    if (last >= LOWER_COMPUTE) {
        drop_unused(&l);
        for (uint32_t i = 0; i < p->kernels.len; i++)
            if (p->kernels.at[i].launched)
                check_room(&l, &p->kernels.at[i]);
    }
    return diag_ok(diag) ? p : NULL;
}
