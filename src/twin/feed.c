/* Moves records from the cores' rings to the simulator. In: running zygotes. Out: how the feeding
 * ended. A core runs until it blocks, ends or has used up its turn; turns are counted in records,
 * so that the order of events depends on nothing but the streams and the starting order. As many
 * cores as the chip has take turns; the next one starts when one has ended. */
#include "twin/run_int.h"

#include <linux/futex.h>
#include <sched.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
    BATCH = 128,        /* records copied out of a ring at a time */
    QUIET_ROUNDS = 50,  /* in which every core that goes on polled in vain: nobody will answer */
    QUIET_TURNS = 2048, /* and as many turns at least: a loop may ask for one word often */
    WORDS = 1024,       /* places for the words that are polled, a power of two */
    WORDS_MOST = 512,   /* whoever looks at more does not wait for one of them */
    SPINS = 1500,       /* pauses before sleeping: a wake-up costs tens of microseconds */
    AHEAD = 2,          /* cores started before it is their turn */
    MOST_WAITING = 256, /* cores beyond the chip's that start while all others wait */
    NAP_NS = 20 * 1000 * 1000,
    MOST_NAMES = 1 << 16,
};

typedef struct CoreFeed {
    Record batch[BATCH];
    uint32_t batch_at, batch_len;
    uint32_t taken; /* records copied out of the ring */
    uint64_t fed;   /* how many of them were executed */
    uint16_t last_file;
    uint32_t last_line;
} CoreFeed;

struct Feeder {
    Arena *arena;
    LaunchMemory *memory;
    Sim *sim;
    CoreFeed **cores; /* made when a core starts */
    uint32_t core_count;
    const char **names; /* by id, as the cores announced them */
    unsigned spins;     /* pauses before the simulator sleeps */
    FeedResult result;
    Stream *stream;
    uint64_t turns, quiet; /* quiet: the last ones in which cores only looked at the same words */
    uint64_t word[WORDS];  /* addresses looked at since then; 0: none */
    uint32_t word_count;
    uint32_t together; /* cores that take turns at a time */
    SimTurns turn;
    bool *done;            /* by core */
    uint32_t started;      /* of the order */
    uint32_t left_next[2]; /* by role: where the next piece of what is left may stand */
};

unsigned twin_host_cores(void)
{
    cpu_set_t set;
    return sched_getaffinity(0, sizeof set, &set) == 0 ? (unsigned)CPU_COUNT(&set) : 1;
}

static void futex_wake(_Atomic uint32_t *word)
{
    syscall(SYS_futex, word, FUTEX_WAKE, 1, NULL, NULL, 0);
}

static void relax(void)
{
#if defined(__x86_64__)
    __builtin_ia32_pause();
#endif
}

static void nap(const _Atomic uint32_t *word, uint32_t seen)
{
    struct timespec most = {.tv_nsec = NAP_NS};
    syscall(SYS_futex, word, FUTEX_WAIT, seen, &most, NULL, 0);
}

uint32_t twin_feed_most(const LaunchMemory *memory, uint32_t cores)
{
    uint32_t most = memory->together > MOST_WAITING ? memory->together : MOST_WAITING;
    uint32_t usual = memory->together + AHEAD;
    most = cores <= usual ? usual : most;
    return cores < most ? cores : most;
}

static bool boxes_alive(const Feeder *f)
{
    return !atomic_load(&shared_launch(f->memory)->boxes_over);
}

/* --- starting -------------------------------------------------------------------------------- */

static void start_core(Feeder *f, uint32_t core)
{
    if (f->cores[core])
        return;
    f->cores[core] = arena_new(f->arena, CoreFeed);
    twin_memory_describe_core(f->memory, f->sim, core);
    int role = twin_memory_is_cube(f->memory, f->sim, core);
    _Atomic uint32_t *count = &shared_launch(f->memory)->start_count[role];
    atomic_fetch_add(count, 1);
    futex_wake(count);
}

/* The cores of a role start in the order the zygote was given, whoever takes its turn first. */
static void start_ahead(Feeder *f, const uint32_t *order, uint32_t from)
{
    for (; f->started < f->core_count && f->started < from + AHEAD; f->started++)
        start_core(f, order[f->started]);
}

/* --- taking records -------------------------------------------------------------------------- */

static void keep_name(Feeder *f, const Record *record)
{
    RecordText text;
    memcpy(&text, record, sizeof text);
    if (text.kind != REC_TEXT_NAME || text.length > REC_TEXT_BYTES || f->names[text.id])
        return;
    Str name = {text.text, text.length};
    if (str_utf8_valid(name))
        f->names[text.id] = str_dup(f->arena, name);
}

