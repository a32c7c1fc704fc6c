/* What one instruction costs its pipe; inside src/sim only. */
#ifndef SIM_CYCLE_COST_H
#define SIM_CYCLE_COST_H

#include "npu/npu.h"
#include "sim/access.h"

typedef struct InstructionCost {
    double head;     /* before the first result, only when the pipe stood idle */
    double work;     /* cycles the pipe is busy */
    double tail;     /* from there until the result is there */
    double conflict; /* of work, lost to bank conflicts */
    double small;    /* of work, because it moves too little to fill the time it takes to start */
    uint64_t bytes;  /* of GM */
} InstructionCost;

/* A vector instruction: repeats, bank conflicts from its addresses. */
InstructionCost cost_vector(const Record *r);
/* The matrix unit and its loads. `hf32`: products of f32 round their factors, and take half the time. */
InstructionCost cost_cube(const Record *r, const NpuChip *chip, const SimAccess *access, uint32_t n,
                          bool hf32);
static inline double cost_constant(enum NpuConstant which) { return npu_constants[which].value; }

#endif
