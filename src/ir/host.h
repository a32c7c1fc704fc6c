/* Running a program's host function on concrete shapes: which kernels are launched, on how many
 * cores, with which scalars. This is what the emitted tiling function computes on the user's
 * machine; here the reference interpreter does, and stops at the launches. */
#ifndef IR_HOST_H
#define IR_HOST_H

#include "ir/ir.h"
#include "npu/npu.h"

typedef struct IrScalar {
    DType type; /* DT_I64, DT_F32, DT_BOOL */
    int64_t i;  /* integers and bool */
    float f;
} IrScalar;

/* The shape of one operand; of a list, the sizes of its tensors. */
typedef struct IrShape {
    bool absent; /* an optional operand that is not given */
    uint32_t rank;
    int64_t dim[IR_MAX_RANK];
    uint32_t list_len;
    const int64_t *list_sizes;
} IrShape;

typedef struct IrSetting {
    const char *name; /* of an attribute or a choice */
    double value;
} IrSetting;

typedef struct IrHostInput {
    const IrShape *operands; /* program->operand_count of them */
    const IrSetting *settings;
    uint32_t setting_count;
} IrHostInput;

typedef struct IrHostLaunch {
    IrStmtId stmt;
    int64_t cores;
    IrScalar *args; /* per argument; tensors leave theirs unset */
} IrHostLaunch;

typedef struct IrHostRun {
    VEC(IrHostLaunch) launches;
    struct HostState *state; /* what ir_host_eval asks */
} IrHostRun;

/* False with a diagnostic: shapes that do not fit the declaration or its ranges, a failed
 * assert (H001), arithmetic without a result (E1xx). All of `run` lives in the arena. */
bool ir_host_run(Arena *arena, const IrProgram *p, const NpuChip *chip, const IrHostInput *input,
                 IrHostRun *run, Diag *diag);
/* The value of a host expression; false when it has none. */
bool ir_host_eval(const IrHostRun *run, IrExprId e, IrScalar *value);

/* What sizes decide: a launch that happens, an `if` of a launched kernel taken or not, a loop that
 * turns or not. What depends on the core, on loops around it or on data is not among them. */
typedef struct IrTurn {
    IrStmtId stmt;
    bool taken;
} IrTurn;
typedef VEC(IrTurn) IrTurns;
/* Adds to `turns` what is not among them. The run serves no other question afterwards. */
void ir_host_turns(Arena *arena, IrHostRun *run, IrTurns *turns);
bool ir_turns_have(const IrTurns *turns, IrTurn turn);

#endif
