/* Small counterexamples. In: a program with obligations that are not proved. Out: errors with the sizes that
 * break them. Sizes come from a fixed list (ends of the range, around powers of two, around the
 * program's own constants and core counts), combined so that every pair of neighbours in the
 * list meets; the small ones first. */
#include "ir/falsify.h"

#include "ir/run.h"
#include "ir/verify_int.h"
#include <string.h>

enum {
    MAX_DIMS = 16,
    MAX_SIZES = 40,
    MAX_SHAPES = 128,
    MAX_COMBOS = 8,
    MAX_ELEMENTS = 1 << 18,
    STEPS_EACH = 400000,
    STEPS_ALL = 6000000
};

typedef struct Sizes {
    int64_t at[MAX_SIZES];
    uint32_t len;
} Sizes;

typedef struct Hunt {
    Arena *arena, scratch;
    IrProgram *p;
    const NpuChip *chip;
    IrReport *report;
    Diag *diag;
    Sizes sizes[MAX_DIMS];
    int64_t *shapes[MAX_SHAPES]; /* each: one value per dim */
    uint32_t shape_count;
    int64_t *choices;
    IrValue *attrs;
    uint64_t steps;
    bool found;
} Hunt;

/* ---- which sizes ---- */

static void add_size(const IrVar *v, Sizes *s, int64_t value)
{
    if (value < v->lo)
        value = v->lo;
    if (v->multiple > 1 && value % v->multiple)
        value += v->multiple - value % v->multiple;
    if (value < v->lo || value > v->hi || s->len == MAX_SIZES)
        return;
    uint32_t i = 0;
    while (i < s->len && s->at[i] < value)
        i++;
    if (i < s->len && s->at[i] == value)
        return;
    memmove(&s->at[i + 1], &s->at[i], (s->len - i) * sizeof s->at[0]);
    s->at[i] = value;
    s->len++;
}

static void add_around(const IrVar *v, Sizes *s, int64_t value)
{
    for (int64_t d = -1; d <= 1; d++)
        add_size(v, s, value + d);
}

/* Constants of the program that may be a tile or a divisor. */
static void add_constants(Hunt *h, const IrVar *v, Sizes *s)
{
    uint32_t left = 4;
    for (uint32_t i = 1; i < h->p->exprs.len && left; i++) {
        const IrExpr *e = &h->p->exprs.at[i];
        if (e->op == IR_E_INT && e->of.i > 3 && e->of.i <= 8192) {
            add_around(v, s, e->of.i);
            left--;
        }
    }
    left = 3;
    for (uint32_t i = 1; i < h->p->vars.len && left; i++) {
        const IrVar *c = &h->p->vars.at[i];
        for (uint32_t k = 0; c->kind == IR_VAR_CHOICE && k < c->choices.len && left; k++, left--)
            add_around(v, s, c->choices.at[k]);
    }
}

static void choose_sizes(Hunt *h, const IrVar *v, Sizes *s)
{
    static const int64_t usual[] = {1, 2, 3, 7, 13, 31, 32, 33, 64, 100, 257};
    add_size(v, s, v->lo);
    add_size(v, s, v->lo + 1);
    for (uint32_t i = 0; i < sizeof usual / sizeof *usual; i++)
        add_size(v, s, usual[i]);
    add_around(v, s, h->chip->aiv);
    add_around(v, s, h->chip->aic);
    add_constants(h, v, s);
    if (v->hi <= 4096)
        add_size(v, s, v->hi);
}

/* ---- which shapes ---- */

static void add_shape(Hunt *h, const uint32_t *index)
{
    if (h->shape_count == MAX_SHAPES)
        return;
    int64_t *shape = arena_array(&h->scratch, int64_t, h->p->dims.len + 1);
    for (uint32_t d = 0; d < h->p->dims.len; d++)
        shape[d] = h->sizes[d].len ? h->sizes[d].at[index[d] % h->sizes[d].len] : 0;
    if (!ir_derive_sizes(h->p, shape))
        return;
    h->shapes[h->shape_count++] = shape;
}

