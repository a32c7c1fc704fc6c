/* Inside the simulator: memories with their shadow, cores, queues, the helpers every instruction
 * uses. Only src/sim includes this. */
#ifndef SIM_SIM_INT_H
#define SIM_SIM_INT_H

#include "base/map.h"
#include "base/vec.h"
#include "sim/access.h"
#include "sim/cover.h"
#include "sim/memo.h"
#include "sim/sim.h"
#include <string.h>

/* Bytes of a memory and, one bit per byte, whether something defined was put there. */
typedef struct SimMemory {
    uint8_t *at;
    uint64_t *known; /* NULL: everything is defined */
    uint64_t bytes;
} SimMemory;

/* A place in the kernel's text; line 0: not known. */
typedef struct SimSpot {
    const char *file;
    uint32_t line;
} SimSpot;

enum { GM_SLACK = 512 }; /* allocators round tensors up: what lies there belongs to nobody */

typedef struct SimPart {
    uint64_t from, to; /* to 0: nothing */
} SimPart;

typedef struct SimGm {
    SimRegion region;
    uint32_t number; /* in the order they were added */
    SimMemory memory;
    Cover cover; /* what was read of an input; with no_data: what was written of an output */
    bool dirty;  /* undefined bytes were copied in at: */
    uint16_t op, file, api; /* names of `core` */
    uint32_t core, line;
    SimSpot origin; /* where they come from; line 0: not known */
    uint64_t from, to;
    uint16_t store_file; /* source file of the last store, an index into the names of store_core */
    uint32_t store_core, store_line;
    SimPart *part; /* of an output: from where to where each core stores; NULL: none does yet */
} SimGm;

enum { SIM_MAX_BUFFERS = 256, SIM_MAX_SLOTS = 64 };
enum SlotState { SLOT_FREE, SLOT_ALLOCATED, SLOT_QUEUED, SLOT_TAKEN };

/* A place that decides where in GM an access lies (REC_TEXT_PLACE). */
typedef struct SimPlace {
    SimSpot spot;
    RecordWindow window;
} SimPlace;

typedef struct SimSlot {
    uint8_t state;
    uint32_t line; /* of the last call on it */
    uint16_t file;
} SimSlot;

/* What InitBuffer made: a queue of up to SIM_MAX_SLOTS buffers, or a TBuf. */
typedef struct SimBuffer {
    uint32_t id, position, slots, depth;
    bool queue;
    uint64_t address; /* with its memory */
    uint32_t bytes;   /* of one slot */
    uint16_t file;    /* of InitBuffer */
    uint32_t line;
    uint16_t fifo[SIM_MAX_SLOTS];
    uint32_t queued;
    SimSlot slot[SIM_MAX_SLOTS];
} SimBuffer;

enum CoreWait { WAIT_NOTHING, WAIT_CROSS, WAIT_ALL };

typedef struct CoreState {
    SimCore pub;
    SimMemory memory[NPU_SPACE_COUNT];
    bool attached, ended, stopped;
    bool faulted;               /* one of its records was at fault, warnings apart */
    uint64_t index;             /* records executed */
    uint32_t lines[SIM_BEFORE]; /* of the last records, each once in a row, the newest first */
    VEC(const char *) names;
    VEC(SimPlace) places;    /* by id */
    struct History *history; /* NULL: none is kept */
    Buf text;                /* a text record being put together */
    uint8_t text_kind;
    uint16_t text_id;
    bool in_text;
    /* special registers */
    uint32_t atomic, atomic_dtype;
    bool saturate, deq_set, hf32, hf32_to_zero;
    uint64_t deq_scale, pad_value, load3d_pad, fmatrix[2], fmatrix_pads[2], compare[2];
    bool pad_set;
    uint64_t va[32];
    /* flags and queues */
    uint8_t flag[NPU_PIPE_COUNT][NPU_PIPE_COUNT][8];   /* sets not waited for, by id */
    uint8_t flag_hand[NPU_PIPE_COUNT][NPU_PIPE_COUNT]; /* bit id: written by hand */
    uint32_t set_twice;                                /* flags that stand at two or more */
    uint32_t flag_line[NPU_PIPE_COUNT][NPU_PIPE_COUNT];
    uint16_t flag_file[NPU_PIPE_COUNT][NPU_PIPE_COUNT];
    VEC(SimBuffer) buffers;
    uint64_t starts[NPU_SPACE_COUNT][4]; /* where tensors of L0 start, a bit for 512 bytes */
    struct {
        uint64_t from, to;
    } overrun[NPU_SPACE_COUNT]; /* bytes of L0 used past a tensor's end */
    uint32_t pipes_open, outstanding[NPU_POS_COUNT], buffer_count;
    uint64_t space_used[NPU_SPACE_COUNT];
    /* between cores */
    uint16_t cross_sent[3][16], cross_ready[16]; /* sent: by mode, not yet matched */
    uint64_t sync_calls[2];                      /* AIV only, everybody */
    bool arrived;                                /* at the SyncAll that blocks now */
    bool wrote_same; /* the last record stored bytes that were there already */
    bool some_same;  /* it did so at the bytes of UB that `unchanged` knows */
    SimMemory unchanged;
    enum CoreWait wait;
    uint32_t wait_mode, wait_flag, wait_line;
    uint16_t wait_file;
    uint64_t run_next, run_bytes; /* addresses of scalar reads of GM that follow each other */
} CoreState;

