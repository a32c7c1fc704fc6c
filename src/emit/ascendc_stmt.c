/* Statements of the Ascend program as C++. In: a function's block and its scope. Out: lines. */
#include "emit/ascendc_int.h"

#include <string.h>

typedef struct Body {
    Printer *pr;
    const FunctionScope *scopes, *scope;
    VEC(const char *) visible; /* names declared in the blocks around the place */
    bool *has_tensor;          /* local tensors declared so far, beside the locals */
    uint32_t last_line;        /* Craft line whose text was last shown */
} Body;

static void print_block(Body *b, const AscBlock *block);

/* ---- names ---- */

static bool is_visible(const Body *b, const char *name)
{
    for (uint32_t i = 0; i < b->visible.len; i++)
        if (strcmp(b->visible.at[i], name) == 0)
            return true;
    return false;
}

static const char *declare_name(Body *b, IrVarId var)
{
    Arena *arena = b->pr->arena;
    const char *base = camel(arena, b->pr->p->ir->vars.at[var].name), *name = base;
    for (int n = 2; is_visible(b, name); n++)
        name = str_format(arena, "%s%d", base, n);
    vec_push(arena, &b->visible, name);
    b->pr->names[var] = name;
    return name;
}

static const char *name_of(const Body *b, IrVarId var)
{
    const char *name = b->pr->names[var];
    return name ? name : camel(b->pr->arena, b->pr->p->ir->vars.at[var].name);
}

static const char *local_name(const Body *b, uint32_t local)
{
    return camel(b->pr->arena, b->pr->k->locals.at[local].name);
}

/* "float m = " where the statement declares m, else "m = ". */
static const char *target(Body *b, AscStmtId id, IrVarId var)
{
    if (b->scope->vars[var].at != id)
        return str_format(b->pr->arena, "%s = ", name_of(b, var));
    const char *type = cxx_scalar(b->pr->p->ir->vars.at[var].type);
    return str_format(b->pr->arena, "%s %s = ", type, declare_name(b, var));
}

static void declare_before(Body *b, AscStmtId id)
{
    const IrProgram *ir = b->pr->p->ir;
    for (IrVarId v = 1; v < ir->vars.len; v++) {
        if (b->scope->vars[v].before != id)
            continue;
        DType type = ir->vars.at[v].type;
        const char *zero = type == DT_F32 ? "0.0f" : type == DT_BOOL ? "false" : "0";
        pen_line(b->pr->pen, "%s %s = %s;", cxx_scalar(type), declare_name(b, v), zero);
    }
}

/* ---- operands ---- */

const char *param_gm_name(const Printer *pr, uint32_t tensor)
{
    return str_format(pr->arena, "%sGm", camel(pr->arena, pr->k->source->tensors.at[tensor].name));
}

static const char *base_text(const Body *b, const AscRef *r)
{
    if (r->global)
        return param_gm_name(b->pr, r->id);
    const AscLocal *local = &b->pr->k->locals.at[r->id];
    const char *name = local_name(b, r->id);
    if (local->dtype == r->dtype)
        return name;
    return str_format(b->pr->arena, "%s.ReinterpretCast<%s>()", name, cxx_type(r->dtype));
}

static const char *ref(const Body *b, const AscRef *r)
{
    const char *base = base_text(b, r);
    if (!r->offset)
        return base;
    return str_format(b->pr->arena, "%s[%s]", base, print_expr(b->pr, r->offset));
}

static const char *ex(const Body *b, IrExprId e) { return print_expr(b->pr, e); }

/* ---- calls ---- */

static const char *round_name(int mode)
{
    static const char *const names[] = {"CAST_NONE",  "CAST_RINT",  "CAST_FLOOR", "CAST_CEIL",
                                        "CAST_ROUND", "CAST_TRUNC", "CAST_ODD"};
    return names[mode];
}

static const char *compare_name(int mode)
{
    static const char *const names[] = {"LT", "GT", "EQ", "LE", "GE", "NE"};
    return names[mode];
}