static void choose_shapes(Hunt *h)
{
    static const uint32_t stride[] = {1, 5, 7, 11, 3, 13};
    uint32_t index[MAX_DIMS] = {0}, longest = 1;
    for (uint32_t d = 0; d < h->p->dims.len; d++) {
        const IrVar *v = &h->p->vars.at[h->p->dims.at[d]];
        if (ir_is_derived(v))
            continue;
        choose_sizes(h, v, &h->sizes[d]);
        if (h->sizes[d].len == 0)
            return; /* no size satisfies its own range */
        if (h->sizes[d].len > longest)
            longest = h->sizes[d].len;
    }
    add_shape(h, index);
    for (uint32_t d = 0; d < h->p->dims.len && d < 4; d++) { /* one axis takes every size */
        for (uint32_t k = 0; k < MAX_DIMS; k++)
            index[k] = d % 2; /* the smallest, or the next */
        for (index[d] = 0; index[d] < h->sizes[d].len && index[d] < MAX_SIZES; index[d]++)
            add_shape(h, index);
    }
    for (uint32_t n = 1; n < longest * 2 && h->p->dims.len; n++) {
        for (uint32_t d = 0; d < h->p->dims.len; d++)
            index[d] = n * stride[d % 6] + (n >= longest) * (d + 1);
        add_shape(h, index);
    }
}

static double weight(const Hunt *h, const int64_t *shape)
{
    double w = 1;
    for (uint32_t d = 0; d < h->p->dims.len; d++)
        w *= (double)(shape[d] + 1);
    return w;
}

/* Small ones first, so that the numbers in the message are small. */
static void sort_shapes(Hunt *h)
{
    for (uint32_t i = 1; i < h->shape_count; i++) {
        int64_t *shape = h->shapes[i];
        uint32_t k = i;
        for (; k > 0 && weight(h, h->shapes[k - 1]) > weight(h, shape); k--)
            h->shapes[k] = h->shapes[k - 1];
        h->shapes[k] = shape;
    }
}

/* ---- choices, attributes, lists ---- */

static uint32_t count_choices(const IrProgram *p)
{
    uint32_t n = 0;
    for (uint32_t i = 1; i < p->vars.len; i++)
        n += p->vars.at[i].kind == IR_VAR_CHOICE;
    return n;
}

/* Combination number `n`, the defaults first; false: there is none. */
static bool pick_choices(Hunt *h, uint32_t n)
{
    uint32_t c = 0;
    for (uint32_t i = 1; i < h->p->vars.len; i++) {
        const IrVar *v = &h->p->vars.at[i];
        if (v->kind != IR_VAR_CHOICE)
            continue;
        h->choices[c++] = v->choices.at[n % v->choices.len];
        n /= v->choices.len;
    }
    return n == 0;
}

static void pick_attrs(Hunt *h)
{
    h->attrs = arena_array(&h->scratch, IrValue, h->p->attrs.len + 1);
    for (uint32_t i = 0; i < h->p->attrs.len; i++) {
        const IrVar *v = &h->p->vars.at[h->p->attrs.at[i]];
        const IrExpr *e = &h->p->exprs.at[v->value];
        int64_t some = v->lo > 1 ? v->lo : v->hi < 1 ? v->hi : 1;
        h->attrs[i] = (IrValue){.i = v->type == DT_BOOL ? 0 : some, .f = 0.5f};
        if (e->op == IR_E_INT || e->op == IR_E_BOOL)
            h->attrs[i].i = e->of.i;
        else if (e->op == IR_E_FLOAT)
            h->attrs[i].f = (float)e->of.f;
    }
}

/* Operands of awkward sizes: lists have three tensors; `optional`: optional tensors are given. */
static IrOperand *pick_operands(Hunt *h, bool optional)
{
    static const int64_t lengths[] = {1, 33, 4097};
    IrOperand *o = arena_array(&h->scratch, IrOperand, h->p->operand_count + 1);
    for (uint32_t i = 0; i < h->p->operand_count; i++) {
        const IrTensor *t = &h->p->tensors.at[i];
        o[i].count = t->role == IR_ROLE_OPT ? optional : ir_is_list(t) ? 3 : 1;
        o[i].items = arena_array(&h->scratch, IrData, 3);
        for (uint32_t k = 0; k < 3; k++)
            o[i].items[k] = (IrData){.rank = 1, .dims = {lengths[k]}};
    }
    return o;
}

/* ---- what was found ---- */

static void put_sizes(const Hunt *h, const int64_t *dims, Buf *out)
{
    const char *before = "with ";
    uint32_t c = 0;
    for (uint32_t i = 0; i < h->p->dims.len; i++) {
        const IrVar *v = &h->p->vars.at[h->p->dims.at[i]];
        if (v->lo != v->hi) {
            buf_printf(out, "%s%s = %lld", before, v->name, (long long)dims[i]);
            before = ", ";
        }
    }
    for (uint32_t i = 1; i < h->p->vars.len; i++) {
        const IrVar *v = &h->p->vars.at[i];
        if (v->kind != IR_VAR_CHOICE)
            continue;
        buf_printf(out, "%s%s = %lld", before, v->name, (long long)h->choices[c++]);
        before = ", ";
    }
    buf_puts(out, out->len ? ": " : "");
}

