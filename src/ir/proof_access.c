/* Rules that hold at one statement: accesses inside tensors, views inside buffers, equal
 * sizes, alignment, positive steps, sync_all executed by all. In: the walk. Out: obligations. */
#include "ir/prove_int.h"

enum { SEEN_NONE = UINT32_MAX, SEEN_SEVERAL = UINT32_MAX - 1 };

/* Decides `p >= 0`; the text is only made when it is not proved. */
static IrProofState decide(ProofWalk *w, Poly p)
{
    if (prove_nonneg(w->pr, p))
        return IR_PROVED;
    Poly never = poly_sub(poly_scale(p, -1), poly_const(1));
    return prove_nonneg(w->pr, never) ? IR_REFUSED : IR_WATCHED;
}

static IrProofState worst(IrProofState a, IrProofState b) { return a > b ? a : b; }

static bool is_open(IrInterval i) { return i.lo == INT64_MIN || i.hi == INT64_MAX; }

/* What is assumed here keeps the value, computed without limit, well inside 64 bits. */
static bool is_bounded(const ProofWalk *w, IrExprId e)
{
    Poly value = poly_of(w->pr, e), most = poly_const(INT64_C(1) << 62);
    return prove_nonneg(w->pr, poly_sub(most, value)) && prove_nonneg(w->pr, poly_add(most, value));
}

/* A difference of two numbers that are not negative, or a sum of two of different signs. */
static bool is_between(const ProofWalk *w, const IrExpr *e)
{
    if (e->op != IR_E_ADD && e->op != IR_E_SUB)
        return false;
    Poly a = poly_of(w->pr, e->arg[0]), b = poly_of(w->pr, e->arg[1]);
    bool apart = e->op == IR_E_ADD && prove_nonneg(w->pr, b) &&
                 prove_nonneg(w->pr, poly_scale(a, -1));
    if (e->op == IR_E_ADD)
        b = poly_scale(b, -1);
    return apart || (prove_nonneg(w->pr, a) && prove_nonneg(w->pr, b));
}

/* Some sum or product that the value is made of may leave 64 bits: then nothing is known of it. */
static bool may_overflow(const ProofWalk *w, IrExprId id)
{
    const IrExpr *e = &w->p->exprs.at[id];
    if (e->op == IR_E_VAR)
        return w->pr->alias[e->of.var] && may_overflow(w, w->pr->alias[e->of.var]);
    bool grows = e->op == IR_E_ADD || e->op == IR_E_SUB || e->op == IR_E_MUL || e->op == IR_E_NEG;
    for (int i = 0; i < ir_expr_rows[e->op].arity; i++)
        if (may_overflow(w, e->arg[i]))
            return true;
    return grows && is_open(ir_interval(w->p, w->chip, id)) && !is_bounded(w, id) &&
           !is_between(w, e);
}

/* start >= 0, size >= 0 and start + size <= limit */
static IrProofState inside(ProofWalk *w, IrExprId start, IrExprId size, IrExprId limit)
{
    if (may_overflow(w, start) || (size && may_overflow(w, size)))
        return IR_WATCHED;
    Poly s = poly_of(w->pr, start), n = size ? poly_of(w->pr, size) : poly_const(1);
    Poly room = poly_sub(poly_sub(poly_of(w->pr, limit), s), n);
    return worst(worst(decide(w, s), decide(w, n)), decide(w, room));
}

static const char *extent(ProofWalk *w, IrExprId start, IrExprId size)
{
    IrExprId stop = ir_expr2(w->p, IR_E_ADD, start, size ? size : ir_int(w->p, 1));
    return str_format(w->arena, "%s .. %s", proof_expr(w, start), proof_expr(w, stop));
}

static IrExprId flat_size(ProofWalk *w, const IrTensor *t)
{
    IrExprId n = ir_int(w->p, 1);
    for (uint32_t i = 0; i < t->rank; i++)
        n = ir_expr2(w->p, IR_E_MUL, n, t->shape[i]);
    return n;
}

/* Which tensor of the host stands behind a tensor of the kernel: in every launch of the block the
 * same one, or SEEN_SEVERAL. `found`: so far. */
