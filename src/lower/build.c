/* Writing the Ascend program: statements, calls, scratch. In: operands. Out: statements appended
 * to the block being written, members appended to the kernel. */
#include "lower/lower_int.h"

#include <string.h>

const AscApiRow asc_apis[ASC_API_COUNT] = {
#define B(dtype) (1u << DT_##dtype)
#define PAGE(page) "cannmirror/asc-devkit docs/zh/api/SIMD-API/基础API/Memory矢量计算/" page
#define HIGH(page) "cannmirror/asc-devkit docs/zh/api/SIMD-API/高阶API/" page
#define CALL(id, text, isa, form_, dtypes_, source_) \
    [ASC_##id] = {text, NPU_##isa, ASC_F_##form_, dtypes_, source_},
#include "lower/call.def"
#undef CALL
#undef PAGE
#undef HIGH
#undef B
};

static const char *const event_names[ASC_EVENT_COUNT] = {
    [ASC_MTE2_V] = "MTE2_V",       [ASC_V_MTE2] = "V_MTE2", [ASC_MTE2_MTE3] = "MTE2_MTE3",
    [ASC_MTE3_MTE2] = "MTE3_MTE2", [ASC_V_MTE3] = "V_MTE3", [ASC_MTE3_V] = "MTE3_V",
    [ASC_S_MTE3] = "S_MTE3",       [ASC_MTE3_S] = "MTE3_S", [ASC_S_MTE2] = "S_MTE2",
    [ASC_MTE2_S] = "MTE2_S",       [ASC_V_S] = "V_S",       [ASC_S_V] = "S_V",
    [ASC_FIX_MTE2] = "FIX_MTE2",
};

const char *asc_event_name(AscEvent event) { return event_names[event]; }
bool asc_is_queue(AscStorage storage) { return storage != ASC_TBUF; }

bool asc_is_mixed(const AscProgram *p)
{
    return p->task == ASC_TASK_MIX_1_1 || p->task == ASC_TASK_MIX_1_2;
}

bool asc_is_guarded(const AscProgram *p, const AscPath *path)
{
    const IrKernel *first = &p->ir->kernels.at[path->launches.at[0].kernel];
    return path->launches.len > 1 || (asc_is_mixed(p) && !(first->has_cube && first->has_vector));
}

int64_t asc_cores_per_block(const AscProgram *p, uint32_t kernel)
{
    return p->task == ASC_TASK_MIX_1_2 && !p->ir->kernels.at[kernel].has_cube ? 2 : 1;
}

bool asc_is_beside(const AscProgram *p, const IrKernel *k)
{
    return p->task == ASC_TASK_MIX_1_2 && k->has_cube && k->has_vector;
}

const char *asc_buffer_stem(Arena *arena, const AscBuffer *b)
{
    const char *dot = strrchr(b->name, '.');
    return str_dup(arena, dot ? (Str){b->name, (size_t)(dot - b->name)} : str_from(b->name));
}

/* ---- statements ---- */

AscStmt *ls_new(Lower *l, AscStmtKind kind)
{
    AscProgram *p = l->out;
    vec_push(l->arena, &p->stmts, ((AscStmt){.kind = kind, .at = l->span}));
    vec_push(l->arena, l->at, p->stmts.len - 1);
    return &vec_last(&p->stmts);
}

AscStmtId ls_last(const Lower *l) { return l->out->stmts.len - 1; }

void ls_open(Lower *l, Opened *o)
{
    *o = (Opened){.outer = l->at};
    l->at = &o->block;
}

void ls_close(Lower *l, Opened *o, AscStmtId owner, bool orelse)
{
    AscStmt *s = &l->out->stmts.at[owner];
    *(orelse ? &s->orelse : &s->body) = o->block;
    l->at = o->outer;
}

AscStmtId ls_for(Lower *l, IrVarId var, IrExprId lo, IrExprId hi, IrExprId step)
{
    AscStmt *s = ls_new(l, ASC_S_FOR);
    s->var = var;
    s->lo = lo;
    s->hi = hi;
    s->step = step;
    return ls_last(l);
}

void ls_set(Lower *l, IrVarId var, IrExprId value)
{
    AscStmt *s = ls_new(l, ASC_S_SET);
    s->var = var;
    s->value = value;
}

void ls_flag(Lower *l, AscEvent event) { ls_new(l, ASC_S_FLAG)->event = event; }

void ls_queue(Lower *l, AscStmtKind kind, uint32_t local, AscHand hand)
{
    AscStmt *s = ls_new(l, kind);
    s->local = local;
    s->hand = hand;
}

void ls_get(Lower *l, IrVarId var, AscRef from)
{
    AscStmt *s = ls_new(l, ASC_S_GET);
    s->var = var;
    s->a = from;
}

void ls_put(Lower *l, AscRef to, IrExprId value)
{
    AscStmt *s = ls_new(l, ASC_S_PUT);
    s->dst = to;
    s->value = value;
}

/* ---- operands ---- */

AscRef ref_local(uint32_t local, DType dtype, IrExprId offset)
{
    return (AscRef){.used = true, .id = local, .dtype = dtype, .offset = offset};
}

AscRef ref_at(Lower *l, AscRef ref, IrExprId more)
{
    ref.offset = lx_add(l, ref.offset, more);
    return ref;
}

AscRef ref_as(Lower *l, AscRef ref, DType dtype)
{
    int64_t from = (int64_t)dtype_bytes(ref.dtype), to = (int64_t)dtype_bytes(dtype);
    if (ref.offset && from > to)
        ref.offset = lx_mul(l, ref.offset, lx_int(l, from / to));
    else if (ref.offset && from < to)
        ref.offset = ir_expr2(l->ir, IR_E_FLOORDIV, ref.offset, lx_int(l, to / from));
    ref.dtype = dtype;
    return ref;
}

/* ---- calls ---- */

static AscStmt *call(Lower *l, AscApi api, AscRef dst, AscRef a, IrExprId count)
{
    AscStmt *s = ls_new(l, ASC_S_CALL);
    s->api = api;
    s->dst = dst;
    s->a = a;
    s->count = count;
    return s;
}

void call_binary(Lower *l, AscApi api, AscRef dst, AscRef a, AscRef b, IrExprId count)
{
    call(l, api, dst, a, count)->b = b;
}

void call_unary(Lower *l, AscApi api, AscRef dst, AscRef a, IrExprId count)
{
    call(l, api, dst, a, count);
}

void call_scalar(Lower *l, AscApi api, AscRef dst, AscRef a, IrExprId scalar, IrExprId count)
{
    call(l, api, dst, a, count)->scalar = scalar;
}

IrExprId lower_scalar_const(Lower *l, double value, DType dtype)
{
    return dtype_is_float(dtype) ? ir_float(l->ir, value) : lx_int(l, (int64_t)value);
}

void call_const(Lower *l, AscApi api, AscRef dst, AscRef a, double scalar, IrExprId count)
{
    call_scalar(l, api, dst, a, lower_scalar_const(l, scalar, a.dtype), count);
}

void call_fill(Lower *l, AscRef dst, IrExprId scalar, IrExprId count)
{
    call(l, ASC_DUPLICATE, dst, (AscRef){0}, count)->scalar = scalar;
}

void call_cast(Lower *l, AscRef dst, AscRef a, enum NpuRound round, IrExprId count)
{
    call(l, ASC_CAST, dst, a, count)->mode = (int)round;
}

/* Compare works on whole repeats of 256 bytes: the count is rounded up, and the buffers hold
 * that much (docs VEC 比较与选择/Compare.md). */
static IrExprId whole_repeats(Lower *l, IrExprId count, DType dtype)
{
    return lx_align(l, count, 256 / (int64_t)dtype_bytes(dtype));
}

void call_compare(Lower *l, AscRef mask, AscRef a, AscRef b, int mode, IrExprId count)
{
    IrExprId whole = whole_repeats(l, count, a.dtype);
    AscStmt *s = call(l, ASC_COMPARE, mask, a, whole);
    s->b = b;
    s->mode = mode;
}

void call_compares(Lower *l, AscRef mask, AscRef a, IrExprId scalar, int mode, IrExprId count)
{
    IrExprId whole = whole_repeats(l, count, a.dtype);
    AscStmt *s = call(l, ASC_COMPARES, mask, a, whole);
    s->scalar = scalar;
    s->mode = mode;
}

void call_select(Lower *l, AscRef dst, AscRef mask, AscRef a, AscRef b, IrExprId count)
{
    AscStmt *s = call(l, ASC_SELECT, dst, a, count);
    s->b = b;
    s->c = mask;
    l->k->uses_select = true;
}

void call_selects(Lower *l, AscRef dst, AscRef mask, AscRef a, IrExprId scalar, IrExprId count)
{
    AscStmt *s = call(l, ASC_SELECTS, dst, a, count);
    s->scalar = scalar;
    s->c = mask;
    l->k->uses_select = true;
}

void call_reduce(Lower *l, AscApi api, AscRef dst, AscRef a, AscRef work, IrExprId count, int at)
{
    AscStmt *s = call(l, api, dst, a, count);
    s->c = work;
    s->mode = at;
}

/* ---- scratch ---- */

static uint32_t scratch_slot(Lower *l, uint32_t n)
{
    uint32_t seen = 0;
    for (uint32_t i = 0; i < l->k->locals.len; i++)
        if (l->k->locals.at[i].source == UINT32_MAX && seen++ == n)
            return i;
    char *name = str_format(l->arena, "scratch.%u", n);
    AscBuffer buffer = {.name = str_format(l->arena, "scratch.%u.buf", n), .storage = ASC_TBUF};
    vec_push(l->arena, &l->k->buffers, buffer);
    AscLocal local = {name, DT_F32, l->k->buffers.len - 1, UINT32_MAX};
    vec_push(l->arena, &l->k->locals, local);
    return l->k->locals.len - 1;
}

static IrExprId scratch_bytes(Lower *l, DType dtype, IrExprId elements)
{
    IrExprId bytes = lx_mul(l, elements, lx_int(l, (int64_t)dtype_bytes(dtype)));
    return lx_align(l, bytes, lx_most(l, bytes) <= 32 ? 32 : 256);
}

AscRef scratch_keep(Lower *l, const char *name, DType dtype, IrExprId elements)
{
    uint32_t n = l->k->locals.len;
    AscBuffer buffer = {.name = str_format(l->arena, "%s.kept.%u.buf", name, n),
                        .storage = ASC_TBUF,
                        .bytes = scratch_bytes(l, dtype, elements)};
    vec_push(l->arena, &l->k->buffers, buffer);
    AscLocal local = {str_format(l->arena, "%s.kept.%u", name, n), dtype, l->k->buffers.len - 1,
                      ASC_KEPT};
    vec_push(l->arena, &l->k->locals, local);
    return ref_local(n, dtype, 0);
}

/* Rounded up to whole repeats, so that any scratch may be compared. */
AscRef scratch_take(Lower *l, DType dtype, IrExprId elements)
{
    uint32_t local = scratch_slot(l, l->scratch_used++);
    AscBuffer *b = &l->k->buffers.at[l->k->locals.at[local].buffer];
    IrExprId bytes = scratch_bytes(l, dtype, elements);
    b->bytes = b->bytes ? lx_max(l, b->bytes, bytes) : bytes;
    return ref_local(local, dtype, 0);
}