static bool same_place(Span a, Span b) { return a.line == b.line && a.col == b.col; }

/* An unproved obligation of that rule and place is refused now; without one, a new one is added. */
static bool update_report(Hunt *h, const IrFault *f, const char *text)
{
    bool ruled = f->kind < (IrFaultKind)IR_PROOF_COUNT;
    for (uint32_t i = 0; i < h->report->items.len && ruled; i++) {
        IrProofItem *item = &h->report->items.at[i];
        if (item->kind != (IrProofKind)f->kind || item->state == IR_PROVED ||
            item->at.line != f->at.line ||
            (!same_place(item->at, f->at) && item->state != IR_WATCHED))
            continue;
        if (item->state == IR_REFUSED)
            return false;
        h->report->count[IR_WATCHED]--;
        h->report->count[IR_REFUSED]++;
        item->state = IR_REFUSED;
        item->text = text;
        return true;
    }
    h->report->count[IR_REFUSED]++;
    if (ruled) {
        IrProofItem item = {(IrProofKind)f->kind, IR_REFUSED, f->kernel, f->at, text};
        vec_push(h->arena, &h->report->items, item);
    }
    return true;
}

static bool said_before(const Hunt *h, const IrFault *f)
{
    for (uint32_t i = 0; i < h->diag->items.len; i++) {
        const DiagItem *d = &h->diag->items.at[i];
        if (d->level == DIAG_ERROR && strcmp(d->code, ir_fault_rows[f->kind].code) == 0 &&
            d->at.line == f->at.line)
            return true;
    }
    return false;
}

static void tell(Hunt *h, const IrFault *f, const int64_t *dims)
{
    if (f->kind == IR_FAULT_LIMIT || said_before(h, f))
        return;
    Buf out = {0};
    put_sizes(h, dims, &out);
    buf_puts(&out, f->text);
    const char *text = buf_take(&out, h->arena);
    buf_free(&out);
    if (!update_report(h, f, text))
        return;
    diag_error(h->diag, ir_fault_rows[f->kind].code, f->at, "%s", text);
    diag_hint(h->diag, "%s", ir_fault_rows[f->kind].repair);
    h->found = true;
}

static void try(Hunt *h, const int64_t *dims, IrOperand *operands)
{
    Arena local = {0};
    IrRun run = {.p = h->p,
                 .chip = h->chip,
                 .operands = operands,
                 .dims = dims,
                 .attrs = h->attrs,
                 .choices = h->choices,
                 .addresses_only = true,
                 .keep_going = true,
                 .max_steps = STEPS_EACH,
                 .max_bytes = (uint64_t)MAX_ELEMENTS * 512};
    ir_run(&local, &run);
    h->steps += run.steps;
    for (uint32_t i = 0; i < run.faults.len && run.status == IR_RUN_FAULT; i++)
        tell(h, &run.faults.at[i], dims);
    arena_drop(&local);
}

static void hunt(Hunt *h)
{
    IrOperand *with = pick_operands(h, true), *without = pick_operands(h, false);
    bool optional = false;
    for (uint32_t i = 0; i < h->p->operand_count; i++)
        optional |= h->p->tensors.at[i].role == IR_ROLE_OPT;
    for (uint32_t n = 0; n < MAX_COMBOS && pick_choices(h, n); n++) {
        for (uint32_t i = 0; i < h->shape_count && h->steps < STEPS_ALL; i++) {
            if (weight(h, h->shapes[i]) > MAX_ELEMENTS)
                continue;
            try(h, h->shapes[i], with);
            if (optional)
                try(h, h->shapes[i], without);
        }
    }
}

/* Who reads what another core wrote is nobody's obligation in proof.def: try it. */
static bool cores_share(const IrProgram *p)
{
    for (uint32_t i = 0; i < p->tensors.len; i++)
        if (p->tensors.at[i].role == IR_ROLE_WORKSPACE || p->tensors.at[i].role == IR_ROLE_INOUT)
            return true;
    return p->kernels.len > 1;
}

bool ir_falsify(Arena *arena, IrProgram *p, const NpuChip *chip, IrReport *report, Diag *diag)
{
    if ((report->count[IR_WATCHED] == 0 && !cores_share(p)) || p->dims.len > MAX_DIMS)
        return true;
    Hunt h = {.arena = arena, .p = p, .chip = chip, .report = report, .diag = diag};
    h.choices = arena_array(&h.scratch, int64_t, count_choices(p) + 1);
    pick_attrs(&h);
    choose_shapes(&h);
    sort_shapes(&h);
    hunt(&h);
    arena_drop(&h.scratch);
    return !h.found;
}