static uint32_t operand_of(const ProofWalk *w, const IrBlock *block, uint32_t tensor,
                           uint32_t found)
{
    for (uint32_t i = 0; i < block->len; i++) {
        const IrStmt *s = &w->p->stmts.at[block->at[i]];
        bool here = s->kind == IR_S_LAUNCH && s->kernel == w->kernel;
        for (uint32_t a = 0; here && a < s->args.len; a++) {
            const IrArg *param = &w->k->params.at[a];
            if (!param->is_tensor || param->tensor != tensor)
                continue;
            bool other = found != SEEN_NONE && found != s->args.at[a].tensor;
            found = other ? SEEN_SEVERAL : s->args.at[a].tensor;
        }
        found = operand_of(w, &s->body, tensor, found);
        found = operand_of(w, &s->orelse, tensor, found);
    }
    return found;
}

/* The tensors of an output list have the sizes of those of the program's first input list: where
 * the kernel has that one too, the list to ask for a size. */
static uint32_t list_to_ask(const ProofWalk *w, uint32_t tensor)
{
    const IrProgram *p = w->p;
    uint32_t own = operand_of(w, &p->host, tensor, SEEN_NONE), first = 0;
    while (first < p->operand_count && p->tensors.at[first].role != IR_ROLE_IN_LIST)
        first++;
    if (own >= p->operand_count || p->tensors.at[own].role != IR_ROLE_OUT_LIST)
        return tensor;
    for (uint32_t t = 0; t < w->k->tensors.len; t++)
        if (operand_of(w, &p->host, t, SEEN_NONE) == first)
            return t;
    return tensor;
}

static IrExprId axis_limit(ProofWalk *w, const IrAccess *a, uint32_t axis)
{
    const IrTensor *t = &w->k->tensors.at[a->tensor];
    if (t->role == IR_ROLE_IN_LIST || t->role == IR_ROLE_OUT_LIST)
        return ir_leaf(w->p, IR_E_LIST_SIZE, list_to_ask(w, a->tensor), a->item);
    return a->flat ? flat_size(w, t) : t->shape[axis];
}

static void check_access(ProofWalk *w, const IrAccess *a)
{
    for (uint32_t i = 0; i < a->rank; i++) {
        IrExprId limit = axis_limit(w, a, i);
        IrProofState state = inside(w, a->start[i], a->size[i], limit);
        const char *text = NULL;
        if (state != IR_PROVED)
            text = str_format(w->arena, "axis %u of '%s' is accessed at %s, it has %s elements", i,
                              w->k->tensors.at[a->tensor].name, extent(w, a->start[i], a->size[i]),
                              proof_expr(w, limit));
        proof_add(w, IR_PROOF_BOUNDS, state, a->at, text);
    }
}

/* Notes the share, one of those in force here, that holds all that the statement touches. Loops over parts of
 * a share say so in a fact each: most shares have nothing to do with the access, and long proofs would only
 * fail. */
static void note_home(ProofWalk *w, IrStmtId id, const IrAccess *a, uint32_t top)
{
    enum { LOOPS = 3 };
    IrRole role = w->k->tensors.at[a->tensor].role;
    bool shared = role == IR_ROLE_WORKSPACE || role == IR_ROLE_INOUT || role == IR_ROLE_OUT;
    for (uint32_t i = 0; i < top && shared && !a->flat; i++) {
        const IrStmt share = w->p->stmts.at[w->k->body.at[i]];
        for (uint32_t axis = 0; axis < a->rank && share.kind == IR_S_SHARE; axis++) {
            const IrRange *r = &share.axes[0].range;
            Poly size = a->size[axis] ? poly_of(w->pr, a->size[axis]) : poly_const(1);
            Poly before = poly_sub(poly_of(w->pr, a->start[axis]),
                                   poly_of(w->pr, ir_var(w->p, r->start)));
            Poly behind = poly_sub(poly_of(w->pr, ir_var(w->p, r->size)), poly_add(before, size));
            if (!w->homes[id].share && prove_nonneg_by(w->pr, before, LOOPS) &&
                prove_nonneg_by(w->pr, behind, LOOPS))
                w->homes[id] = (ProofHome){w->k->body.at[i], axis};
        }
    }
}

/* Elements of the view's dtype that one row of its buffer holds. */
static IrExprId view_limit(ProofWalk *w, const IrView *v, const IrBuffer *b, uint32_t axis)
{
    uint32_t buffer_axis = v->row ? 1 : axis;
    IrExprId limit = b->shape[buffer_axis];
    size_t from = dtype_bytes(b->dtype), to = dtype_bytes(v->dtype);
    if (from == to || buffer_axis + 1 != b->rank)
        return limit;
    if (from > to)
        return ir_expr2(w->p, IR_E_MUL, limit, ir_int(w->p, (int64_t)(from / to)));
    return ir_expr2(w->p, IR_E_FLOORDIV, limit, ir_int(w->p, (int64_t)(to / from)));
}

