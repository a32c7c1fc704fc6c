/* What a task cannot do without, from its graph; npu_bound makes a time of it. */
#ifndef EVAL_BOUND_H
#define EVAL_BOUND_H

#include "graph/graph.h"
#include "npu/npu.h"

NpuWork eval_work(const Graph *graph);
/* The part of input 0 that the windows of a pool or convolution cover; 1: all of it. */
double bound_windows(const Graph *graph, const Node *node);

#endif