/* "n" of the count form, or mask, repeat and strides. */
static const char *extent(const Body *b, const AscStmt *s, bool two)
{
    if (s->count)
        return ex(b, s->count);
    const AscStrides *t = &s->strides;
    const char *head = str_format(b->pr->arena, "%s, %s, AscendC::", ex(b, s->mask),
                                  ex(b, s->repeat));
    if (two)
        return str_format(b->pr->arena, "%sBinaryRepeatParams(%s, %s, %s, %s, %s, %s)", head,
                          ex(b, t->dst_block), ex(b, t->a_block), ex(b, t->b_block),
                          ex(b, t->dst_repeat), ex(b, t->a_repeat), ex(b, t->b_repeat));
    return str_format(b->pr->arena, "%sUnaryRepeatParams(%s, %s, %s, %s)", head,
                      ex(b, t->dst_block), ex(b, t->a_block), ex(b, t->dst_repeat),
                      ex(b, t->a_repeat));
}

static void print_repeat_reduce(Body *b, const AscStmt *s, const char *name, const char *order)
{
    const AscStrides *t = &s->strides;
    pen_line(b->pr->pen, "AscendC::%s(%s, %s, %s, %s, %s, %s, %s%s);", name, ref(b, &s->dst),
             ref(b, &s->a), ex(b, s->mask), ex(b, s->repeat), ex(b, t->dst_repeat),
             ex(b, t->a_block), ex(b, t->a_repeat), order);
}

static void print_block_reduce(Body *b, const AscStmt *s, const char *name)
{
    const AscStrides *t = &s->strides;
    pen_line(b->pr->pen, "AscendC::%s(%s, %s, %s, %s, %s, %s, %s);", name, ref(b, &s->dst),
             ref(b, &s->a), ex(b, s->repeat), ex(b, s->mask), ex(b, t->dst_repeat),
             ex(b, t->a_block), ex(b, t->a_repeat));
}

static void print_gather_mask(Body *b, AscStmtId id, const AscStmt *s)
{
    Pen *pen = b->pr->pen;
    const char *kept = "kept";
    pen_line(pen, "uint64_t %s = 0;", kept);
    pen_line(
        pen,
        "AscendC::GatherMask(%s, %s, %s, true, %s, AscendC::GatherMaskParams(1, 1, 8, 8), %s);",
        ref(b, &s->dst), ref(b, &s->a), ref(b, &s->b), ex(b, s->count), kept);
    pen_line(pen, "%sstatic_cast<int64_t>(%s);", target(b, id, s->var), kept);
}

static void print_call(Body *b, AscStmtId id, const AscStmt *s)
{
    const AscApiRow *row = &asc_apis[s->api];
    Pen *pen = b->pr->pen;
    const char *n = row->name, *d = ref(b, &s->dst);
    const char *scalar = s->scalar ? print_as(b->pr, s->scalar, s->dst.dtype) : "";
    switch (row->form) {
    case ASC_F_BINARY:
        pen_line(pen, "AscendC::%s(%s, %s, %s, %s);", n, d, ref(b, &s->a), ref(b, &s->b),
                 extent(b, s, true));
        break;
    case ASC_F_UNARY:
        pen_line(pen, "AscendC::%s(%s, %s, %s);", n, d, ref(b, &s->a), extent(b, s, false));
        break;
    case ASC_F_SCALAR:
        pen_line(pen, "AscendC::%s(%s, %s, %s, %s);", n, d, ref(b, &s->a), scalar,
                 extent(b, s, false));
        break;
    case ASC_F_FILL:
    case ASC_F_INDEX:
        pen_line(pen, "AscendC::%s(%s, %s, %s);", n, d, scalar, ex(b, s->count));
        break;
    case ASC_F_CAST:
        pen_line(pen, "AscendC::%s(%s, %s, AscendC::RoundMode::%s, %s);", n, d, ref(b, &s->a),
                 round_name(s->mode), extent(b, s, false));
        break;
    case ASC_F_COMPARE:
        pen_line(pen, "AscendC::%s(%s, %s, %s, AscendC::CMPMODE::%s, %s);", n, d, ref(b, &s->a),
                 ref(b, &s->b), compare_name(s->mode), ex(b, s->count));
        break;
    case ASC_F_COMPARES:
        pen_line(pen, "AscendC::%s(%s, %s, %s, AscendC::CMPMODE::%s, %s);", n, d, ref(b, &s->a),
                 print_as(b->pr, s->scalar, s->a.dtype), compare_name(s->mode), ex(b, s->count));
        break;
    case ASC_F_SELECT:
        pen_line(pen, "AscendC::%s(%s, %s, %s, %s, AscendC::SELMODE::VSEL_TENSOR_TENSOR_MODE, %s);",
                 n, d, ref(b, &s->c), ref(b, &s->a), ref(b, &s->b), ex(b, s->count));
        break;
    case ASC_F_SELECTS:
        pen_line(pen, "AscendC::%s(%s, %s, %s, %s, AscendC::SELMODE::VSEL_TENSOR_SCALAR_MODE, %s);",
                 n, d, ref(b, &s->c), ref(b, &s->a), scalar, ex(b, s->count));
        break;
    case ASC_F_REDUCE:
        pen_line(pen, "AscendC::%s(%s, %s, %s, %s);", n, d, ref(b, &s->a), ref(b, &s->c),
                 ex(b, s->count));
        break;
    case ASC_F_REDUCE_AT:
        pen_line(pen, "AscendC::%s(%s, %s, %s, %s%s);", n, d, ref(b, &s->a), ref(b, &s->c),
                 ex(b, s->count), s->mode ? ", true" : "");
        break;
    case ASC_F_REPEAT_SUM: print_repeat_reduce(b, s, n, ""); break;
    case ASC_F_REPEAT_AT:
        print_repeat_reduce(b, s, n, ", AscendC::ReduceOrder::ORDER_ONLY_VALUE");
        break;
    case ASC_F_BLOCK: print_block_reduce(b, s, n); break;
    case ASC_F_GATHER:
        pen_line(pen, "AscendC::%s(%s, %s, %s, %s, %s);", n, d, ref(b, &s->a), ref(b, &s->b),
                 print_as(b->pr, s->scalar, DT_U32), ex(b, s->count));
        break;
    case ASC_F_GATHER_MASK: print_gather_mask(b, id, s); break;
    case ASC_F_BROADCAST:
        pen_line(pen, "AscendC::%s(%s, %s, %s, AscendC::BrcbRepeatParams(1, %s));", n, d,
                 ref(b, &s->a), ex(b, s->repeat),
                 s->strides.dst_repeat ? ex(b, s->strides.dst_repeat) : "8");
        break;
    case ASC_F_SORT:
        pen_line(pen, "AscendC::%s<%s, true>(%s, %s, %s, %s, %s);", n, cxx_type(s->dst.dtype), d,
                 ref(b, &s->a), ref(b, &s->b), ref(b, &s->c), ex(b, s->repeat));
        break;
    case ASC_F_EXTRACT:
        pen_line(pen, "AscendC::%s(%s, %s, %s, %s);", n, d, ref(b, &s->b), ref(b, &s->a),
                 ex(b, s->repeat));
        break;
    }
}

