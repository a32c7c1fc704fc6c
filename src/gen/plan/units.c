/* Accumulating reductions lane by lane; see units.h. In: reductions of a pass. Out: statements. */
#include "gen/plan/units.h"

#include <string.h>

const char *const unit_starts[] = {
    [PRIM_SUM] = "0.0", [PRIM_MAX] = "-inf", [PRIM_MIN] = "inf", [PRIM_PROD] = "1.0"};
const char *const unit_steps[] = {[PRIM_SUM] = "%s + %s",
                                  [PRIM_MAX] = "max(%s, %s)",
                                  [PRIM_MIN] = "min(%s, %s)",
                                  [PRIM_PROD] = "%s * %s"};
const char *const unit_folds[] = {[PRIM_SUM] = "reduce_sum",
                                  [PRIM_MAX] = "reduce_max",
                                  [PRIM_MIN] = "reduce_min",
                                  [PRIM_PROD] = "reduce_prod"};

const char *unit_format(Writer *w, const char *form, const char *so_far, const char *operand)
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

/* ---- which reductions go together ---- */

static const Prim *map_of(const Writer *w, PrimId id, const char *form)
{
    const Prim *p = &w->g->prims.at[id];
    return p->op == PRIM_MAP && !strcmp(p->form, form) ? p : NULL;
}

static bool is_reduce(const Writer *w, PrimId id, PrimReduce kind, PrimId of, uint64_t over)
{
    const Prim *p = &w->g->prims.at[id];
    return p->op == PRIM_REDUCE && p->reduce == kind && p->arg[0] == of && p->over == over;
}

/* sum exp(x - max x): the maximum */
static PrimId online_partner(const Writer *w, const Prim *sum)
{
    const Prim *e = map_of(w, sum->arg[0], "exp($0 - $1)");
    const Prim *outer = map_of(w, sum->arg[0], "exp($0)");
    if (!e && outer)
        e = map_of(w, outer->arg[0], "$0 - $1");
    return e && is_reduce(w, e->arg[1], PRIM_MAX, e->arg[0], sum->over) ? e->arg[1] : 0;
}

/* sum (x - mean x)^2: the sum behind the mean */
static PrimId moments_partner(const Writer *w, const Prim *sum)
{
    const Prim *square = map_of(w, sum->arg[0], "$0 * $0");
    const Prim *centred = square ? map_of(w, square->arg[0], "$0 - $1") : NULL;
    const Prim *mean = centred ? map_of(w, centred->arg[1], "$0 / $1") : NULL;
    if (!mean || w->g->prims.at[mean->arg[1]].op != PRIM_COUNT ||
        w->g->prims.at[mean->arg[1]].over != sum->over)
        return 0;
    return is_reduce(w, mean->arg[0], PRIM_SUM, centred->arg[0], sum->over) ? mean->arg[0] : 0;
}

void units_pair(Writer *w)
{
    for (uint32_t i = 1; i < w->g->prims.len; i++) {
        const Prim *p = &w->g->prims.at[i];
        if (p->op != PRIM_REDUCE || p->reduce != PRIM_SUM || !p->uses || p->over == w->s->outer)
            continue;
        PrimId online = online_partner(w, p);
        w->pair[i] = online ? online : moments_partner(w, p);
    }
}

static PrimId partner_of(const Writer *w, PrimId id)
{
    for (uint32_t i = id + 1; i < w->g->prims.len; i++)
        if (w->pair[i] == id)
            return i;
    return 0;
}

UnitList units_of(Writer *w, uint32_t pass)
{
    UnitList list = {0};
    for (uint32_t i = 1; i < w->g->prims.len; i++) {
        const Prim *p = &w->g->prims.at[i];
        bool here = p->op == PRIM_REDUCE && p->uses && p->over != w->s->outer &&
                    w->level[i] == pass + 1 && !w->pair[i];
        if (!here)
            continue;
        Unit u = {.first = i, .second = partner_of(w, i), .of = p->arg[0]};
        u.kind = !u.second ? UNIT_PLAIN : p->reduce == PRIM_MAX ? UNIT_ONLINE : UNIT_MOMENTS;
        vec_push(w->arena, &list, u);
    }
    return list;
}

/* ---- statements ---- */

static const char *const row_words[] = {[PRIM_SUM] = "row_sum",
                                        [PRIM_MAX] = "row_max",
                                        [PRIM_MIN] = "row_min",
                                        [PRIM_PROD] = "row_prod"};

static WriteKind lane_kind(const Writer *w) { return w->two ? KIND_PER_ROW : KIND_TILE; }

static const char *lane_view(Writer *w, const char *buffer)
{
    return write_view(w, lane_kind(w), buffer);
}

/* Lanes are folded in the end, where they are not rows. */
static bool folds(const Writer *w) { return !w->two; }

static const char *lane_new(Writer *w, char stem, PrimId owner)
{
    return write_buffer(w, stem, lane_kind(w), DT_F32, 1, owner);
}

void unit_start(Writer *w, Unit *u)
{
    PrimReduce kind = w->g->prims.at[u->first].reduce;
    /* the lowest finite number: -inf less -inf would be no number */
    const char *start = u->kind == UNIT_ONLINE ? "-3.4028234663852886e38" : unit_starts[kind];
    write_line(w, "with compute():");
    for (int i = 0; i < (u->second ? 2 : 1); i++) {
        u->lane[i] = lane_new(w, 'r', i ? u->second : u->first);
        write_line(w, "    %s = %s", folds(w) ? u->lane[i] : lane_view(w, u->lane[i]),
                   i ? "0.0" : start);
    }
    if (u->kind != UNIT_MOMENTS)
        return;
    u->shift = str_format(w->arena, "k%u", w->next++);
    if (folds(w)) {
        write_line(w, "%s = 0.0", u->shift);
    } else {
        u->shift = lane_view(w, lane_new(w, 'k', u->first));
        write_line(w, "with compute():");
        write_line(w, "    %s = 0.0", u->shift);
    }
}

