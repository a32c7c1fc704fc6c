/* Inside emit/sim: a launch, a core that runs the code of its kernels (sim_code.h), and who does
 * what.
 *
 *     SimCoreRun: slots, local tensors, queues, flags ─▶ records (sim_put.c, sim_call.c) */
#ifndef EMIT_SIM_INT_H
#define EMIT_SIM_INT_H

#include "emit/ascendc_int.h"
#include "emit/sim.h"
#include "emit/sim_code.h"

enum { SIM_MOST_NAMES = 64 };

struct EmitSim {
    Arena *arena;
    const AscProgram *p;
    const char *names[SIM_MOST_NAMES]; /* [0] unused */
    uint32_t name_count;
    uint32_t craft_file, text_file; /* of the names */
    uint8_t pipes[NPU_OP_COUNT];    /* that execute an operation */
    LineNotes lines;
    SimKernel *kernels;
    uint32_t most_slots, most_locals, most_tensors, most_buffers;
    EmitSimRun *run; /* kept for the next launch */
};

static inline uint32_t esim_file(const EmitSim *sim, LineAt at)
{
    return at.text ? sim->text_file : sim->craft_file;
}

/* ---- a launch ---- */

typedef struct SimPlaced {
    uint64_t base, bytes;
    const uint8_t *data; /* host memory of its bytes; NULL: arbitrary */
} SimPlaced;

/* One kernel of the path: where its tensors lie and what its members are. */
typedef struct SimStage {
    const SimKernel *kernel;
    uint64_t *base;    /* by GM tensor of the kernel */
    SimValue *members; /* beside kernel->k->members */
    int64_t cores;     /* of this launch; below 0: alone, all of them */
} SimStage;

/* ---- a core ---- */

enum { SIM_QUEUE_SLOTS = 16, SIM_WAITING = 32, SIM_EVENTS = 35, SIM_RETURNS = 16, SIM_LOG = 32 };

typedef struct SimSlot { /* one buffer of a queue */
    uint8_t state;       /* SLOT_* */
    int8_t free_event, full_event;
    uint8_t free_kind;
    uint32_t address, bytes;
} SimSlot;
enum { SLOT_FREE, SLOT_OCCUPIED, SLOT_ENQUED, SLOT_DEQUED };

typedef struct SimQueue {
    AscStorage storage;
    uint8_t space;                    /* NpuSpace */
    uint32_t id, address, bytes;      /* address, bytes: TBuf */
    uint8_t position, enque, release; /* enque, release: HardEvent */
    uint32_t count, cursor;
    SimSlot slot[SIM_QUEUE_SLOTS];
    uint8_t waiting[SIM_WAITING];
    uint32_t head, tail;
    int32_t used;
} SimQueue;

typedef struct SimTensor { /* a LocalTensor */
    uint32_t address, bytes;
    uint8_t space; /* NpuSpace */
    uint8_t slot;  /* of its queue */
    bool past;
} SimTensor;

/* What the scalar unit asks of memory or registers. */
typedef enum SimReadKind { SIM_READ_ELEMENT, SIM_READ_ACCUMULATED, SIM_READ_KEPT } SimReadKind;
typedef struct SimRead {
    SimReadKind kind;
    uint64_t address; /* as in records */
    uint32_t bytes;
} SimRead;

typedef enum SimCoreState {
    CORE_RUNS,
    CORE_READS,
    CORE_ENDED,
    CORE_GAVE_UP,
    CORE_TRAPPED
} SimCoreState;

typedef struct SimCoreRun {
    EmitSimRun *run;
    uint32_t core, stage; /* stage: launch of the path */
    bool aic;             /* a cube core */
    uint32_t number;      /* GetBlockIdx: among the cores of its kind */
    bool in_stage;
    const SimKernel *kernel;
    uint32_t pc;
    uint32_t returns[SIM_RETURNS], depth;
    SimValue *slots;
    SimTensor *locals;
    bool *bypass; /* by GM tensor */
    SimQueue *queues;
    uint32_t queue_count;
    SimCoreState state;
    /* TPipe and the headers' state */
    uint16_t events[SIM_EVENTS];
    uint32_t next_pipe, next_buffer, pipe_id;
    struct {
        uint8_t kind, dtype;
        bool on;
    } atomic;
    uint16_t name_ids[SIM_MOST_NAMES], name_count;
    uint32_t last_file, last_line; /* last_file: of the names */
    /* records not yet executed: out[out_at, out_len) */
    Record *out;
    uint32_t out_at, out_len, out_cap;
    /* a call that reads is run again from its start when the value is there */
    uint32_t skip, written; /* records of the call: written by the run before, by this one */
    Record left_out;
    SimRead wanted;
    uint64_t log[SIM_LOG];
    uint32_t log_len, log_at;
} SimCoreRun;

