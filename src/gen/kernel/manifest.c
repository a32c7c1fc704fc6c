/* What whoever calls a launcher has to know: operands as JSON, and how a Python module gets them. */
#include "gen/kernel/kernel.h"

void kernel_manifest(const KernelTask *task, const Graph *graph, const char *name, Buf *out)
{
    buf_printf(out, "{\"name\": \"%s\", \"workspace\": %lld, \"bytes\": %lld, \"operands\": [",
               name, (long long)task->workspace, (long long)task->bytes);
    for (uint32_t i = 0; i < task->operands.len; i++) {
        const KernelOperand *o = &task->operands.at[i];
        const Value *v = graph_value(graph, o->value);
        uint32_t at = 0;
        while (at < graph->inputs.len && graph->inputs.at[at] != o->value)
            at++;
        buf_printf(out, "%s\n  {\"name\": \"%s\", \"kind\": \"%s\", ", i ? "," : "", o->name,
                   o->output                ? "output"
                   : v->kind == VALUE_INPUT ? "input"
                                            : "parameter");
        if (!o->output && v->kind == VALUE_INPUT)
            buf_printf(out, "\"input\": %u, ", at);
        buf_puts(out, "\"of\": ");
        buf_json_str(out, str_from(v->name ? v->name : ""));
        buf_printf(out, ", \"dtype\": \"%s\", \"shape\": [", dtype_name(o->dtype));
        for (int d = 0; d < v->shape.rank; d++)
            buf_printf(out, "%s%lld", d ? ", " : "", (long long)v->shape.dim[d]);
        buf_puts(out, "]}");
    }
}

void kernel_python_operand(const Graph *graph, ValueId value, Buf *out)
{
    const Value *v = graph_value(graph, value);
    if (v->kind == VALUE_INPUT) {
        uint32_t at = 0;
        while (at < graph->inputs.len && graph->inputs.at[at] != value)
            at++;
        buf_printf(out, "tensors[%u]", at);
    } else {
        buf_printf(out, "attribute(self, \"%s\")", v->name ? v->name : "");
    }
}