static void check_view_axis(ProofWalk *w, const IrView *v, IrExprId start, IrExprId size,
                            IrExprId limit)
{
    IrProofState state = inside(w, start, size, limit);
    const char *text = NULL;
    if (state != IR_PROVED)
        text = str_format(w->arena, "the view %s does not fit in '%s' of %s elements",
                          extent(w, start, size), w->k->buffers.at[v->buffer].name,
                          proof_expr(w, limit));
    proof_add(w, IR_PROOF_VIEW, state, v->at, text);
}

static void check_view(ProofWalk *w, const IrView *v)
{
    const IrBuffer *b = &w->k->buffers.at[v->buffer];
    if (v->row)
        check_view_axis(w, v, v->row, 0, b->shape[0]);
    for (uint32_t i = 0; i < v->rank; i++)
        check_view_axis(w, v, v->start[i], v->size[i], view_limit(w, v, b, i));
}

static void check_align(ProofWalk *w, const IrView *v)
{
    const IrBuffer *b = &w->k->buffers.at[v->buffer];
    IrExprId start = v->start[v->rank - 1];
    int64_t m = ir_multiple(w->p, w->chip, start);
    int64_t unit = b->mask ? 256 : 32 / (int64_t)dtype_bytes(v->dtype);
    IrInterval range = ir_interval(w->p, w->chip, start);
    if (b->memory != IR_UB || unit < 1)
        return;
    bool fixed = range.lo == range.hi;
    IrProofState state = m % unit == 0 ? IR_PROVED : fixed ? IR_REFUSED : IR_WATCHED;
    const char *text = NULL;
    if (state != IR_PROVED)
        text = str_format(w->arena, "the view of '%s' starts at element %s, not a multiple of %lld",
                          b->name, proof_expr(w, start), (long long)unit);
    proof_add(w, IR_PROOF_ALIGN, state, v->at, text);
}

static void check_same(ProofWalk *w, Span at, const char *what, IrExprId a, IrExprId b)
{
    IrProofState state = IR_PROVED;
    const char *text = NULL;
    if (!prove_equal(w->pr, a, b)) {
        Poly d = poly_sub(poly_of(w->pr, a), poly_of(w->pr, b));
        Poly less = poly_sub(poly_scale(d, -1), poly_const(1)), more = poly_sub(d, poly_const(1));
        bool never = prove_nonneg(w->pr, less) || prove_nonneg(w->pr, more);
        state = never ? IR_REFUSED : IR_WATCHED;
        text = str_format(w->arena, "%s: one side has %s elements, the other %s", what,
                          proof_expr(w, a), proof_expr(w, b));
    }
    proof_add(w, IR_PROOF_SHAPES, state, at, text);
}

static void check_not_more(ProofWalk *w, Span at, const char *what, IrExprId a, IrExprId b)
{
    Poly room = poly_sub(poly_of(w->pr, b), poly_of(w->pr, a));
    IrProofState state = decide(w, room);
    const char *text = NULL;
    if (state != IR_PROVED)
        text = str_format(w->arena, "%s: %s elements do not fit in %s", what, proof_expr(w, a),
                          proof_expr(w, b));
    proof_add(w, IR_PROOF_SHAPES, state, at, text);
}

/* The range axes of an access against the axes of a view, from the last. */
static void check_transfer(ProofWalk *w, const IrStmt *s, const IrView *v, const char *what)
{
    uint32_t axis = v->rank;
    for (uint32_t i = s->access.rank; i-- > 0 && axis > 0;) {
        if (!s->access.size[i])
            continue;
        axis--;
        if (s->pad)
            check_not_more(w, s->at, what, s->access.size[i], v->size[axis]);
        else
            check_same(w, s->at, what, v->size[axis], s->access.size[i]);
    }
    while (axis-- > 0)
        check_same(w, s->at, what, v->size[axis], ir_int(w->p, 1));
}

static void check_all_axes(ProofWalk *w, const IrStmt *s, const IrView *a, const IrView *b)
{
    const char *what = ir_tile_ops[s->op].name;
    for (uint32_t i = 0; i < a->rank && i < b->rank; i++)
        check_same(w, s->at, what, a->size[i], b->size[i]);
}

