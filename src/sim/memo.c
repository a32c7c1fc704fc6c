/* Passing over records that repeat; see memo.h. */
#include "sim/memo.h"

#include "sim/sim_int.h"

enum {
    PAST = 1024,     /* records of a core that are remembered: the longest period */
    MARKS = 512,     /* places for the last record of each looks */
    RUN = 64,        /* records that repeat before it is tried */
    WORTH = 512,     /* passed over, a try has paid */
    PATIENCE = 1024, /* records until the next try after one that has not, doubled each time */
    MOST_FAILURES = 12,
    WORDS = REC_BYTES / 8,
};

/* A record of the period: what the next one must agree with. */
typedef struct MemoSlot {
    Record record;
    uint64_t mask[WORDS]; /* bits that count */
    SimAccess *access;
    uint32_t n;
    bool gm;
    uint64_t read, written;
} MemoSlot;

typedef enum MemoState { MEMO_LOOKS, MEMO_TRIES, MEMO_TRIES_AGAIN, MEMO_PASSES } MemoState;

typedef struct MemoCore {
    uint64_t *past;       /* looks of the last PAST records, a ring */
    uint64_t seen;        /* records so far */
    uint64_t mark[MARKS]; /* 1 + number of the last record of these looks */
    uint64_t patience;    /* no try before that record */
    uint32_t failures;
    uint32_t period, matched; /* records in a row like those a period before */
    MemoState state;
    uint32_t at; /* records of the running period */
    uint64_t periods;
    uint64_t reports; /* findings when the try began */
    CoreState before;
    SimBuffer *buffers; /* of `before` */
    MemoSlot *slots;
    uint32_t cap;
} MemoCore;

struct Memo {
    Sim *sim;
    MemoCore *core;
    uint64_t passed;
};

Memo *memo_open(Sim *sim)
{
    Memo *m = heap_alloc(sizeof *m);
    m->sim = sim;
    m->core = heap_alloc(sim->cores * sizeof *m->core);
    return m;
}

static void drop_slots(MemoCore *c)
{
    for (uint32_t i = 0; i < c->cap; i++)
        heap_free(c->slots[i].access);
    heap_free(c->slots);
    c->slots = NULL;
    c->cap = 0;
}

static void drop_core(MemoCore *c)
{
    drop_slots(c);
    heap_free(c->past);
    heap_free(c->buffers);
    c->past = NULL;
    c->buffers = NULL;
}

void memo_close(Memo *m)
{
    if (!m)
        return;
    for (uint32_t i = 0; i < m->sim->cores; i++)
        drop_core(&m->core[i]);
    heap_free(m->core);
    heap_free(m);
}

/* --- when is a record like another? --- */

enum { OPERAND_WORD = 2, MASK_WORD = 10, SCALAR_WORD = 12 };
_Static_assert(offsetof(Record, operand) == 8 * OPERAND_WORD &&
                   offsetof(Record, mask) == 8 * MASK_WORD &&
                   offsetof(Record, scalar) == 8 * SCALAR_WORD,
               "record layout");

/* Where in GM, and values that only travel along, do not count. */
static void mask_of(const Record *r, uint64_t *mask)
{
    memset(mask, 0xFF, WORDS * sizeof *mask);
    for (int i = 0; i < 4; i++)
        if (rec_space(r->operand[i].address) == NPU_GM) {
            mask[OPERAND_WORD + 2 * i] = rec_address(0xFF, 0);
            mask[OPERAND_WORD + 2 * i + 1] = ~UINT64_C(0) << 32; /* not how far it reaches */
        }
    if (r->op != NPU_SET_REGISTER && r->op != NPU_GATHER)
        mask[SCALAR_WORD] = 0;
    if (r->op == NPU_RAW_STORE)
        mask[MASK_WORD] = mask[MASK_WORD + 1] = 0;
}

/* All of it but the scalar; the common case. */
static bool agrees_plainly(const Record *r, const Record *with)
{
    return memcmp(r, with, offsetof(Record, scalar)) == 0 &&
           memcmp(r->n, with->n, sizeof r->n) == 0;
}

static bool agrees(const Record *r, const Record *with, const uint64_t *mask)
{
    uint64_t a[WORDS], b[WORDS], differ = 0;
    memcpy(a, r, sizeof a);
    memcpy(b, with, sizeof b);
    for (int i = 0; i < WORDS; i++)
        differ |= (a[i] ^ b[i]) & mask[i];
    return differ == 0;
}

static uint64_t mix(uint64_t a, uint64_t b)
{
    unsigned __int128 product = (unsigned __int128)(a ^ 0x9E3779B97F4A7C15ull) *
                                (b ^ 0xD1B54A32D192ED03ull);
    return (uint64_t)product ^ (uint64_t)(product >> 64);
}

/* A hash that is equal for records that agree. Records with equal hashes are compared when a
 * repeat is tried. */