/* Bytes that a core has changed; where several have, the last one's stay. */
static void keep_left(Feeder *f, uint32_t core, const Record *record)
{
    RecordText text;
    RecordLeft left;
    memcpy(&text, record, sizeof text);
    if (text.kind != REC_TEXT_LEFT || text.length != sizeof left)
        return;
    memcpy(&left, text.text, sizeof left);
    if (f->result.each.len < CORE_LEFTS_MOST)
        vec_push(f->arena, &f->result.each, ((CoreLeft){core, left}));
    TwinLeft *all = &f->result.left;
    int role = twin_memory_is_cube(f->memory, f->sim, core);
    uint32_t i = f->left_next[role]; /* cores tell theirs in the order of addresses */
    if (i >= all->of[role].len || all->of[role].at[i].address != left.address)
        for (i = 0; i < all->of[role].len && all->of[role].at[i].address != left.address;)
            i++;
    f->left_next[role] = i + 1;
    if (i == REC_LEFT_MOST)
        return;
    if (i == all->of[role].len)
        vec_push(f->arena, &all->of[role], (RecordLeft){.address = left.address});
    RecordLeft *to = &all->of[role].at[i];
    to->changed = (to->changed | left.changed) & ~left.back;
    for (uint32_t k = 0; k < REC_LEFT_BYTES; k++)
        if (left.changed >> k & 1)
            to->byte[k] = left.byte[k];
}

static bool reads_gm(const Record *r)
{
    return (r->op == NPU_GLOBAL_GET || r->op == NPU_RAW_LOAD) &&
           rec_space(r->operand[1].address) == NPU_GM;
}

static void forget_words(Feeder *f)
{
    if (f->word_count)
        memset(f->word, 0, sizeof f->word);
    f->word_count = 0;
    f->quiet = 0;
}

/* Whether the address is one of those looked at since the last thing that was more than a look. */
static bool is_known_word(Feeder *f, uint64_t address)
{
    uint32_t at = (uint32_t)(address * 0x9E3779B97F4A7C15ull >> 40) % WORDS;
    for (; f->word[at]; at = (at + 1) % WORDS)
        if (f->word[at] == address)
            return true;
    if (f->word_count == WORDS_MOST)
        forget_words(f);
    else
        f->word_count++;
    f->word[at] = address;
    return false;
}

/* What a core that polls does while nothing changes: it asks for the same words again. Nobody waits
 * for a word of an input, which no core may write. */
static bool only_looks(Feeder *f, const Record *r)
{
    if (reads_gm(r))
        return !twin_memory_is_fixed(f->memory, rec_byte(r->operand[1].address)) &&
               is_known_word(f, r->operand[1].address);
    return r->op == NPU_SCALAR_WORK || r->op == NPU_CACHE_CLEAN;
}

static void note_look(Feeder *f, const Record *r)
{
    if (only_looks(f, r))
        return;
    if (reads_gm(r))
        f->quiet = 0;
    else
        forget_words(f);
}

/* Notes names; returns how many of the batch may run before its turn is over. */
static uint32_t look_over(Feeder *f, uint32_t core, int64_t *left)
{
    CoreFeed *c = f->cores[core];
    uint32_t ready = sim_turn_ready(c->batch + c->batch_at, c->batch_len - c->batch_at, left);
    for (uint32_t i = c->batch_at; i < c->batch_at + ready; i++) {
        if (f->word_count || f->quiet || reads_gm(&c->batch[i]))
            note_look(f, &c->batch[i]);
        if (c->batch[i].op & REC_TEXT) {
            keep_name(f, &c->batch[i]);
            keep_left(f, core, &c->batch[i]);
        }
    }
    return ready;
}

static void remember_place(CoreFeed *c, uint32_t used)
{
    for (uint32_t i = c->batch_at + used; i > c->batch_at; i--) {
        const Record *r = &c->batch[i - 1];
        if (!(r->op & REC_TEXT) && r->line) {
            c->last_file = r->file;
            c->last_line = r->line;
            return;
        }
    }
}

/* Copies what is there; nothing after the copy is looked at again. False: the counter lies. */
static bool take_batch(CoreFeed *c, const ShareRing *ring)
{
    uint32_t there = atomic_load(&ring->published) - c->taken;
    if (there > SHARE_RING_RECORDS)
        return false;
    uint32_t at = c->taken % SHARE_RING_RECORDS, count = there < BATCH ? there : BATCH;
    if (count > SHARE_RING_RECORDS - at)
        count = SHARE_RING_RECORDS - at;
    memcpy(c->batch, &ring->records[at], count * sizeof(Record));
    c->taken += count;
    c->batch_at = 0;
    c->batch_len = count;
    return true;
}

typedef enum TakeState { TAKE_SOME, TAKE_ENDED, TAKE_FORGED, TAKE_BOX_ENDED } TakeState;