static void check_shapes(ProofWalk *w, const IrStmt *s)
{
    const IrTileOpRow *row = &ir_tile_ops[s->op];
    const char *what = row->name;
    switch (row->kind) {
    case IR_CLASS_ELEM:
    case IR_CLASS_COMPARE:
    case IR_CLASS_SELECT:
    case IR_CLASS_CAST:
    case IR_CLASS_BITS:
    case IR_CLASS_SCAN:
        for (uint32_t i = 0; i < s->src_count; i++)
            check_all_axes(w, s, &s->dst, &s->src[i]);
        return;
    case IR_CLASS_ROWS: check_same(w, s->at, what, s->dst.size[0], s->src[0].size[0]); return;
    case IR_CLASS_COLS: check_same(w, s->at, what, s->dst.size[0], s->src[0].size[1]); return;
    case IR_CLASS_SHAPE:
        if (s->op == IR_T_ROW)
            check_same(w, s->at, what, s->src[0].size[0], s->dst.size[1]);
        else if (s->op == IR_T_COL)
            check_same(w, s->at, what, s->src[0].size[0], s->dst.size[0]);
        else if (s->op == IR_T_GATHER)
            check_all_axes(w, s, &s->dst, &s->src[1]);
        else if (s->op == IR_T_REVERSE)
            check_all_axes(w, s, &s->dst, &s->src[0]);
        else if (s->op == IR_T_TRANSPOSE) {
            check_same(w, s->at, what, s->dst.size[0], s->src[0].size[1]);
            check_same(w, s->at, what, s->dst.size[1], s->src[0].size[0]);
        }
        return;
    case IR_CLASS_SORT:
        if (s->op == IR_T_COMPACT) {
            check_not_more(w, s->at, what, s->src[0].size[0], s->dst.size[0]);
            check_same(w, s->at, what, s->src[0].size[0], s->src[1].size[0]);
            return;
        }
        check_same(w, s->at, what, s->dst.size[0], s->dst2.size[0]);
        check_not_more(w, s->at, what, s->dst.size[0], s->src[0].size[0]);
        return;
    case IR_CLASS_REDUCE:
    case IR_CLASS_FILL:
    case IR_CLASS_CUBE: return;
    }
}

static void check_views(ProofWalk *w, const IrStmt *s)
{
    bool scalar_only = s->kind == IR_S_OP && (s->op == IR_T_EXTRACT || s->op == IR_T_INSERT);
    const IrView *views[2 + IR_MAX_OPERANDS];
    uint32_t n = 0;
    if (s->dst.rank)
        views[n++] = &s->dst;
    if (s->dst2.rank)
        views[n++] = &s->dst2;
    for (uint32_t i = 0; i < s->src_count; i++)
        views[n++] = &s->src[i];
    for (uint32_t i = 0; i < n; i++) {
        check_view(w, views[i]);
        bool anywhere = s->kind == IR_S_OP && s->op == IR_T_GATHER && views[i] == &s->src[0];
        if (!scalar_only && !anywhere)
            check_align(w, views[i]);
    }
}

/* a[i]: the position lies in the view */
static void check_element(ProofWalk *w, const IrStmt *s)
{
    const IrView *v = s->op == IR_T_EXTRACT ? &s->src[0] : &s->dst;
    check_view_axis(w, v, s->scalar[0], 0, v->size[v->rank - 1]);
}

static void check_positive(ProofWalk *w, Span at, const char *what, IrExprId e)
{
    IrProofState state = decide(w, poly_sub(poly_of(w->pr, e), poly_const(1)));
    const char *text = NULL;
    if (state != IR_PROVED)
        text = str_format(w->arena, "the %s %s may be zero or negative", what, proof_expr(w, e));
    proof_add(w, IR_PROOF_LOOP, state, at, text);
}

static void check_loop(ProofWalk *w, const IrStmt *s)
{
    for (uint32_t i = 0; i < s->axis_count; i++) {
        if (s->axes[i].tile)
            check_positive(w, s->at, "tile", s->axes[i].tile);
        if (s->axes[i].step)
            check_positive(w, s->at, "step", s->axes[i].step);
    }
}

bool proof_differs(const ProofWalk *w, IrExprId id)
{
    const IrExpr *e = &w->p->exprs.at[id];
    if (e->op == IR_E_CORE_ID)
        return true;
    if (e->op == IR_E_VAR) {
        IrVarKind kind = w->p->vars.at[e->of.var].kind;
        if (kind == IR_VAR_LOCAL && w->pr->alias[e->of.var])
            return proof_differs(w, w->pr->alias[e->of.var]);
        return kind == IR_VAR_LOCAL;
    }
    for (int i = 0; i < ir_expr_rows[e->op].arity; i++)
        if (proof_differs(w, e->arg[i]))
            return true;
    return false;
}