static uint64_t looks_of(const Record *r)
{
    uint64_t word[WORDS], mask[WORDS], h = 0;
    memcpy(word, r, sizeof word);
    mask_of(r, mask);
    for (int i = 0; i < WORDS; i += 2)
        h ^= mix((word[i] & mask[i]) + (uint64_t)i, word[i + 1] & mask[i + 1]);
    return h;
}

/* What touches other cores, or is no instruction, is in no period. */
static bool stands_alone(const Record *r)
{
    return (r->op & REC_TEXT) || r->op == NPU_CROSS_SET || r->op == NPU_CROSS_WAIT ||
           r->op == NPU_SYNC_ALL;
}

/* --- looking --- */

static void look_again(MemoCore *c)
{
    c->state = MEMO_LOOKS;
    c->period = c->matched = 0;
}

static bool goes_on(const MemoCore *c, uint64_t looks)
{
    return c->period && c->past[(c->seen - c->period) % PAST] == looks;
}

static void remember(MemoCore *c, const Record *r)
{
    uint64_t looks = looks_of(r), *mark = &c->mark[looks % MARKS];
    if (!goes_on(c, looks)) {
        uint64_t back = *mark ? c->seen + 1 - *mark : 0;
        look_again(c);
        c->period = back < PAST ? (uint32_t)back : 0;
    }
    c->matched += goes_on(c, looks);
    c->past[c->seen % PAST] = looks;
    *mark = ++c->seen;
}

/* --- trying --- */

static void keep_core(Memo *m, uint32_t core)
{
    MemoCore *c = &m->core[core];
    const CoreState *now = &m->sim->core[core];
    size_t bytes = now->buffers.len * sizeof(SimBuffer);
    heap_free(c->buffers);
    c->buffers = heap_alloc(bytes ? bytes : 1);
    if (bytes)
        memcpy(c->buffers, now->buffers.at, bytes);
    memcpy(&c->before, now, sizeof *now);
    c->reports = m->sim->reports;
    c->at = 0;
}

static bool core_is_same(Memo *m, uint32_t core)
{
    MemoCore *c = &m->core[core];
    const CoreState *now = &m->sim->core[core];
    c->before.index = now->index;
    return c->reports == m->sim->reports && memcmp(&c->before, now, sizeof *now) == 0 &&
           (now->buffers.len == 0 ||
            memcmp(c->buffers, now->buffers.at, now->buffers.len * sizeof(SimBuffer)) == 0);
}

static void begin_try(Memo *m, uint32_t core)
{
    MemoCore *c = &m->core[core];
    const Sim *sim = m->sim;
    for (uint32_t w = 0; w < sim->watchers.len; w++)
        if (!sim->watchers.at[w].repeat) {
            c->failures = MOST_FAILURES;
            c->patience = UINT64_MAX;
            return;
        }
    for (uint32_t w = 0; w < sim->watchers.len; w++)
        sim->watchers.at[w].repeat->begin(sim->watchers.at[w].context, core, c->period);
    if (c->cap < c->period) {
        drop_slots(c);
        c->slots = heap_alloc(c->period * sizeof *c->slots);
        c->cap = c->period;
    }
    keep_core(m, core);
    c->state = MEMO_TRIES;
}

static void lose_patience(MemoCore *c)
{
    c->failures += c->failures < MOST_FAILURES;
    c->patience = c->seen + ((uint64_t)PATIENCE << c->failures);
}

static void give_up(MemoCore *c)
{
    look_again(c);
    lose_patience(c);
}

/* Records of the first period are stored; those of the second must equal them, else nothing repeats. */
static bool keep_slot(Memo *m, uint32_t core, const Record *r)
{
    MemoCore *c = &m->core[core];
    MemoSlot *s = &c->slots[c->at];
    const SimTouched *t = sim_touched(m->sim, &m->sim->core[core], r);
    if (c->state == MEMO_TRIES_AGAIN && !agrees(r, &s->record, s->mask))
        return false;
    heap_free(s->access);
    *s = (MemoSlot){.record = *r, .n = t->n};
    mask_of(r, s->mask);
    s->access = t->n ? heap_alloc(t->n * sizeof *s->access) : NULL;
    for (uint32_t i = 0; i < t->n; i++) {
        s->access[i] = t->access[i];
        s->gm |= t->access[i].space == NPU_GM;
        *(t->access[i].write ? &s->written : &s->read) += sim_access_bytes(&t->access[i]);
    }
    return true;
}

static bool all_same(Memo *m, uint32_t core, bool again)
{
    bool same = core_is_same(m, core);
    for (uint32_t w = 0; same && w < m->sim->watchers.len; w++) {
        const SimWatcher *watcher = &m->sim->watchers.at[w];
        same = watcher->repeat->same(watcher->context, core, again);
    }
    return same;
}