/* ---- copies ---- */

/* A tensor of a list: its GM tensor is turned to the one this access means. */
static void aim(Body *b, const AscRef *r)
{
    if (!r->used || !r->global || !r->item)
        return;
    const char *list = camel(b->pr->arena, b->pr->k->source->tensors.at[r->id].name);
    pen_line(b->pr->pen, "%s.SetGlobalBuffer(%sList.GetDataPtr<%s>(%s));",
             param_gm_name(b->pr, r->id), list, cxx_type(r->dtype), ex(b, r->item));
}

static void print_copy(Body *b, const AscCopy *c)
{
    Pen *pen = b->pr->pen;
    aim(b, &c->gm);
    const char *to = ref(b, c->inward ? &c->ub : &c->gm),
               *from = ref(b, c->inward ? &c->gm : &c->ub);
    IrExprId src_gap = c->inward ? c->gm_gap : c->ub_gap,
             dst_gap = c->inward ? c->ub_gap : c->gm_gap;
    const char *rows = c->rows ? ex(b, c->rows) : "1";
    switch (c->form) {
    case ASC_COPY_UNDECIDED:
        pen_line(pen, "Copy(%s, %s, %s x %s);", to, from, rows, ex(b, c->cols));
        break;
    case ASC_COPY_PLAIN:
        pen_line(pen, "AscendC::DataCopy(%s, %s, %s);", to, from, ex(b, c->len));
        break;
    case ASC_COPY_STRIDED:
        pen_line(pen, "AscendC::DataCopy(%s, %s, AscendC::DataCopyParams(%s, %s, %s, %s));", to,
                 from, rows, ex(b, c->len), ex(b, src_gap), ex(b, dst_gap));
        break;
    case ASC_COPY_PAD: {
        const char *shape = str_format(b->pr->arena,
                                       "AscendC::DataCopyExtParams(%s, %s, %s, %s, 0)", rows,
                                       ex(b, c->len), ex(b, src_gap), ex(b, dst_gap));
        if (!c->inward) {
            pen_line(pen, "AscendC::DataCopyPad(%s, %s, %s);", to, from, shape);
            break;
        }
        const char *type = cxx_type(c->ub.dtype);
        pen_line(pen, "AscendC::DataCopyPad(%s, %s, %s,", to, from, shape);
        if (c->pad)
            pen_line(pen, "    AscendC::DataCopyPadExtParams<%s>(true, 0, %s, %s));", type,
                     ex(b, c->right), print_as(b->pr, c->pad, c->ub.dtype));
        else
            pen_line(pen, "    AscendC::DataCopyPadExtParams<%s>(false, 0, 0, 0));", type);
        break;
    }
    }
}