/* Waits for records of a core. */
static TakeState wait_for_batch(Feeder *f, uint32_t core)
{
    CoreFeed *c = f->cores[core];
    ShareRing *ring = shared_ring(f->memory, core);
    ShareCore *share = shared_core(f->memory, core);
    for (unsigned spins = 0;; spins++) {
        uint32_t seen = atomic_load(&ring->event);
        bool ended = atomic_load(&ring->ended);
        if (!take_batch(c, ring))
            return TAKE_FORGED;
        if (c->batch_len)
            return TAKE_SOME;
        if (ended)
            return TAKE_ENDED;
        if (spins < f->spins) {
            relax();
            continue;
        }
        atomic_store(&share->tool_sleeps, 1);
        if (atomic_load(&ring->event) == seen)
            nap(&ring->event, seen);
        atomic_store(&share->tool_sleeps, 0);
        if (!boxes_alive(f))
            return TAKE_BOX_ENDED;
    }
}

static void move_executed(Feeder *f, uint32_t core, uint32_t count)
{
    ShareCore *share = shared_core(f->memory, core);
    ShareRing *ring = shared_ring(f->memory, core);
    uint32_t executed = atomic_fetch_add(&share->executed, count) + count;
    uint32_t wake = atomic_load(&ring->core_sleeps);
    if (wake && atomic_load(&ring->published) - executed < wake)
        futex_wake(&share->executed);
}

/* The core's process may leave, and its ring's pages go back. */
static void finish_core(Feeder *f, uint32_t core, bool stopped)
{
    ShareCore *share = shared_core(f->memory, core);
    f->done[core] = true;
    if (stopped) {
        atomic_store(&share->stopped, 1);
        futex_wake(&share->executed);
    }
}

/* --- turns ----------------------------------------------------------------------------------- */

typedef enum Turn { TURN_GOES_ON, TURN_OVER, TURN_FAILED } Turn;

static Turn fail_turn(Feeder *f, uint32_t core, FeedEnd end)
{
    f->result.end = end;
    f->result.core = core;
    return TURN_FAILED;
}

/* Instead of the simulator, where the records are only held against the other run. */
static SimState compare_batch(Feeder *f, uint32_t core, uint32_t ready, size_t *used)
{
    const Record *records = f->cores[core]->batch + f->cores[core]->batch_at;
    bool ends = false;
    for (*used = 0; *used < ready && !ends; ++*used)
        ends = records[*used].op == NPU_CORE_END;
    return ends ? SIM_ENDED : SIM_MORE;
}

/* Notes what was used, or holds it against the other run. */
static bool note_used(Feeder *f, uint32_t core, size_t used, SimState state)
{
    const CoreFeed *c = f->cores[core];
    return !f->stream || (stream_note(f->stream, core, c->batch + c->batch_at, used) &&
                          (state != SIM_ENDED || stream_end(f->stream, core)));
}

static Turn feed_batch(Feeder *f, uint32_t core, int64_t *left)
{
    CoreFeed *c = f->cores[core];
    uint32_t ready = look_over(f, core, left);
    size_t used = 0;
    if (ready == 0)
        return TURN_OVER;
    bool compares = f->stream && f->stream->compare && !f->memory->some_data;
    SimState state = compares ? compare_batch(f, core, ready, &used)
                              : sim_feed(f->sim, core, c->batch + c->batch_at, ready, &used);
    if (used > ready)
        used = ready;
    if (!note_used(f, core, used, state))
        state = SIM_STOPPED;
    remember_place(c, (uint32_t)used);
    c->batch_at += (uint32_t)used;
    f->result.records += used;
    c->fed += used;
    move_executed(f, core, (uint32_t)used);
    if (f->memory->sample.blocks && c->fed >= f->memory->sample.records && state == SIM_MORE)
        state = SIM_STOPPED;
    if (state == SIM_ENDED || state == SIM_STOPPED) {
        finish_core(f, core, state == SIM_STOPPED);
        return f->stream && f->stream->differs ? fail_turn(f, core, FEED_DIFFERS) : TURN_OVER;
    }
    if (state == SIM_BLOCKED || *left <= 0)
        return TURN_OVER;
    return TURN_GOES_ON;
}

/* The headers end a core after a record that cannot be gone on from (a queue without a free buffer). */
static bool gave_up(Feeder *f, uint32_t core)
{
    int status = shared_ring(f->memory, core)->wait_status;
    return WIFEXITED(status) && WEXITSTATUS(status) == SHARE_EXIT_TRAP && sim_gave_up(f->sim, core);
}

