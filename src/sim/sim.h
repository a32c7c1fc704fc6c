/* The simulator of one kernel launch: records in, values, faults and statistics out.
 *
 *     Sim *sim = sim_open(&(SimConfig){.chip = chip, .kind = SIM_AIV, .blocks = 48});
 *     sim_gm_add(sim, &(SimRegion){.base = 0x100000000000, .bytes = n, .memory = x, ...});
 *     for every core in turn, until all have ended:
 *         SimState state = sim_feed(sim, core, records, n, &used);
 *             SIM_MORE     all eaten, feed on
 *             SIM_BLOCKED  waits for another core: feed the others, then go on at records + used
 *             SIM_ENDED    CORE_END was seen
 *             SIM_STOPPED  a fault or trap ended the core: what follows is ignored
 *         all that have not ended blocked, sim_can_run false for each: sim_hang
 *     sim_finish(sim);
 *     ... sim_fault(sim, i), sim_stat(sim, op) ...
 *     sim_close(sim);
 *
 * Values are computed in program order within a core. Records are hostile input: whatever they
 * hold, a fault is recorded or the record is executed, and nothing outside the simulated
 * memories is touched. Not thread-safe: one Sim belongs to one thread. */
#ifndef SIM_SIM_H
#define SIM_SIM_H

#include "base/buf.h"
#include "npu/npu.h"
#include "sim/record.h"

typedef struct Sim Sim;

/* Which cores a launch has: a block is one AIV, one AIC, or one AIC with one or two AIV. */
typedef enum SimKind { SIM_AIV, SIM_AIC, SIM_MIX_1_1, SIM_MIX_1_2 } SimKind;

typedef struct SimConfig {
    const NpuChip *chip;
    SimKind kind;
    uint32_t blocks;
    bool
        no_scheduler; /* declared for one kind of cores alone: hardware SyncAll has nobody who counts */
    /* Zeroed memory for what core processes may read: `name` is "core3.ub", "core3.view", ...
     * NULL: from the heap. Given back by `unmap` (NULL: left to the caller). */
    void *(*map)(void *context, const char *name, size_t bytes);
    void (*unmap)(void *context, void *memory, size_t bytes);
    void *context;
    bool keep_going; /* after a fault go on where that is possible, to find more */
    bool no_data;    /* records are checked and timed, but no value is computed: regions
                            need no memory, cores have none, outputs are only covered */
    bool littered;   /* what nobody wrote on chip holds other bytes than without this */
    /* With no_data, where some regions have memory all the same (indices): bytes of UB where no
     * value is known. Instructions whose sources are all known are executed. NULL: none are. */
    const void *image;
    bool no_memo;        /* with no_data: execute every record, also those that only repeat */
    uint32_t max_faults; /* distinct ones kept; 0: 200 */
    uint64_t nudge;      /* a seed: vary last bits within isa.def's accuracy; 0: do not */
} SimConfig;

typedef struct SimCore {
    uint32_t block, sub; /* sub: 0 or 1 among the AIV of a block */
    bool aic;
    void *memory[NPU_SPACE_COUNT]; /* NULL where the core has none */
    uint32_t bytes[NPU_SPACE_COUNT];
    RecordView *view;
} SimCore;

typedef enum SimRole { SIM_IN, SIM_OUT, SIM_INOUT, SIM_WORKSPACE, SIM_TILING } SimRole;

/* A region of GM. An element of an SIM_OUT or SIM_WORKSPACE region is uninitialised until written;
 * every other region starts initialised. */
typedef struct SimRegion {
    const char *name; /* copied */
    uint64_t base;    /* the address kernels use */
    size_t bytes;
    void *memory; /* host memory that holds it; with no_data it may be NULL */
    uint32_t dtype;
    uint32_t rank; /* 0: shape not known */
    uint64_t shape[8];
    SimRole role;
} SimRegion;

typedef enum SimState { SIM_MORE, SIM_BLOCKED, SIM_ENDED, SIM_STOPPED } SimState;

enum SimFaultCode {
#define FAULT(code, ...) SIM_FAULT_##code,
#include "sim/fault.def"
#undef FAULT
    SIM_FAULT_COUNT
};

/* A warning is reported and does not fail a kernel. */
typedef enum SimFaultKind {
    SIM_KIND_FAULT,
    SIM_KIND_LEAK,
    SIM_KIND_HANG,
    SIM_KIND_UNSUPPORTED,
    SIM_KIND_RACE,
    SIM_KIND_WARNING
} SimFaultKind;

typedef struct SimFaultRow {
    const char *code; /* "S001"; never reused */
    SimFaultKind kind;
    bool stops;         /* the core cannot go on after it */
    const char *title;  /* "out of bounds" */
    const char *device; /* what the device would show, where known; may be empty */
    const char *repair;
} SimFaultRow;

