/* What one kernel for each operator would need at least: every operand read and written once at the
 * chip's peak bandwidth, and a launch each. Views cost nothing. Predicted, and information only. */
#ifndef LOOP_UNFUSED_H
#define LOOP_UNFUSED_H

#include "graph/graph.h"
#include "npu/npu.h"

double time_operator_us(const Graph *graph, const Node *node, const NpuChip *chip); /* 0: a view */
double time_unfused_us(const Graph *graph, const NpuChip *chip); /* NaN: no operators */

#endif