static void step_online(Writer *w, const Unit *u)
{
    const char *x = write_named(w, u->of), *m = lane_view(w, u->lane[0]);
    const char *s = lane_view(w, u->lane[1]), *n = lane_view(w, lane_new(w, 'n', 0));
    if (w->two) {
        write_line(w, "%s = max(%s, row_max(%s))", n, m, x);
        write_line(w, "%s = %s * exp(%s - %s) + row_sum(exp(%s - col(%s)))", s, s, m, n, x, n);
    } else {
        write_line(w, "%s = max(%s, %s)", n, m, x);
        write_line(w, "%s = %s * exp(%s - %s) + exp(%s - %s)", s, s, m, n, x, n);
    }
    write_line(w, "%s = %s", m, n);
}

static void step_moments(Writer *w, const Unit *u, const char *first)
{
    const char *x = write_named(w, u->of), *k = u->shift, *lane[2];
    const char *d = write_view(w, KIND_TILE, write_buffer(w, 'v', KIND_TILE, DT_F32, 1, 0));
    for (int i = 0; i < 2; i++)
        lane[i] = lane_view(w, u->lane[i]);
    write_line(w, "if %s:", first);
    if (w->two) {
        write_line(w, "    %s = row_sum(%s) * (1.0 / f32(%s))", k, x, w->count);
        write_line(w, "%s = %s - col(%s)", d, x, k);
        write_line(w, "%s = %s + row_sum(%s)", lane[0], lane[0], d);
        write_line(w, "%s = %s + row_sum(%s * %s)", lane[1], lane[1], d, d);
        return;
    }
    write_line(w, "    %s = reduce_sum(%s) / f32(%s)", k, x, w->count);
    write_line(w, "%s = %s - %s", d, x, k);
    write_line(w, "%s = %s + %s", lane[0], lane[0], d);
    write_line(w, "%s = %s + %s * %s", lane[1], lane[1], d, d);
}

static void step_plain(Writer *w, const Unit *u)
{
    PrimReduce kind = w->g->prims.at[u->first].reduce;
    bool again = w->two && w->g->prims.at[u->of].uses > 1;
    const char *lane = lane_view(w, u->lane[0]);
    const char *x = again ? write_named(w, u->of) : write_expr(w, u->of);
    if (w->two)
        x = str_format(w->arena, "%s(%s)", row_words[kind], x);
    write_line(w, "%s = %s", lane, unit_format(w, unit_steps[kind], lane, x));
}

void unit_step(Writer *w, Unit *u, const char *first)
{
    write_needs(w, u->of);
    switch (u->kind) {
    case UNIT_PLAIN: step_plain(w, u); break;
    case UNIT_ONLINE: step_online(w, u); break;
    case UNIT_MOMENTS: step_moments(w, u, first); break;
    }
}

static const char *count_of(Writer *w, const Unit *u)
{
    Buf out = {0};
    if (w->piece)
        return w->piece;
    write_count(w, &out, w->g->prims.at[u->first].over);
    char *text = buf_take(&out, w->arena);
    buf_free(&out);
    return text;
}

static void finish_lanes(Writer *w, Unit *u)
{
    const char *a = lane_view(w, u->lane[0]), *b = u->second ? lane_view(w, u->lane[1]) : NULL;
    if (u->kind == UNIT_MOMENTS) {
        const char *n = count_of(w, u);
        write_line(w, "%s = max(%s - %s * %s * (1.0 / %s), 0.0)", b, b, a, a, n);
        write_line(w, "%s = %s + %s * %s", a, a, u->shift, n);
    }
    w->name[u->first] = a;
    if (u->second)
        w->name[u->second] = b;
}

static const char *fold(Writer *w, PrimReduce kind, const char *lane)
{
    const char *name = str_format(w->arena, "r%u", w->next++);
    write_line(w, "%s = %s(%s)", name, unit_folds[kind], lane);
    return name;
}

static void finish_scalars(Writer *w, Unit *u)
{
    const char *a = u->lane[0], *b = u->lane[1];
    const char *x = fold(w, w->g->prims.at[u->first].reduce, a), *y = NULL;
    if (u->kind == UNIT_ONLINE) {
        write_line(w, "%s = %s * exp(%s - %s)", b, b, a, x);
        y = fold(w, PRIM_SUM, b);
    }
    if (u->kind == UNIT_MOMENTS) {
        const char *n = count_of(w, u), *sum = str_format(w->arena, "r%u", w->next++);
        y = fold(w, PRIM_SUM, b);
        write_line(w, "%s = max(%s - %s * %s / %s, 0.0)", y, y, x, x, n);
        write_line(w, "%s = %s + %s * %s", sum, x, u->shift, n);
        x = sum;
    }
    w->name[u->first] = x;
    write_release(w, a);
    if (u->second) {
        w->name[u->second] = y;
        write_release(w, b);
    }
}

void unit_finish(Writer *w, Unit *u)
{
    if (folds(w))
        finish_scalars(w, u);
    else
        finish_lanes(w, u);
}