/* Does the value come from this core's share? */
static bool names_share(const ProofWalk *w, IrExprId id)
{
    const IrExpr *e = &w->p->exprs.at[id];
    if (e->op == IR_E_VAR && w->pr->alias[e->of.var])
        return names_share(w, w->pr->alias[e->of.var]);
    for (uint32_t i = 1; e->op == IR_E_VAR && i < w->p->stmts.len; i++) {
        const IrStmt *s = &w->p->stmts.at[i];
        const IrRange *r = &s->axes[0].range;
        if (s->kind == IR_S_SHARE && (r->start == e->of.var || r->size == e->of.var))
            return true;
    }
    for (int i = 0; i < ir_expr_rows[e->op].arity; i++)
        if (names_share(w, e->arg[i]))
            return true;
    return false;
}

static bool is_uneven(const ProofWalk *w, IrExprId id)
{
    return proof_differs(w, id) || names_share(w, id);
}

typedef struct Place {
    bool uneven;  /* cores may differ in whether, or how often, they come here */
    uint32_t top; /* statement of the kernel's outermost level */
} Place;

static bool loop_is_uneven(const ProofWalk *w, const IrStmt *s)
{
    if (s->loop != IR_LOOP_RANGE && s->loop != IR_LOOP_TILES)
        return true;
    for (uint32_t i = 0; i < s->axis_count; i++) {
        const IrAxis *a = &s->axes[i];
        IrExprId parts[] = {a->lo, a->hi, a->step, a->tile};
        for (int j = 0; j < 4; j++)
            if (parts[j] && is_uneven(w, parts[j]))
                return true;
    }
    return false;
}

static void check_sync(ProofWalk *w, const IrStmt *s, Place place)
{
    proof_add(w, IR_PROOF_SYNC, place.uneven ? IR_REFUSED : IR_PROVED, s->at,
              "cores differ in whether or how often they reach this sync_all()");
}

static void walk(ProofWalk *w, const IrBlock *block, Place place)
{
    for (uint32_t i = 0; i < block->len; i++) {
        const IrStmt s = w->p->stmts.at[block->at[i]]; /* a copy: new expressions move nothing */
        uint32_t mark = w->pr->facts.len;
        if (block == &w->k->body)
            place.top = i;
        Place inner = place;
        switch (s.kind) {
        case IR_S_FOR:
            check_loop(w, &s);
            inner.uneven |= loop_is_uneven(w, &s);
            proof_enter_loop(w, &s);
            walk(w, &s.body, inner);
            break;
        case IR_S_IF:
            inner.uneven |= is_uneven(w, s.cond);
            prover_assume_cond(w->pr, s.cond, true);
            walk(w, &s.body, inner);
            w->pr->facts.len = mark;
            prover_assume_cond(w->pr, s.cond, false);
            walk(w, &s.orelse, inner);
            break;
        case IR_S_STAGE:
        case IR_S_ROLE: walk(w, &s.body, place); continue; /* what it leaves known lasts */
        case IR_S_SHARE:
            check_positive(w, s.at, "alignment of share", s.align);
            proof_enter_share(w, &s);
            continue; /* its facts hold to the end of the block */
        case IR_S_GM_READ:
        case IR_S_GM_WRITE:
            check_access(w, &s.access);
            note_home(w, block->at[i], &s.access, place.top);
            break;
        case IR_S_LOAD:
            check_views(w, &s);
            if (!s.src_count) {
                check_access(w, &s.access);
                note_home(w, block->at[i], &s.access, place.top);
                check_transfer(w, &s, &s.dst, "load");
            }
            break;
        case IR_S_STORE:
            check_access(w, &s.access);
            note_home(w, block->at[i], &s.access, place.top);
            check_views(w, &s);
            check_transfer(w, &s, &s.src[0], "store");
            break;
        case IR_S_OP:
            check_views(w, &s);
            if (s.op == IR_T_EXTRACT || s.op == IR_T_INSERT)
                check_element(w, &s);
            else
                check_shapes(w, &s);
            break;
        case IR_S_SYNC_ALL: check_sync(w, &s, place); break;
        default: break;
        }
        w->pr->facts.len = mark;
        proof_leave(w, &s);
    }
}

void proof_accesses(ProofWalk *w)
{
    uint32_t mark = w->pr->facts.len;
    w->homes = arena_array(w->arena, ProofHome, w->p->stmts.len);
    walk(w, &w->k->body, (Place){0});
    w->pr->facts.len = mark;
}