struct EmitSimRun {
    EmitSim *of;
    Arena arena; /* of this launch; dropped by the next */
    bool time_only, alive;
    uint64_t most_records; /* 0: no limit */
    uint64_t seed;
    EmitTiling tiling;
    const AscPath *path;
    SimStage *stages;
    SimPlaced *placed; /* tensors, tiling, workspace */
    uint32_t placed_count, tensor_count;
    const EmitSimTensor *tensors;
    uint64_t pattern;
    SimCoreRun *cores;
    uint32_t core_count, core_cap;
    uint64_t records;
};

/* HardEvent, numbered as AscendC's. */
enum SimEvent {
    EV_MTE2_MTE1 = 0,
    EV_MTE1_MTE2 = 1,
    EV_MTE1_M = 2,
    EV_M_MTE1 = 3,
    EV_MTE2_V = 4,
    EV_V_MTE2 = 5,
    EV_MTE3_V = 6,
    EV_V_MTE3 = 7,
    EV_M_FIX = 17,
    EV_FIX_M = 18,
    EV_MTE3_MTE2 = 19,
    EV_MTE2_MTE3 = 20,
    EV_S_V = 21,
    EV_V_S = 22,
    EV_S_MTE2 = 23,
    EV_MTE2_S = 24,
    EV_S_MTE3 = 25,
    EV_MTE3_S = 26,
    EV_FIX_MTE2 = 28,
};

/* Its number as the kernel counts cores. */
static inline uint32_t esim_block(const SimCoreRun *c, const IrKernel *k)
{
    return asc_is_beside(c->run->of->p, k) && !c->aic ? c->number / 2 : c->number;
}

/* sim_expr.c */
typedef struct SimBuilder SimBuilder;
SimExpr esim_build_expr(SimBuilder *b, IrExprId e);
void esim_run_steps(SimCoreRun *c, const SimStep *code, uint32_t from, uint32_t to);
static inline SimValue esim_value(SimCoreRun *c, SimExpr e)
{
    if (e.from != e.to)
        esim_run_steps(c, c->kernel->code.at, e.from, e.to);
    return c->slots[e.slot];
}
/* The value as an element of this type, its bits. */
uint64_t esim_bits_as(SimValue v, bool is_float, DType want);
SimValue esim_convert(SimValue v, bool is_float, DType want); /* for a variable */
SimValue esim_element_value(uint64_t bits, DType have, DType want);

/* sim_build.c */
struct SimBuilder {
    EmitSim *sim;
    Arena *arena;
    const AscProgram *p;
    const AscKernel *k;
    SimKernel *out;
    bool *written; /* by variable: some statement of the kernel changes it */
    uint32_t *function_at;
    FunctionScope *scopes;
    const LineKernel *lines;
    SimExpr *made; /* by expression: values that need no step of their own */
    bool hoisting; /* steps go to the setup */
    Diag *diag;
    bool failed;
};
bool esim_build_kernel(EmitSim *sim, uint32_t kernel, Diag *diag);
uint32_t esim_name(EmitSim *sim, const char *name); /* its number among the names */

/* Writes the records of instructions (sim_put.c). */
Record *esim_put(SimCoreRun *c, const SimIns *s, uint16_t op);
Record *esim_put_at(SimCoreRun *c, uint16_t op, uint32_t file, uint32_t line, uint32_t api);
void esim_put_flag(SimCoreRun *c, uint16_t op, uint8_t event, int32_t id, uint8_t flags,
                   uint32_t file, uint32_t line, uint32_t api);
void esim_put_barrier(SimCoreRun *c, const SimIns *s, uint8_t pipe);
/* Set and wait, as an API puts them in. */
void esim_put_pair(SimCoreRun *c, const SimIns *s, uint8_t event);
int32_t esim_free_event(const SimCoreRun *c, uint8_t event);
SimTensor esim_tensor_at(SimTensor t, uint64_t offset, uint32_t element);
RecordOperand esim_operand(SimTensor t, uint32_t block, uint32_t repeat);
SimTensor esim_local_ref(SimCoreRun *c, const SimRef *r);
uint64_t esim_global_ref(SimCoreRun *c, const SimRef *r);
void esim_end_record(SimCoreRun *c);
/* False: the value is not there yet; the call ends and is run again later. */
bool esim_read(SimCoreRun *c, SimRead read, uint64_t *bits);

/* TPipe and its queues (sim_queue.c). */
void esim_open_pipe(SimCoreRun *c);
void esim_close_pipe(SimCoreRun *c);
void esim_buffer_get(SimCoreRun *c, const SimIns *s);
bool esim_queue_ins(SimCoreRun *c, const SimIns *s); /* false: the core gave up */

/* Calls an instruction. False: it waits for a value (sim_call.c). */
bool esim_call(SimCoreRun *c, const SimIns *s);

/* sim_cube.c */
void esim_cube(SimCoreRun *c, const SimIns *s);

/* Starts a core. It makes records until so many wait, a value is wanted or the core has ended
 * (sim_run.c). */
void esim_core_start(SimCoreRun *c, EmitSimRun *run, uint32_t core);
void esim_core_fill(SimCoreRun *c, uint32_t want);
void esim_core_answer(SimCoreRun *c, uint64_t bits); /* to `wanted` */

#endif
