/* Bank groups. In: a kernel's buffers and calls. Out: the buffers in another order, with a gap.
 *
 * UB is 16 bank groups of 32 bytes; an instruction whose two sources lie at the same address modulo
 * 512 reads each group twice and takes twice as long. Buffers are allocated one after the other, so
 * they are put on two sides: those at multiples of 512 bytes, 256 bytes of nothing, and those 256
 * bytes further on; sources that meet in many calls stand on different sides.
 * (asc-devkit docs, bank conflicts of 2201) */
#include "lower/lower_int.h"

enum { LINE = 512, GAP = 256, FEW = 4 /* calls that gain nothing */, SMALL = 1024 };

typedef enum Side { SIDE_ANY, SIDE_EVEN, SIDE_ODD } Side;

typedef struct Banks {
    Lower *l;
    uint32_t *meets; /* buffers x buffers: calls that read both */
    uint32_t n, calls;
    Side *side;
} Banks;

static bool at_line(const Lower *l, const AscRef *r)
{
    int64_t size = (int64_t)dtype_bytes(r->dtype);
    return r->used && !r->global && (!r->offset || lx_divides(l, r->offset, LINE / size));
}

static void count_calls(Banks *b, const AscBlock *block)
{
    const Lower *l = b->l;
    for (uint32_t i = 0; i < block->len; i++) {
        const AscStmt *s = &l->out->stmts.at[block->at[i]];
        count_calls(b, &s->body);
        count_calls(b, &s->orelse);
        bool axpy = s->kind == ASC_S_CALL && s->api == ASC_AXPY; /* reads its result too */
        const AscRef *other = axpy ? &s->dst : &s->b;
        if (s->kind != ASC_S_CALL || (asc_apis[s->api].form != ASC_F_BINARY && !axpy) ||
            !at_line(l, &s->a) || !at_line(l, other))
            continue;
        uint32_t x = l->k->locals.at[s->a.id].buffer, y = l->k->locals.at[other->id].buffer;
        bool small = lx_most(l, l->k->buffers.at[x].bytes) < SMALL ||
                     lx_most(l, l->k->buffers.at[y].bytes) < SMALL;
        if (x == y || small)
            continue;
        b->meets[x * b->n + y]++;
        b->meets[y * b->n + x]++;
        b->calls++;
    }
}

/* Each goes where fewer of those before it meet it. */
static void choose_sides(Banks *b)
{
    for (uint32_t i = 0; i < b->n; i++) {
        uint32_t even = 0, odd = 0, all = 0;
        for (uint32_t k = 0; k < b->n; k++) {
            uint32_t meets = b->meets[i * b->n + k];
            all += meets;
            even += k < i && b->side[k] == SIDE_EVEN ? meets : 0;
            odd += k < i && b->side[k] == SIDE_ODD ? meets : 0;
        }
        b->side[i] = !all ? SIDE_ANY : even > odd ? SIDE_ODD : SIDE_EVEN;
    }
}

/* The buffers of a side, from `next` on; their slots are whole lines. */
static uint32_t take_side(Banks *b, Side side, const AscBuffer *old, uint32_t *now, uint32_t next)
{
    Lower *l = b->l;
    for (uint32_t i = 0; i < b->n; i++) {
        if (b->side[i] != side)
            continue;
        AscBuffer *to = &l->k->buffers.at[next];
        *to = old[i];
        if (side != SIDE_ANY)
            to->bytes = lx_align(l, to->bytes, LINE);
        now[i] = next++;
    }
    return next;
}

static void reorder(Banks *b)
{
    Lower *l = b->l;
    AscBuffer *old = arena_array(l->arena, AscBuffer, b->n), gap = {.name = "gap.buf"};
    uint32_t *now = arena_array(l->arena, uint32_t, b->n), next;
    for (uint32_t i = 0; i < b->n; i++)
        old[i] = l->k->buffers.at[i];
    gap.storage = ASC_TBUF;
    gap.bytes = lx_int(l, GAP);
    gap.at = l->source->at;
    vec_push(l->arena, &l->k->buffers, gap);
    next = take_side(b, SIDE_EVEN, old, now, 0);
    l->k->buffers.at[next++] = gap;
    next = take_side(b, SIDE_ODD, old, now, next);
    take_side(b, SIDE_ANY, old, now, next);
    for (uint32_t i = 0; i < l->k->locals.len; i++)
        l->k->locals.at[i].buffer = now[l->k->locals.at[i].buffer];
}

static void place_kernel(Lower *l)
{
    uint32_t n = l->k->buffers.len;
    Banks b = {.l = l,
               .n = n,
               .meets = arena_array(l->arena, uint32_t, (size_t)n * n + 1),
               .side = arena_array(l->arena, Side, n + 1)};
    for (uint32_t i = 0; i < l->k->functions.len; i++)
        count_calls(&b, &l->k->functions.at[i].body);
    choose_sides(&b);
    if (b.calls >= FEW)
        reorder(&b);
}

/* requires: every buffer the kernel needs, scratch included.
 * keeps: what each local stands for. */
void lower_banks(Lower *l)
{
    for (uint32_t i = 0; i < l->out->kernels.len; i++) {
        l->k = &l->out->kernels.at[i];
        l->source = &l->ir->kernels.at[i];
        if (l->k->launched && l->k->functions.len)
            place_kernel(l);
    }
}
