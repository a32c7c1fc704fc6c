/* Records for the simulator straight from the lowered program: no text, no C++ compiler, no
 * processes.
 *
 *     EmitSim *s = emit_sim_open(&arena, &(EmitInput){.file = "softmax.craft", ...}, &diag);   once
 *     for every shape and choice:
 *         EmitSimRun *run = emit_sim_start(s, &launch, &diag);     the host function runs here
 *         Sim *sim = emit_sim_simulator(run, config);              with the launch's GM regions
 *         end = emit_sim_feed(run, sim, NULL, NULL);               cores take turns as on the twin
 *         ... sim_finish, the observers' reports ...
 *         sim_close(sim); emit_sim_stop(run);
 *     emit_sim_close(s);
 *
 * The kernels are compiled once into a compact code (sim_int.h): expressions over slots, one
 * instruction per AscendC call, jumps for loops. Each core interprets it and appends the records
 * that the twin's headers would have written for the emitted text (emit_kernel_text with
 * `lines`): the same instructions, operands, masks, scalars, queue bookkeeping, names and Craft
 * lines, byte for byte. Nothing is allocated per record.
 *
 * With values (launch.tensors have data) scalar reads wait until the simulator has executed what
 * came before, as on the twin. Without, they give the twin's arbitrary bytes, drawn from the
 * seed. Nothing here looks whether a program depends on them: ask eval_is_steady first, or go
 * through the twin.
 *
 * Refused at emit_sim_open (the twin has them): tensor lists. A division by zero ends a run with
 * EMIT_SIM_TRAP: only the twin goes on after one. What counts as a verdict still goes through
 * the text. */
#ifndef EMIT_SIM_H
#define EMIT_SIM_H

#include "emit/emit.h"
#include "emit/tiling.h"
#include "sim/sim.h"

typedef struct EmitSim EmitSim;
typedef struct EmitSimRun EmitSimRun;

/* One operand of the host function. */
typedef struct EmitSimTensor {
    const char *name;
    DType dtype;
    SimRole role; /* IN, OUT or INOUT */
    uint64_t bytes;
    /* A run with values needs it for every operand. Without values: NULL, or an input's values. */
    void *data;
} EmitSimTensor;

typedef struct EmitSimLaunch {
    IrHostInput host;             /* shapes and choices */
    const EmitSimTensor *tensors; /* one per operand */
    uint32_t tensor_count;
    bool time_only;        /* without values */
    uint64_t most_records; /* it ends as if it hung after so many; 0: no limit */
    uint64_t seed; /* of arbitrary values, and of the order in which cores start; 0: as numbered */
} EmitSimLaunch;

typedef enum EmitSimEnd {
    EMIT_SIM_DONE,
    EMIT_SIM_HANG, /* every core that goes on waits for another */
    EMIT_SIM_TRAP, /* an integer division by zero, or a loop that turns long without a record */
} EmitSimEnd;

/* One variant. NULL: `diag` says what is not supported. */
EmitSim *emit_sim_open(Arena *arena, const EmitInput *in, Diag *diag);
void emit_sim_close(EmitSim *sim);

/* Runs the host function; NULL: it refuses the shapes, `diag` says why. One run of an EmitSim at
 * a time; its memory is used again by the next. */
EmitSimRun *emit_sim_start(EmitSim *sim, const EmitSimLaunch *launch, Diag *diag);
void emit_sim_stop(EmitSimRun *run);
const EmitTiling *emit_sim_tiling(const EmitSimRun *run);
/* A simulator with the regions of the launch. config: chip, kind, blocks, no_data and memory are
 * filled in here, the rest is the caller's. */
Sim *emit_sim_simulator(EmitSimRun *run, SimConfig config);
/* Every core to its end. `used` (NULL: nobody) sees each core's records as they are executed. */
typedef void EmitSimUsed(void *context, uint32_t core, const Record *records, size_t n);
EmitSimEnd emit_sim_feed(EmitSimRun *run, Sim *sim, EmitSimUsed *used, void *context);
uint64_t emit_sim_records(const EmitSimRun *run); /* executed so far */

/* All of that for one launch without values: what the cycle model says of it, or its time alone. False: the host function refuses
 * the shapes, and `diag` says why; or there is more to say than a time (a fault, a hang), which only
 * the text can tell, and `diag` says that. */
struct CycleReport;
bool emit_sim_report(EmitSim *sim, const EmitSimLaunch *launch, struct CycleReport *report,
                     uint64_t *records, Diag *diag); /* records: NULL, or how many were executed */
/* What one launch of the path took, from the end of the one before. */
typedef struct EmitSimPart {
    uint32_t kernel; /* of the program */
    double us;
    uint32_t cores;            /* that did something */
    double busy[NPU_PIPE_ALL]; /* per pipe, share of that time, of the core that used it most */
} EmitSimPart;
/* All launches in order; `workspace`: bytes that they hold on to. False as above. */
bool emit_sim_parts(EmitSim *sim, const EmitSimLaunch *launch, Arena *arena, EmitSimPart **parts,
                    uint32_t *count, uint64_t *workspace, Diag *diag);
bool emit_sim_us(EmitSim *sim, const EmitSimLaunch *launch, double *us, Diag *diag);

#endif
