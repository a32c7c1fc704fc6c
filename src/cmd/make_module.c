/* The operator as a module of PyTorch. In: the task and the plan. Out: a Python text whose class takes
 * the place of the task's model: the same arguments of forward, the same parameters. */
#include "cmd/make.h"

#include <ctype.h>
#include <string.h>

static bool is_identifier(const char *name)
{
    bool is = name && (isalpha((unsigned char)name[0]) || name[0] == '_');
    for (const char *c = name; is && *c; c++)
        is = isalnum((unsigned char)*c) || *c == '_';
    return is;
}

static bool is_among(ValueId value, const ValueId *ids, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        if (ids[i] == value)
            return true;
    return false;
}

/* forward(x, g): arguments that are tensors, under their own names. */
static bool put_parameters(const Graph *graph, Buf *out)
{
    for (uint32_t i = 0; i < graph->inputs.len; i++) {
        const char *name = graph_value(graph, graph->inputs.at[i])->name;
        if (!is_identifier(name))
            return false;
        buf_printf(out, ", %s", name);
    }
    return true;
}

static bool put_arguments(const Graph *graph, const Plan *plan, Buf *out)
{
    const char *between = "";
    for (uint32_t i = 0; i < plan->operands.len; i++) {
        const PlanOperand *o = &plan->operands.at[i];
        const char *name = graph_value(graph, o->value)->name;
        if (o->output)
            continue;
        if (is_among(o->value, graph->inputs.at, graph->inputs.len))
            buf_printf(out, "%s%s", between, name);
        else if (name && is_among(o->value, graph->params.at, graph->params.len))
            buf_printf(out, "%sattrgetter(\"%s\")(self.model)", between, name);
        else
            return false;
        between = ", ";
    }
    return true;
}

const char *make_module(Arena *arena, const MakeModule *m)
{
    Buf out = {0}, parameters = {0}, arguments = {0};
    bool ok = put_parameters(m->graph, &parameters) && put_arguments(m->graph, m->plan, &arguments);
    buf_printf(&out,
               "# Written by acraft from %s. The operator in the place of the file's model:\n"
               "#\n"
               "#     net.block = %s(net.block)      # an instance of the file's class\n"
               "#\n"
               "# Arguments of forward, parameters and results are the model's own; state_dict has "
               "them under \"model.\".\n"
               "from operator import attrgetter\n"
               "\nimport torch\nimport torch_npu\nimport acraft_%s\n\n\n"
               "class %s(torch.nn.Module):\n"
               "    def __init__(self, model):\n"
               "        super().__init__()\n"
               "        self.model = model\n\n"
               "    def forward(self%s):\n"
               "        return torch.ops.acraft_%s.%s(%s)\n",
               m->file, m->type, m->name, m->type, parameters.len ? parameters.at : "", m->name,
               m->name, arguments.len ? arguments.at : "");
    const char *text = ok ? buf_take(&out, arena) : NULL;
    buf_free(&out);
    buf_free(&parameters);
    buf_free(&arguments);
    return text;
}
