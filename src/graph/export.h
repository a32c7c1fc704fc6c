/* A task's values as files: what another program (PyTorch, a board) needs to run the same thing.
 *
 *     DIR/inputs/0.npy ...    arguments of forward, in order
 *     DIR/params/0.npy ...    parameters and buffers, in order of construction
 *     DIR/outputs/0.npy ...   reference outputs
 *     DIR/drawn/0.npy ...     random numbers that forward itself draws, in order
 *     DIR/values.json         {"name", "inputs": [{"file", "name", "kind", "dtype", "shape"}],
 *                              "params": [...], "drawn": [...], "outputs": [...], "notes": [...]};
 *                             tools/compare.py also wants
 *                             "knobs": [{"name", "line", "col", "value", "original"}]
 */
#ifndef GRAPH_EXPORT_H
#define GRAPH_EXPORT_H

#include "graph/inputs.h"

/* `outputs` may be NULL: then only inputs and parameters are written. `more` is put into
 * values.json as further members ("\"knobs\": [...]"); may be empty. */
bool graph_export(const char *dir, const Graph *graph, const TaskInputs *in, Tensor *const *outputs,
                  Str more, Diag *diag);

#endif
