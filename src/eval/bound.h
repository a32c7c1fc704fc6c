/* What a task cannot do without, from its graph; npu_bound makes a time of it. */
#ifndef EVAL_BOUND_H
#define EVAL_BOUND_H

#include "graph/graph.h"
#include "npu/npu.h"

NpuWork eval_work(const Graph *graph);

#endif