/* ---- queues ---- */

static const char *hand_text(AscHand hand)
{
    return hand == ASC_HAND_IN    ? "AscendC::TPosition::GM, AscendC::TPosition::VECIN, "
           : hand == ASC_HAND_OUT ? "AscendC::TPosition::VECOUT, AscendC::TPosition::GM, "
                                  : "";
}

static void print_queue(Body *b, const AscStmt *s)
{
    const AscLocal *local = &b->pr->k->locals.at[s->local];
    const char *que = camel(b->pr->arena, b->pr->k->buffers.at[local->buffer].name);
    const char *name = local_name(b, s->local), *type = cxx_type(local->dtype);
    Pen *pen = b->pr->pen;
    if (s->kind == ASC_S_FREE) {
        pen_line(pen, "%s.FreeTensor(%s);", que, name);
    } else if (s->kind == ASC_S_ENQUE) {
        if (s->hand == ASC_HAND_PLAIN)
            pen_line(pen, "%s.EnQue(%s);", que, name);
        else
            pen_line(pen, "%s.EnQue<%s%s>(%s);", que, hand_text(s->hand), type, name);
    } else {
        bool known = b->has_tensor[s->local];
        const char *decl = known ? "" : str_format(b->pr->arena, "AscendC::LocalTensor<%s> ", type);
        const char *verb = s->kind == ASC_S_ALLOC ? "AllocTensor" : "DeQue";
        pen_line(pen, "%s%s = %s.%s<%s%s>();", decl, name, que, verb, hand_text(s->hand), type);
        b->has_tensor[s->local] = true;
    }
}

/* ---- scalars and memory ---- */

static void print_get(Body *b, AscStmtId id, const AscStmt *s)
{
    DType want = b->pr->p->ir->vars.at[s->var].type, have = s->a.dtype;
    aim(b, &s->a);
    const char *base = base_text(b, &s->a);
    const char *value = str_format(b->pr->arena, "%s.GetValue(%s)", base, ex(b, s->a.offset));
    if (have == DT_BF16)
        value = str_format(b->pr->arena, "AscendC::ToFloat(%s)", value);
    else if (want == DT_BOOL)
        value = str_format(b->pr->arena, "%s != 0", value);
    else if (have != want)
        value = str_format(b->pr->arena, "static_cast<%s>(%s)", cxx_scalar(want), value);
    pen_line(b->pr->pen, "%s%s;", target(b, id, s->var), value);
}

static void print_put(Body *b, const AscStmt *s)
{
    pen_line(b->pr->pen, "%s.SetValue(%s, %s);", base_text(b, &s->dst), ex(b, s->dst.offset),
             print_as(b->pr, s->value, s->dst.dtype));
}

static void print_atomic(Body *b, const AscStmt *s)
{
    static const char *const names[] = {"None", "Add", "Max", "Min"};
    if (s->atomic == IR_PLAIN)
        pen_line(b->pr->pen, "AscendC::SetAtomicNone();");
    else
        pen_line(b->pr->pen, "AscendC::SetAtomic%s<%s>();", names[s->atomic], cxx_type(s->dtype));
}

static void print_run(Body *b, const AscStmt *s)
{
    const FunctionScope *callee = &b->scopes[s->callee];
    Buf args = {0};
    for (uint32_t i = 0; i < callee->params.len; i++)
        buf_printf(&args, "%s%s", args.len ? ", " : "", name_of(b, callee->params.at[i]));
    for (uint32_t i = 0; i < callee->tensors.len; i++)
        buf_printf(&args, "%s%s", args.len ? ", " : "", local_name(b, callee->tensors.at[i]));
    uint32_t callee_as = b->pr->same ? b->pr->same[s->callee] : s->callee;
    pen_line(b->pr->pen, "%s(%.*s);", b->pr->k->functions.at[callee_as].name, (int)args.len,
             args.len ? args.at : "");
    buf_free(&args);
}