static Turn run_turn(Feeder *f, uint32_t core)
{
    CoreFeed *c = f->cores[core];
    int64_t left = SIM_TURN;
    Turn turn = TURN_GOES_ON;
    while (turn == TURN_GOES_ON) {
        if (c->batch_at == c->batch_len) {
            switch (wait_for_batch(f, core)) {
            case TAKE_SOME: break;
            case TAKE_ENDED:
                if (!gave_up(f, core))
                    return fail_turn(f, core, FEED_DEAD_CORE);
                finish_core(f, core, true);
                return TURN_OVER;
            case TAKE_FORGED: return fail_turn(f, core, FEED_FORGED);
            case TAKE_BOX_ENDED: return fail_turn(f, core, FEED_DEAD_BOX);
            }
        }
        turn = feed_batch(f, core, &left);
    }
    if (++f->turns % 1024 == 0 && !boxes_alive(f))
        return fail_turn(f, core, FEED_DEAD_BOX);
    if (++f->quiet > QUIET_ROUNDS * (uint64_t)f->core_count && f->quiet > QUIET_TURNS)
        return fail_turn(f, core, FEED_POLLS);
    return turn;
}

static Turn take_turn(Feeder *f, uint32_t core)
{
    atomic_store(&shared_core(f->memory, core)->turn, 1);
    Turn turn = run_turn(f, core);
    atomic_store(&shared_core(f->memory, core)->turn, 0);
    return turn;
}

/* One turn for each of them that can go on. False: nothing moved or the run is over. */
static bool round_of_turns(Feeder *f, const uint32_t *order, uint32_t most, bool *all_done)
{
    bool moved = false;
    uint32_t live = sim_turns_round(&f->turn, order, f->core_count, most, f->done);
    *all_done = live == 0;
    for (uint32_t k = 0; k < live; k++) {
        uint32_t i = f->turn.live[k];
        if (!sim_can_run(f->sim, order[i]))
            continue;
        start_ahead(f, order, i);
        moved = true;
        if (take_turn(f, order[i]) == TURN_FAILED)
            return false;
    }
    return moved;
}

/* Starting order over both roles: the AIC of a block before its AIVs, blocks as the seed has it. */
static uint32_t *merged_order(Arena *arena, const LaunchMemory *memory)
{
    const ShareLaunch *head = shared_launch(memory);
    uint32_t count = head->order_count[0] + head->order_count[1], at = 0, next[2] = {0, 0};
    uint32_t *order = arena_array(arena, uint32_t, count + 1);
    while (at < count) {
        for (int role = 1; role >= 0; role--) {
            const uint32_t *of = (const uint32_t *)(memory->launch.at + head->order_at[role]);
            uint32_t others = head->order_count[1 - role], mine = head->order_count[role];
            uint32_t share = role == 0 && others ? (mine + others - 1) / others : 1;
            for (uint32_t k = 0; k < share && next[role] < mine; k++)
                order[at++] = of[next[role]++];
        }
    }
    return order;
}

static void tell_place(Feeder *f)
{
    const CoreFeed *c = f->core_count ? f->cores[f->result.core] : NULL;
    const char *name = c ? f->names[c->last_file] : NULL;
    f->result.file = name ? name : "";
    f->result.line = name ? c->last_line : 0;
    if (f->result.end != FEED_DIFFERS)
        return;
    const Stream *s = f->stream;
    f->result.file = f->names[s->file] ? f->names[s->file] : f->result.file;
    f->result.line = s->line ? s->line : f->result.line;
    f->result.read_file = f->names[s->read_file] ? f->names[s->read_file] : "";
    f->result.read_line = s->read_line;
}

FeedResult twin_feed_all(Arena *arena, LaunchMemory *memory, Sim *sim, Stream *stream)
{
    Feeder f = {.arena = arena,
                .memory = memory,
                .sim = sim,
                .stream = stream,
                .core_count = shared_launch(memory)->order_count[0] +
                              shared_launch(memory)->order_count[1],
                .spins = twin_host_cores() > 1 ? SPINS : 0,
                .together = memory->together};
    for (int role = 0; memory->left && role < 2; role++)
        for (uint32_t i = 0; i < memory->left->of[role].len; i++)
            vec_push(arena, &f.result.left.of[role], memory->left->of[role].at[i]);
    f.cores = arena_array(arena, CoreFeed *, sim_core_count(sim) + 1);
    f.names = arena_array(arena, const char *, MOST_NAMES);
    f.turn.live = arena_array(arena, uint32_t, f.core_count + 1);
    f.done = arena_array(arena, bool, sim_core_count(sim) + 1);
    const uint32_t *order = merged_order(arena, memory);
    f.result.end = FEED_DONE;
    bool all_done = f.core_count == 0;
    while (round_of_turns(&f, order, f.together, &all_done) ||
           (f.result.end == FEED_DONE && !all_done &&
            round_of_turns(&f, order, twin_feed_most(memory, f.core_count), &all_done)))
        ;
    if (f.result.end == FEED_DONE && !all_done)
        f.result.end = FEED_HANG;
    tell_place(&f);
    return f.result;
}