static void end_period(Memo *m, uint32_t core)
{
    MemoCore *c = &m->core[core];
    bool again = c->state == MEMO_TRIES_AGAIN;
    if (!all_same(m, core, again)) {
        give_up(c);
    } else if (again) {
        c->state = MEMO_PASSES;
        c->at = 0;
        c->periods = 0;
    } else {
        keep_core(m, core);
        c->state = MEMO_TRIES_AGAIN;
    }
}

void memo_note(Memo *m, uint32_t core, const Record *r)
{
    MemoCore *c = &m->core[core];
    if (c->patience == UINT64_MAX)
        return;
    if (!c->past)
        c->past = heap_alloc(PAST * sizeof *c->past);
    if (stands_alone(r)) {
        look_again(c);
        return;
    }
    remember(c, r);
    if (c->state == MEMO_LOOKS) {
        if (c->matched >= RUN && c->matched >= c->period && c->seen >= c->patience)
            begin_try(m, core);
        return;
    }
    if (!keep_slot(m, core, r)) {
        give_up(c);
        return;
    }
    for (uint32_t w = 0; w < m->sim->watchers.len; w++)
        m->sim->watchers.at[w].repeat->seen(m->sim->watchers.at[w].context, core);
    if (++c->at == c->period)
        end_period(m, core);
}

/* --- passing over --- */

static bool pass(Memo *m, uint32_t core, const MemoSlot *slot, const Record *r)
{
    Sim *sim = m->sim;
    MemoCore *c = &m->core[core];
    sim->touched = (SimTouched){slot->access, slot->n, slot->gm ? NULL : r};
    if (slot->gm) {
        Step s = {.sim = sim, .core = &sim->core[core], .r = r, .core_index = core};
        if (!exec_dry_gm(&s))
            return false;
    }
    for (uint32_t w = 0; w < sim->watchers.len; w++) {
        const SimWatcher *watcher = &sim->watchers.at[w];
        if (slot->gm || !watcher->repeat->resume)
            watcher->repeat->skip(watcher->context, core, c->periods, c->at, r);
    }
    return true;
}

bool memo_skip(Memo *m, uint32_t core, const Record *r)
{
    MemoCore *c = &m->core[core];
    if (c->state != MEMO_PASSES)
        return false;
    const MemoSlot *slot = &c->slots[c->at];
    bool plain = !slot->gm && r->op != NPU_SET_REGISTER && r->op != NPU_GATHER;
    bool next = plain ? agrees_plainly(r, &slot->record) : agrees(r, &slot->record, slot->mask);
    if (!next || !pass(m, core, slot, r)) {
        memo_leave(m, core);
        return false;
    }
    m->passed++;
    if (++c->at == c->period) {
        c->at = 0;
        c->periods++;
    }
    return true;
}

uint64_t memo_passed(const Memo *m) { return m->passed; }

static void count_periods(Memo *m, const MemoCore *c)
{
    for (uint32_t i = 0; i < c->period; i++) {
        const MemoSlot *s = &c->slots[i];
        SimStat *stat = &m->sim->stat[s->record.op];
        stat->records += c->periods;
        stat->bytes_read += c->periods * s->read;
        stat->bytes_written += c->periods * s->written;
    }
}

/* The records of the unfinished period once more, for the state on chip only. */
static void repeat_begun(Memo *m, uint32_t core)
{
    MemoCore *c = &m->core[core];
    Sim *sim = m->sim;
    sim->again = true;
    for (uint32_t i = 0; i < c->at; i++) {
        const Record *r = &c->slots[i].record;
        Step s = {.sim = sim, .core = &sim->core[core], .r = r, .core_index = core};
        sim->touched.of = NULL;
        sim_execute(&s);
        for (uint32_t w = 0; w < sim->watchers.len; w++) {
            const SimWatcher *watcher = &sim->watchers.at[w];
            if (watcher->repeat->resume)
                watcher->call(watcher->context, sim, core, sim->core[core].index, r);
        }
    }
    sim->touched.of = NULL;
    sim->again = false;
}

void memo_leave(Memo *m, uint32_t core)
{
    MemoCore *c = &m->core[core];
    if (c->state != MEMO_PASSES)
        return;
    for (uint32_t w = 0; w < m->sim->watchers.len; w++) {
        const SimWatcher *watcher = &m->sim->watchers.at[w];
        if (watcher->repeat->resume)
            watcher->repeat->resume(watcher->context, core, c->periods);
    }
    count_periods(m, c);
    repeat_begun(m, core);
    if (c->periods * c->period >= WORTH)
        c->failures = 0;
    else
        lose_patience(c);
    look_again(c);
    c->seen += PAST; /* what came before was not remembered */
    c->patience += c->patience ? PAST : 0;
}

void memo_end(Memo *m, uint32_t core)
{
    MemoCore *c = &m->core[core];
    memo_leave(m, core);
    drop_core(c);
    c->state = MEMO_LOOKS;
    c->patience = UINT64_MAX;
}
