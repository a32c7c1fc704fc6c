/* The words of the text form, shared by its printer and its reader. */
#ifndef IR_IR_INT_H
#define IR_IR_INT_H

#include "ir/ir.h"

extern const char *const ir_role_names[];
extern const char *const ir_memory_names[];
extern const char *const ir_layout_names[];
extern const char *const ir_stage_names[];
extern const char *const ir_atomic_names[];
extern const char *const ir_loop_names[];
extern const char *const ir_round_names[];
extern const char *const ir_core_names[];
extern const char *const ir_chip_names[];

#endif