/* ---- blocks ---- */

static void print_nested(Body *b, const AscBlock *block)
{
    uint32_t visible = b->visible.len, count = b->pr->k->locals.len;
    bool *outer = arena_array(b->pr->arena, bool, count + 1);
    memcpy(outer, b->has_tensor, count);
    print_block(b, block);
    memcpy(b->has_tensor, outer, count);
    b->visible.len = visible;
}

static void print_for(Body *b, AscStmtId id, const AscStmt *s)
{
    uint32_t visible = b->visible.len;
    bool own = b->scope->vars[s->var].at == id;
    const char *lo = ex(b, s->lo), *hi = ex(b, s->hi);
    const char *name = own ? declare_name(b, s->var) : name_of(b, s->var);
    const char *type = own ? str_format(b->pr->arena, "%s ", cxx_scalar(DT_I64)) : "";
    int64_t step;
    bool one = ir_is_int(b->pr->p->ir, s->step, &step) && step == 1;
    const char *next = one ? str_format(b->pr->arena, "++%s", name)
                           : str_format(b->pr->arena, "%s += %s", name, ex(b, s->step));
    pen_open(b->pr->pen, "for (%s%s = %s; %s < %s; %s)", type, name, lo, name, hi, next);
    print_nested(b, &s->body);
    pen_close(b->pr->pen, "");
    b->visible.len = visible;
}

static void print_if(Body *b, const AscStmt *s)
{
    pen_open(b->pr->pen, "if (%s)", ex(b, s->value));
    print_nested(b, &s->body);
    if (s->orelse.len) {
        b->pr->pen->depth--;
        pen_open(b->pr->pen, "} else");
        print_nested(b, &s->orelse);
    }
    pen_close(b->pr->pen, "");
}

/* The Craft line as a comment, where a new one begins. */
static void show_line(Body *b, const AscStmt *s)
{
    bool quiet = s->kind >= ASC_S_ALLOC && s->kind <= ASC_S_FREE;
    if (b->pr->bare || quiet || !s->at.line || s->at.line == b->last_line || s->kind == ASC_S_RUN)
        return;
    b->last_line = s->at.line;
    Str text = craft_line(b->pr->in, s->at.line);
    if (text.len)
        pen_line(b->pr->pen, "// %u: %.*s", s->at.line, STR_ARG(text));
}

static void print_stmt(Body *b, AscStmtId id)
{
    const AscStmt *s = &b->pr->p->stmts.at[id];
    Pen *pen = b->pr->pen;
    declare_before(b, id);
    show_line(b, s);
    pen_mark(pen, s->at);
    if (pen->notes)
        pen->notes->stmt[id] = pen_at(pen);
    switch (s->kind) {
    case ASC_S_FOR: print_for(b, id, s); break;
    case ASC_S_WHILE:
        pen_open(pen, "while (%s)", ex(b, s->value));
        print_nested(b, &s->body);
        pen_close(pen, "");
        break;
    case ASC_S_IF: print_if(b, s); break;
    case ASC_S_SET: {
        const char *value = print_as(b->pr, s->value, b->pr->p->ir->vars.at[s->var].type);
        pen_line(pen, "%s%s;", target(b, id, s->var), value);
        break;
    }
    case ASC_S_RUN: print_run(b, s); break;
    case ASC_S_CALL: print_call(b, id, s); break;
    case ASC_S_COPY: print_copy(b, &s->copy); break;
    case ASC_S_ALLOC:
    case ASC_S_ENQUE:
    case ASC_S_DEQUE:
    case ASC_S_FREE: print_queue(b, s); break;
    case ASC_S_GET: print_get(b, id, s); break;
    case ASC_S_PUT: print_put(b, s); break;
    case ASC_S_FLAG:
        pen_line(pen, "Order<AscendC::HardEvent::%s>();", asc_event_name(s->event));
        break;
    case ASC_S_BARRIER:
        pen_line(pen, "AscendC::PipeBarrier<PIPE_%s>();", npu_pipe_name(s->pipe));
        break;
    case ASC_S_ATOMIC: print_atomic(b, s); break;
    case ASC_S_CLEAN:
        pen_line(pen,
                 "AscendC::DataCacheCleanAndInvalid<%s, AscendC::CacheLine::SINGLE_CACHE_LINE, "
                 "AscendC::DcciDst::CACHELINE_OUT>(%s);",
                 cxx_type(s->a.dtype), ref(b, &s->a));
        break;
    case ASC_S_SYNC_ALL: pen_line(pen, "AscendC::SyncAll();"); break;
    case ASC_S_CUBE:
        print_cube(b->pr, s, s->dst.used ? ref(b, &s->dst) : "", s->a.used ? ref(b, &s->a) : "",
                   s->b.used ? ref(b, &s->b) : "");
        break;
    case ASC_S_ROLE:
        pen_open(pen, s->core == IR_CORE_CUBE ? "if ASCEND_IS_AIC" : "if ASCEND_IS_AIV");
        print_nested(b, &s->body);
        pen_close(pen, "");
        break;
    }
}

