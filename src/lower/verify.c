/* The verifier between passes. In: an Ascend program after a pass. It panics on what only a bug of
 * that pass can make: an index out of range, a call the table does not allow, a queue call that
 * does not pair up. Runs in debug and test builds. */
#include "lower/lower_int.h"

typedef struct Verify {
    const AscProgram *p;
    const AscKernel *k;
    LowerPass done;
} Verify;

static void check_ref(const Verify *v, const AscRef *r, const char *what)
{
    if (!r->used)
        return;
    uint32_t limit = r->global ? v->k->source->tensors.len : v->k->locals.len;
    if (r->id >= limit)
        panic("lower: %s of %s names tensor %u of %u", what, v->k->name, r->id, limit);
    if (r->offset >= v->p->ir->exprs.len)
        panic("lower: %s of %s has expression %u", what, v->k->name, r->offset);
}

static DType main_type(const AscStmt *s)
{
    AscForm form = asc_apis[s->api].form;
    bool from_a = form == ASC_F_COMPARE || form == ASC_F_COMPARES;
    return from_a ? s->a.dtype : s->dst.dtype;
}

static void check_call(const Verify *v, const AscStmt *s)
{
    const AscApiRow *row = &asc_apis[s->api];
    DType d = main_type(s);
    check_ref(v, &s->dst, row->name);
    check_ref(v, &s->a, row->name);
    check_ref(v, &s->b, row->name);
    check_ref(v, &s->c, row->name);
    if (s->api == ASC_CAST) {
        if (!npu_cast_ok(s->a.dtype, s->dst.dtype, (uint32_t)s->mode))
            panic("lower: no Cast from %s to %s by mode %d", dtype_name(s->a.dtype),
                  dtype_name(s->dst.dtype), s->mode);
    } else if (!(row->dtypes >> d & 1)) {
        panic("lower: %s does not take %s (line %u)", row->name, dtype_name(d), s->at.line);
    }
    bool counted = s->count != 0, repeated = s->repeat != 0;
    if (counted == repeated)
        panic("lower: %s needs a count or a repeat", row->name);
}

/* Slots allocated minus slots freed, along one block; branches agree. */
static int check_block(const Verify *v, const AscBlock *block, uint32_t local);

static AscAhead ahead_of(const Verify *v, uint32_t local)
{
    return v->k->buffers.at[v->k->locals.at[local].buffer].ahead;
}

static int queue_effect(const Verify *v, const AscStmt *s, uint32_t local)
{
    switch (s->kind) {
    case ASC_S_ALLOC: return s->local == local ? 1 : 0;
    case ASC_S_FREE: return s->local == local ? -1 : 0;
    case ASC_S_RUN: return check_block(v, &v->k->functions.at[s->callee].body, local);
    case ASC_S_FOR:
    case ASC_S_WHILE:
    case ASC_S_IF: {
        int a = check_block(v, &s->body, local), b = check_block(v, &s->orelse, local);
        AscAhead ahead = ahead_of(v, local);
        if (ahead == ASC_AHEAD_TURN && s->kind == ASC_S_IF && !s->orelse.len)
            return a; /* the two halves of a turn; ahead.c */
        if (ahead == ASC_AHEAD_NEST)
            return 0; /* counted by the twin: the branch a load stands in is not the one that ends it */
        if (a || b)
            panic("lower: %s holds a slot of '%s' past a branch or loop", v->k->name,
                  v->k->locals.at[local].name);
        return 0;
    }
    default: return 0;
    }
}

static int check_block(const Verify *v, const AscBlock *block, uint32_t local)
{
    int held = 0;
    for (uint32_t i = 0; i < block->len; i++)
        held += queue_effect(v, &v->p->stmts.at[block->at[i]], local);
    return held;
}

static void check_stmts(const Verify *v, const AscBlock *block)
{
    for (uint32_t i = 0; i < block->len; i++) {
        const AscStmt *s = &v->p->stmts.at[block->at[i]];
        if (s->kind == ASC_S_CALL)
            check_call(v, s);
        if (s->kind == ASC_S_COPY) {
            check_ref(v, &s->copy.gm, "copy");
            check_ref(v, &s->copy.ub, "copy");
            if (v->done == LOWER_ALIGN && s->copy.form == ASC_COPY_UNDECIDED)
                panic("lower: a copy of %s was left undecided", v->k->name);
        }
        if (s->kind == ASC_S_RUN && s->callee >= v->k->functions.len)
            panic("lower: %s calls function %u", v->k->name, s->callee);
        check_stmts(v, &s->body);
        check_stmts(v, &s->orelse);
    }
}

static void check_buffers(const Verify *v)
{
    for (uint32_t i = 0; i < v->k->locals.len; i++)
        if (v->k->locals.at[i].buffer >= v->k->buffers.len)
            panic("lower: local %u of %s has no buffer", i, v->k->name);
    for (uint32_t i = 0; i < v->k->buffers.len; i++)
        if (!v->k->buffers.at[i].bytes)
            panic("lower: %s of %s has no size", v->k->buffers.at[i].name, v->k->name);
}

static void check_kernel(const Verify *v)
{
    check_buffers(v);
    for (uint32_t i = 0; i < v->k->functions.len; i++)
        check_stmts(v, &v->k->functions.at[i].body);
    for (uint32_t i = 0; v->done >= LOWER_COMPUTE && i < v->k->locals.len; i++)
        if (ahead_of(v, i) != ASC_AHEAD_NEST && check_block(v, &v->k->functions.at[0].body, i))
            panic("lower: %s never frees a slot of '%s'", v->k->name, v->k->locals.at[i].name);
}

void lower_verify(const Lower *l, LowerPass done)
{
    if (done < LOWER_INIT)
        return;
    for (uint32_t i = 0; i < l->out->kernels.len; i++) {
        Verify v = {l->out, &l->out->kernels.at[i], done};
        if (v.k->launched)
            check_kernel(&v);
    }
}