/* What the record being executed touches; found once for all who ask. */
typedef struct SimTouched {
    const SimAccess *access;
    uint32_t n;
    const Record *of; /* NULL: not found yet */
} SimTouched;

/* How an observer passes over records that repeat (memo.h). */
typedef struct SimRepeat {
    void (*begin)(void *context, uint32_t core, uint32_t period); /* two periods are looked at */
    void (*seen)(void *context, uint32_t core);                   /* one record of them */
    /* The first (then the second) has ended: did it move the state as the next will? */
    bool (*same)(void *context, uint32_t core, bool again);
    /* Instead of the observer; `slot` is the record's place in the period, `periods` have passed. */
    void (*skip)(void *context, uint32_t core, uint64_t periods, uint32_t slot, const Record *r);
    /* So many whole periods were passed over; then the observer sees the records of the unfinished
     * one again. NULL: skip did all of it, for every record and not only those that touch GM. */
    void (*resume)(void *context, uint32_t core, uint64_t periods);
} SimRepeat;

typedef struct SimWatcher {
    SimObserver *call;
    void *context;
    const SimRepeat *repeat; /* NULL: must see every record */
} SimWatcher;

struct Sim {
    Arena arena;
    SimConfig config;
    uint32_t cores, alive; /* alive: those that have not ended */
    CoreState *core;
    VEC(SimGm *) gm;         /* by base address */
    VEC(const char *) names; /* of all cores, each text once */
    Map name_numbers;
    SimGm *last_gm;
    VEC(SimFault) faults;
    uint64_t faults_dropped;
    SimStat stat[NPU_OP_COUNT];
    uint64_t reports; /* findings, repeated ones too */
    VEC(SimWatcher) watchers;
    SimTouched touched;
    SimAccess found[SIM_ACCESS_MOST]; /* what `touched` mostly points to */
    Memo *memo;                       /* NULL: every record is executed */
    bool again;                       /* executed before as far as GM goes */
    Buf printed;
    bool finished;
};

/* The record being executed, handed to every instruction. */
typedef struct Step {
    Sim *sim;
    CoreState *core;
    const Record *r;
    uint32_t core_index;
    bool failed; /* a stopping fault was reported */
} Step;

static inline const SimTouched *sim_touched(Sim *sim, const CoreState *core, const Record *r)
{
    if (sim->touched.of != r) {
        sim->touched = (SimTouched){sim->found, sim_accesses(r, core->va, sim->found), r};
    }
    return &sim->touched;
}

/* As sim_observe, for an observer that can pass over records that repeat. */
void sim_observe_repeats(Sim *sim, SimObserver *observer, const SimRepeat *repeat, void *context);
/* Executes one record, no observer; false: a stopping fault was reported. */
bool sim_execute(Step *s);

/* --- faults (fault.c) --- */
void sim_report(Step *s, enum SimFaultCode code, const char *format, ...) ATTR_PRINTF(3, 4);
void sim_report_range(Step *s, enum SimFaultCode code, SimRange range, const char *format, ...)
    ATTR_PRINTF(4, 5);
/* `fault` carries code, ranges, of a race the earlier access; where to change something, and the repair,
 * where these are not the instruction's place and the code's repair. */
void sim_report_fault(Step *s, SimFault fault, const char *format, ...) ATTR_PRINTF(3, 4);
/* True, and it is counted: this code was reported for the same instruction before (of a race: with the same
 * other one). Asked before anything is worked out for the message. */
bool sim_repeats_fault(Step *s, SimFault fault);
const char *sim_name(const CoreState *core, uint16_t id);

/* --- the last records of a core, and what they tell of a fault's cause (history.c, place.c) --- */
void history_open(CoreState *core);
void history_close(CoreState *core);
void history_add(CoreState *core, const Record *r);
uint32_t history_len(const CoreState *core);
/* 0 is the latest. */
const Record *history_at(const CoreState *core, uint32_t back);
/* Whether an access holds any byte of [from, to). */
bool history_touches(const SimAccess *a, uint64_t from, uint64_t to);
/* The latest instruction of this core that touched [address, +bytes). NULL: none that is remembered. */
const Record *history_last_use(const CoreState *core, uint64_t address, uint64_t bytes);

SimSpot spot_of(const CoreState *core, const Record *r);
/* InitBuffer of the buffer that an address lies in, or that ends where the address begins. */
const SimBuffer *spot_buffer(const CoreState *core, uint64_t address);
/* The buffer an operand was cut from, also where it begins behind the buffer's end. */
const SimBuffer *spot_operand_buffer(const CoreState *core, const RecordOperand *o);
/* An operand that is too short for a call: InitBuffer, where every other operand is long enough. */
SimSpot spot_short_operand(Step *s, int operand, bool write);
/* On-chip memory is full: the largest buffer in it. */
SimSpot spot_largest_buffer(const CoreState *core, uint32_t space);
/* A GM access at the wrong place: SetGlobalBuffer, where the access keeps to the window it declared; else
 * the place of the offset. */
