/* Capacity: the buffers of a kernel fit into the memories of a core, for every combination of
 * the program's choices. In: declared buffers. Out: one obligation per kernel and memory, with
 * the bytes each buffer takes when they do not fit. */
#include "ir/prove_int.h"

enum { MAX_COMBINATIONS = 4096 };

static const char *const memory_words[] = {"UB", "L1", "L0A", "L0B", "L0C", "GM"};

static int64_t align32(int64_t bytes)
{
    return bytes > INT64_MAX - 31 ? INT64_MAX : (bytes + 31) / 32 * 32;
}

static int64_t times(int64_t a, int64_t b)
{
    int64_t r;
    return __builtin_mul_overflow(a, b, &r) ? INT64_MAX : r;
}

/* Most bytes the buffer can take; INT64_MAX: no bound. */
static int64_t buffer_bytes(const ProofWalk *w, const IrBuffer *b)
{
    int64_t row = ir_interval(w->p, w->chip, b->shape[b->rank - 1]).hi;
    if (row == INT64_MAX)
        return INT64_MAX;
    int64_t bytes = align32(b->mask ? row / 8 + (row % 8 != 0)
                                    : times(row, (int64_t)dtype_bytes(b->dtype)));
    if (b->rank == 2)
        bytes = times(bytes, ir_interval(w->p, w->chip, b->shape[0]).hi);
    if (b->depth)
        bytes = times(bytes, ir_interval(w->p, w->chip, b->depth).hi);
    return bytes;
}

static int64_t memory_size(const NpuChip *chip, IrMemory memory)
{
    switch (memory) {
    case IR_UB: return chip->ub;
    case IR_L1: return chip->l1;
    case IR_L0A: return chip->l0a;
    case IR_L0B: return chip->l0b;
    case IR_L0C: return chip->l0c;
    case IR_CHANNEL: break;
    }
    return INT64_MAX; /* a channel lives in GM */
}

static int64_t memory_used(const ProofWalk *w, IrMemory memory)
{
    int64_t sum = 0;
    for (uint32_t i = 0; i < w->k->buffers.len; i++)
        if (w->k->buffers.at[i].memory == memory &&
            __builtin_add_overflow(sum, buffer_bytes(w, &w->k->buffers.at[i]), &sum))
            return INT64_MAX;
    return sum;
}

static const char *holders(ProofWalk *w, IrMemory memory)
{
    Buf out = {0};
    for (uint32_t i = 0; i < w->k->buffers.len; i++) {
        const IrBuffer *b = &w->k->buffers.at[i];
        int64_t bytes = buffer_bytes(w, b);
        if (b->memory != memory)
            continue;
        buf_printf(&out, "%s%s ", out.len ? ", " : "", b->name);
        if (bytes == INT64_MAX)
            buf_puts(&out, "without bound");
        else
            buf_printf(&out, "%lld", (long long)bytes);
    }
    char *text = buf_take(&out, w->arena);
    buf_free(&out);
    return text;
}

static const char *choices_text(const ProofWalk *w, Buf *out)
{
    const char *before = " with ";
    buf_clear(out);
    buf_puts(out, "");
    for (uint32_t i = 1; i < w->p->vars.len; i++) {
        const IrVar *v = &w->p->vars.at[i];
        if (v->kind != IR_VAR_CHOICE)
            continue;
        buf_printf(out, "%s%s = %lld", before, v->name, (long long)v->lo);
        before = ", ";
    }
    return out->len ? out->at : "";
}

/* The combination of choices that uses most of one memory. */
typedef struct Peak {
    int64_t used;
    const char *choices, *holders;
} Peak;

static void measure(ProofWalk *w, Peak peaks[])
{
    for (IrMemory m = IR_UB; m < IR_CHANNEL; m++) {
        int64_t used = memory_used(w, m);
        if (used <= peaks[m].used)
            continue;
        Buf text = {0};
        const char *choices = str_dup(w->arena, str_from(choices_text(w, &text)));
        peaks[m] = (Peak){used, choices, holders(w, m)};
        buf_free(&text);
    }
}

/* Every combination of choices in turn, each annotated as if it were the only one. */
static void for_each_choice(ProofWalk *w, IrVarId var, uint32_t *left, Peak peaks[])
{
    while (var < w->p->vars.len && w->p->vars.at[var].kind != IR_VAR_CHOICE)
        var++;
    if (var == w->p->vars.len) {
        if (*left > 0) {
            --*left;
            ir_annotate(w->p, w->chip);
            measure(w, peaks);
        }
        return;
    }
    IrVar *v = &w->p->vars.at[var];
    int64_t *values = v->choices.at;
    uint32_t count = v->choices.len;
    v->choices.len = 1;
    for (uint32_t i = 0; i < count; i++) {
        w->p->vars.at[var].choices.at = &values[i];
        for_each_choice(w, var + 1, left, peaks);
    }
    w->p->vars.at[var].choices.at = values;
    w->p->vars.at[var].choices.len = count;
}

void proof_capacity(ProofWalk *w)
{
    Peak peaks[IR_CHANNEL] = {0};
    uint32_t left = MAX_COMBINATIONS;
    for_each_choice(w, 1, &left, peaks);
    ir_annotate(w->p, w->chip); /* all choices again */
    for (IrMemory m = IR_UB; m < IR_CHANNEL; m++) {
        if (peaks[m].used == 0)
            continue;
        int64_t size = memory_size(w->chip, m);
        bool fits = peaks[m].used <= size && left > 0;
        const char *text = NULL;
        if (m == IR_UB && peaks[m].used > w->report->ub_peak)
            w->report->ub_peak = peaks[m].used;
        if (left == 0)
            text = str_format(w->arena, "%s: more than %d combinations of choices", w->k->name,
                              MAX_COMBINATIONS);
        else if (peaks[m].used == INT64_MAX)
            text = str_format(w->arena, "the buffers of '%s' have no upper bound in %s%s: %s",
                              w->k->name, memory_words[m], peaks[m].choices, peaks[m].holders);
        else if (!fits)
            text = str_format(w->arena,
                              "the buffers of '%s' take %lld bytes of %s, a core has %lld"
                              "%s: %s",
                              w->k->name, (long long)peaks[m].used, memory_words[m],
                              (long long)size, peaks[m].choices, peaks[m].holders);
        proof_add(w, IR_PROOF_CAPACITY,
                  fits   ? IR_PROVED
                  : left ? IR_REFUSED
                         : IR_WATCHED,
                  w->k->at, text);
    }
}
