/* Channels between the two roles of a kernel: nobody waits for ever. Proved where both roles touch
 * the channels in lockstep: the k-th send or receive of one meets the opposite on the same channel
 * in the other, under the same loops and no condition. Anything else is checked at run time. */
#include "ir/prove_int.h"

enum { MAX_OPS = 64, MAX_LOOPS = 16 };

typedef struct ChannelOp {
    const IrStmt *stmt;
    const IrStmt *loops[MAX_LOOPS]; /* outermost first */
    uint32_t depth;
    bool guarded; /* by a condition, or too deep to follow */
} ChannelOp;

typedef struct Sequence {
    ChannelOp op[MAX_OPS];
    uint32_t len;
    bool lost; /* more than the table holds */
} Sequence;

typedef struct Roles {
    ProofWalk *w;
    Sequence of[2]; /* per role */
    ChannelOp now;
} Roles;

static uint32_t channel_of(const IrStmt *s)
{
    return s->kind == IR_S_SEND ? s->dst.buffer : s->src[0].buffer;
}

static void collect(Roles *r, const IrBlock *block, IrCore role)
{
    for (uint32_t i = 0; i < block->len; i++) {
        const IrStmt *s = &r->w->p->stmts.at[block->at[i]];
        ChannelOp outside = r->now;
        Sequence *seq = &r->of[role];
        if (s->kind == IR_S_SEND || s->kind == IR_S_RECV) {
            r->now.stmt = s;
            if (seq->len < MAX_OPS)
                seq->op[seq->len++] = r->now;
            else
                seq->lost = true;
        }
        if (s->kind == IR_S_FOR && r->now.depth < MAX_LOOPS)
            r->now.loops[r->now.depth++] = s;
        else
            r->now.guarded |= s->kind == IR_S_FOR || s->kind == IR_S_IF;
        collect(r, &s->body, s->kind == IR_S_ROLE ? s->core : role);
        collect(r, &s->orelse, role);
        r->now = outside;
    }
}

/* Two operations and how many of their loops are known to run alike. */
typedef struct Pair {
    ProofWalk *w;
    const ChannelOp *a, *b;
    uint32_t alike;
} Pair;

static bool same_range_var(const IrRange *a, const IrRange *b, IrVarId x, IrVarId y)
{
    return (x == a->start && y == b->start) || (x == a->size && y == b->size) ||
           (x == a->index && y == b->index);
}

/* Whether both are the same variable, or the variables of two loops that run alike. */
static bool same_var(const Pair *p, IrVarId x, IrVarId y)
{
    bool same = x == y;
    for (uint32_t i = 0; i < p->alike && !same; i++)
        for (uint32_t k = 0; k < p->a->loops[i]->axis_count && !same; k++)
            same = same_range_var(&p->a->loops[i]->axes[k].range, &p->b->loops[i]->axes[k].range, x,
                                  y);
    return same;
}

static bool same_text(const Pair *p, IrExprId a, IrExprId b)
{
    const IrExpr *x = &p->w->p->exprs.at[a], *y = &p->w->p->exprs.at[b];
    if (x->op != y->op)
        return false;
    int arity = ir_expr_rows[x->op].arity;
    if (x->op == IR_E_VAR)
        return same_var(p, x->of.var, y->of.var);
    if (!arity)
        return ir_same(p->w->p, a, b);
    for (int i = 0; i < arity; i++)
        if (!same_text(p, x->arg[i], y->arg[i]))
            return false;
    return true;
}

static bool same_bound(const Pair *p, IrExprId a, IrExprId b)
{
    return !a == !b &&
           (!a || same_text(p, a, b) || poly_equal(poly_of(p->w->pr, a), poly_of(p->w->pr, b)));
}

/* What a loop over tiles of 0..n-1 or of lo..lo+n-1 goes over; 0: it is not written so. */
static IrExprId extent_of(const IrProgram *p, const IrAxis *a)
{
    int64_t lo;
    const IrExpr *hi = &p->exprs.at[a->hi];
    if (ir_is_int(p, a->lo, &lo) && lo == 0)
        return a->hi;
    return hi->op == IR_E_ADD && ir_same(p, hi->arg[0], a->lo) ? hi->arg[1] : 0;
}

/* As many turns of the same sizes, wherever they begin: nothing inside the loop is compared. */
static bool same_turns(const Pair *p, const IrStmt *a, const IrStmt *b)
{
    IrExprId x = extent_of(p->w->p, &a->axes[0]), y = extent_of(p->w->p, &b->axes[0]);
    return a->loop == IR_LOOP_TILES && b->loop == IR_LOOP_TILES && x && y && same_text(p, x, y) &&
           same_bound(p, a->axes[0].tile, b->axes[0].tile);
}

static bool same_loop(const Pair *p, const IrStmt *a, const IrStmt *b)
{
    bool same = a == b || (a->loop == b->loop && a->axis_count == b->axis_count);
    for (uint32_t i = 0; i < a->axis_count && same && a != b; i++)
        same = same_bound(p, a->axes[i].lo, b->axes[i].lo) &&
               same_bound(p, a->axes[i].hi, b->axes[i].hi) &&
               same_bound(p, a->axes[i].step, b->axes[i].step) &&
               same_bound(p, a->axes[i].tile, b->axes[i].tile);
    return same;
}

static bool meets(ProofWalk *w, const ChannelOp *a, const ChannelOp *b)
{
    if (a->guarded || b->guarded || a->depth != b->depth || a->stmt->kind == b->stmt->kind ||
        channel_of(a->stmt) != channel_of(b->stmt))
        return false;
    Pair pair = {.w = w, .a = a, .b = b};
    for (; pair.alike < a->depth; pair.alike++) {
        const IrStmt *x = a->loops[pair.alike], *y = b->loops[pair.alike];
        bool inmost = pair.alike + 1 == a->depth;
        if (!same_loop(&pair, x, y) && !(inmost && same_turns(&pair, x, y)))
            return false;
    }
    return true;
}

void proof_channels(ProofWalk *w)
{
    Roles *r = arena_new(w->arena, Roles);
    r->w = w;
    if (!w->k->has_cube || !w->k->has_vector)
        return;
    collect(r, &w->k->body, IR_CORE_VECTOR);
    const Sequence *a = &r->of[IR_CORE_VECTOR], *b = &r->of[IR_CORE_CUBE];
    for (uint32_t i = 0; i < a->len || i < b->len; i++) {
        const IrStmt *s = i < a->len ? a->op[i].stmt : b->op[i].stmt;
        bool ok = !a->lost && !b->lost && i < a->len && i < b->len &&
                  meets(w, &a->op[i], &b->op[i]);
        const char *text = NULL;
        if (!ok)
            text = str_format(w->arena, "that this meets the other role's use of '%s'",
                              w->k->buffers.at[channel_of(s)].name);
        proof_add(w, IR_PROOF_HANG, ok ? IR_PROVED : IR_WATCHED, s->at, text);
    }
}