/* A range of bytes an access meant. */
typedef struct SimRange {
    uint32_t space; /* NpuSpace; NPU_NOWHERE: none */
    bool write;
    uint64_t from, to; /* first byte, one past the last */
} SimRange;

enum { SIM_BEFORE = 6 };
typedef struct SimFault {
    enum SimFaultCode code;
    uint32_t core; /* of the first occurrence */
    uint16_t op;
    const char *api;  /* the call's name */
    const char *file; /* where to change something; may be empty */
    uint32_t line;
    const char *seen_file; /* the instruction's own place */
    uint32_t seen_line;
    const char *message;
    const char *repair;     /* NULL: what the code's row says */
    const char *tensor;     /* of ranges in GM, which then count from its start; NULL: none */
    SimRange range[2];      /* of a race: the later and the earlier access */
    const char *other_file; /* of a race: where the earlier access was; else NULL */
    uint32_t other_line;
    bool inserted;  /* of a race: ordered by what the device compiler inserts; only under strict */
    bool tail;      /* begins inside its tensor in GM and ends outside */
    bool split;     /* lies between what two cores store: how the work is shared out is wrong */
    bool last_core; /* the last of several cores, and no other core has it: */
    bool other_cores;
    uint32_t
        made_line;   /* where the buffer that is overrun was made; 0: not known, or not overrun */
    uint64_t count;  /* occurrences of the same code at the same line */
    uint64_t record; /* index in the core's stream of the first one */
    /* Lines that the core was at before the one named, the newest first; 0: none. Of a tensor: where it was
     * taken from its queue. They tell from where a helper was called. */
    uint32_t before[SIM_BEFORE];
} SimFault;

typedef struct SimStat {
    uint64_t records, repeats, bytes_read, bytes_written;
} SimStat;

/* Sees every executed record, after its values are done; never changes anything. */
typedef void SimObserver(void *context, Sim *sim, uint32_t core, uint64_t index, const Record *r);

Sim *sim_open(const SimConfig *config);
void sim_close(Sim *sim);
/* False (nothing added): overlap with another region, size 0, address out of 48 bits. */
bool sim_gm_add(Sim *sim, const SimRegion *region);
void sim_observe(Sim *sim, SimObserver *observer, void *context);

uint32_t sim_core_count(const Sim *sim);
const SimCore *sim_core(Sim *sim, uint32_t core);
SimState sim_feed(Sim *sim, uint32_t index, const Record *records, size_t n, size_t *used);
/* For a core that ended itself: true, and it counts as stopped, when one of its records was at fault; the
 * kernel's side gives up where the device would not go on. */
bool sim_gave_up(Sim *sim, uint32_t core);
/* A blocked core whose wait is over; also true for one that is not blocked and has not ended. */
bool sim_can_run(const Sim *sim, uint32_t core);
/* Every core that has not ended waits: records one fault per core, saying for what. */
void sim_hang(Sim *sim);
/* What only shows at the end: leaks, unpaired flags, outputs never written. */
void sim_finish(Sim *sim);

uint32_t sim_fault_count(const Sim *sim);
const SimFault *sim_fault(const Sim *sim, uint32_t index);
/* Findings that had no room in that list (SimConfig.max_faults); warnings are left out first. */
uint64_t sim_faults_left_out(const Sim *sim);
/* Elements nobody wrote were read by the scalar unit, and that is all there is: the outputs may not
 * depend on them. Once that is known, a warning is enough (SIM_FAULT_READ_FOR_NOTHING). */
bool sim_reads_unwritten_only(const Sim *sim);
const SimFaultRow *sim_fault_row(enum SimFaultCode code);
/* How many records so far only repeated others and were not executed again. */
uint64_t sim_passed_over(const Sim *sim);
const SimStat *sim_stat(const Sim *sim, uint32_t op);
/* The kernel's printf and DumpTensor text so far. */
Str sim_printed(const Sim *sim);
/* Bytes of an output region that nobody wrote; *first the offset of the first. */
uint64_t sim_unwritten(const Sim *sim, uint32_t region, uint64_t *first);
/* How much of a region was read, every byte counted once; the regions in the order they were added.
 * False: there is none of this number. */
typedef struct SimReadOf {
    bool known; /* an input */
    uint64_t bytes, read;
} SimReadOf;
bool sim_read_of(const Sim *sim, uint32_t number, SimReadOf *of);
/* "kernel.cpp:41: error: ... [S003]" with the ranges, the device's behaviour, the repair. */
void sim_fault_text(const Sim *sim, const SimFault *fault, Buf *out);

#endif