SimSpot spot_gm(const Step *s, uint64_t from, uint64_t to);
/* The place of the last operator[] on the GM operand around `byte`; line 0: none. */
SimSpot spot_offset(const CoreState *core, const Record *r, uint64_t byte);
/* The window of GM that the record's operand around `byte` was declared with; bytes 0: not known. */
SimPlace spot_window(const CoreState *core, const Record *r, uint64_t byte);
/* Where undefined bytes of [address, +bytes) come from. */
SimSpot spot_undefined(const Step *s, uint64_t address, uint64_t bytes);
/* "x[1,0]", the element that holds this byte of a region. */
const char *sim_element_text(Sim *sim, const SimGm *gm, uint64_t offset);
/* "elements 4 to 7 of x, x[1,0] to x[1,3]", or "UB bytes 0 to 1023". */
const char *sim_range_text(Sim *sim, uint32_t space, uint64_t from, uint64_t to);

/* --- memories (memory.c) --- */
void memory_open(SimMemory *m, uint8_t *at, uint64_t bytes, bool known, Arena *arena);
bool memory_known(const SimMemory *m, uint64_t from, uint64_t bytes);
void memory_set_known(SimMemory *m, uint64_t from, uint64_t bytes, bool known);
/* Nothing is known of these bytes any more; with SimConfig.image they hold its bytes again. */
void sim_forget(const Sim *sim, SimMemory *m, uint64_t from, uint64_t bytes);
/* Definedness of one run follows that of another, byte by byte. */
void memory_copy_known(SimMemory *d, uint64_t to, const SimMemory *s, uint64_t from, uint64_t n);
uint64_t memory_count_unknown(const SimMemory *m, uint64_t *first);
/* The on-chip memory an operand lies in, when it is one of `spaces` (bit set) and this core has it;
 * reports and returns NULL otherwise. */
SimMemory *sim_local(Step *s, int operand, uint32_t spaces);
/* [from, from+bytes) of operand's memory: inside it, and inside the tensor. False: stop. */
bool sim_local_range(Step *s, int operand, const SimMemory *m, uint64_t from, uint64_t bytes,
                     bool write);
bool sim_aligned(Step *s, int operand, uint32_t unit);
/* For the observers: the record is about to store [to, +bytes) of UB; those that are the same as
 * `from` are noted. Opened once a record, for all it may store. */
void sim_unchanged_open(Step *s, uint64_t from, uint64_t to);
void sim_unchanged_note(Step *s, uint64_t to, const void *from, uint64_t bytes);
/* GM [address, +bytes): the region and offset; NULL after reporting. An access may reach past the
 * end into the allocator's padding: *inside then says how many bytes are real. */
SimGm *sim_gm_range(Step *s, uint64_t address, uint64_t bytes, bool write, uint64_t *offset,
                    uint64_t *inside);
SimGm *sim_gm_find(Sim *sim, uint64_t byte);
/* Undefined bytes arrive in GM [offset, +bytes) from an address on chip: remembered until the end. */
void sim_gm_taint(Step *s, SimGm *gm, uint64_t offset, uint64_t bytes, uint64_t source);
void sim_count(Step *s, uint64_t repeats, uint64_t read, uint64_t written);

/* --- instructions, by form; false: a stopping fault was reported --- */
bool exec_vector(Step *s);
bool exec_cast(Step *s);
bool exec_reduce(Step *s);
bool exec_compare(Step *s);
bool exec_select(Step *s);
bool exec_gather(Step *s);
bool exec_move(Step *s);
bool exec_sort(Step *s);
bool exec_copy(Step *s);
bool exec_copy_check(Step *s); /* parameters and alignment only, without data */
bool exec_load(Step *s);
bool exec_mmad(Step *s);
bool exec_fixpipe(Step *s);
bool exec_scalar_access(Step *s);
bool exec_register(Step *s);
bool exec_sync(Step *s);
bool exec_queue(Step *s);
/* What a record that was executed has read of inputs. */
void exec_note_reads(Step *s);
/* Without data: every access checked against its memory, outputs covered. */
bool exec_dry(Step *s);
/* Without data but for some regions: all it reads is known, and it writes to UB only. */
bool dry_can_compute(Step *s, enum NpuForm form);
/* Its accesses to GM only. False: one is not as it should be, and nothing was done. */
bool exec_dry_gm(Step *s);
/* Runs before exec_sync for what may have to wait for another core. */
bool sync_must_wait(Step *s);
bool sync_ready(const Sim *sim, uint32_t core);
const char *sync_wait_text(Arena *arena, const Sim *sim, uint32_t core);
void queue_finish(Step *s);

#endif