static void print_block(Body *b, const AscBlock *block)
{
    for (uint32_t i = 0; i < block->len; i++)
        print_stmt(b, block->at[i]);
}

/* ---- a whole function ---- */

static void reserve_names(Body *b)
{
    const AscKernel *k = b->pr->k;
    Arena *arena = b->pr->arena;
    for (uint32_t i = 0; i < k->members.len; i++)
        vec_push(arena, &b->visible, camel(arena, b->pr->p->ir->vars.at[k->members.at[i]].name));
    for (uint32_t i = 0; i < k->locals.len; i++)
        vec_push(arena, &b->visible, camel(arena, k->locals.at[i].name));
}

static void print_signature(Body *b, uint32_t function)
{
    Printer *pr = b->pr;
    Buf args = {0};
    for (uint32_t i = 0; i < b->scope->params.len; i++) {
        IrVarId v = b->scope->params.at[i];
        bool by_ref = b->scope->vars[v].by_ref;
        buf_printf(&args, "%s%s %s%s", args.len ? ", " : "", cxx_scalar(pr->p->ir->vars.at[v].type),
                   by_ref ? "&" : "", declare_name(b, v));
    }
    for (uint32_t i = 0; i < b->scope->tensors.len; i++) {
        uint32_t t = b->scope->tensors.at[i];
        buf_printf(&args, "%sAscendC::LocalTensor<%s> &%s", args.len ? ", " : "",
                   cxx_type(pr->k->locals.at[t].dtype), local_name(b, t));
        b->has_tensor[t] = true;
    }
    pen_line(pr->pen, "__aicore__ inline void %s(%.*s)",
             pr->bare ? "" : pr->k->functions.at[function].name, (int)args.len,
             args.len ? args.at : "");
    buf_free(&args);
}

/* "softmax.craft:20, 26: with copyin():", all stages that this function serves. */
static void show_places(Printer *pr, uint32_t function)
{
    const AscFunction *f = &pr->k->functions.at[function];
    Buf lines = {0};
    for (uint32_t i = function; i < pr->k->functions.len; i++)
        if (pr->same[i] == function)
            buf_printf(&lines, "%s%u", lines.len ? ", " : "", pr->k->functions.at[i].at.line);
    Str text = craft_line(pr->in, f->at.line);
    if (text.len)
        pen_line(pr->pen, "// %s:%.*s: %.*s", craft_name(pr->in), (int)lines.len, lines.at,
                 STR_ARG(text));
    buf_free(&lines);
}

void print_body(Printer *pr, const FunctionScope *scopes, uint32_t function)
{
    const AscFunction *f = &pr->k->functions.at[function];
    Body b = {.pr = pr, .scopes = scopes, .scope = &scopes[function], .last_line = f->at.line};
    b.has_tensor = arena_array(pr->arena, bool, pr->k->locals.len + 1);
    memset(pr->names, 0, pr->name_count * sizeof *pr->names);
    reserve_names(&b);
    if (f->is_stage && !pr->bare)
        show_places(pr, function);
    pen_mark(pr->pen, f->at);
    if (pr->pen->notes)
        pr->pen->notes->kernel[pr->k - pr->p->kernels.at].function[function] = pen_at(pr->pen);
    print_signature(&b, function);
    pen_line(pr->pen, "{");
    pr->pen->depth++;
    for (uint32_t i = 0; i < b.scope->tbufs.len; i++) {
        const AscLocal *t = &pr->k->locals.at[b.scope->tbufs.at[i]];
        pen_line(pr->pen, "AscendC::LocalTensor<%s> %s = %s.Get<%s>();", cxx_type(t->dtype),
                 camel(pr->arena, t->name), camel(pr->arena, pr->k->buffers.at[t->buffer].name),
                 cxx_type(t->dtype));
    }
    print_block(&b, &f->body);
    pen_close(pr->pen, "");
}
