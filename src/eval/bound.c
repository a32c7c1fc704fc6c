/* The bound: what the chip could not do faster. In: shapes of the operands. Out: microseconds.
 *
 * What must be read, and what L2 cannot absorb of reads and writes, at peak bandwidth. The peak is
 * chip.def's and none of the constants of the cycle model, so that one can be held against the
 * other. */
#include "eval/eval_int.h"

static double bytes_of(const Shape *shape, DType dtype)
{
    double bytes = (double)dtype_bytes(dtype);
    for (int i = 0; i < shape->rank; i++)
        bytes *= (double)shape->dim[i];
    return bytes;
}

double eval_bound_us(const EvalRun *run, const EvalOperand *operands)
{
    const NpuChip *chip = run->config->chip;
    double read = 0, written = 0, l2 = (double)chip->l2_mib * 1024 * 1024;
    for (uint32_t i = 0; i < run->candidate->operand_count; i++) {
        const IrTensor *t = &run->program->tensors.at[i];
        double bytes = bytes_of(&operands[i].shape, t->dtype);
        read += t->role == IR_ROLE_OUT ? 0 : bytes;
        written += t->role == IR_ROLE_IN ? 0 : bytes;
    }
    double spilled = read + written - l2, most = read > spilled ? read : spilled;
    return chip->gm_tbps > 0 ? most / (chip->gm_tbps * 1e6) : 0;
}
