/* The operands of a task's op definition, as text and as JSON. */
#include "cmd/task.h"

static const char *const roles[] = {"in", "opt", "list", "out", "outs", "mut", "attr"};
static const char *const attrs[] = {"bool", "int", "float", "text", "ints", "floats"};

static bool is_float(const TorchOperand *o)
{
    return o->attr == OPATTR_FLOAT || o->attr == OPATTR_FLOATS;
}

static void print_numbers(const TorchOperand *o, const char *between, Buf *out)
{
    for (uint32_t i = 0; i < o->count; i++) {
        buf_puts(out, i ? between : "");
        if (is_float(o))
            buf_json_double(out, o->floats[i]);
        else
            buf_printf(out, "%lld", (long long)o->ints[i]);
    }
}

static const ValueId *tensors_of(const TorchTask *task, const TorchOperand *o)
{
    bool result = o->role == OPERAND_OUT || o->role == OPERAND_OUTS || o->role == OPERAND_MUT;
    return (result ? task->graph->outputs.at : task->graph->inputs.at) + o->first;
}

void task_operands_text(const TorchTask *task, Buf *out)
{
    for (uint32_t i = 0; i < task->operands.len; i++) {
        const TorchOperand *o = &task->operands.at[i];
        buf_printf(out, "%-8s %-4s %s", i ? "" : "operands", roles[o->role], o->name);
        if (o->role == OPERAND_ATTR) {
            buf_printf(out, " %s ", attrs[o->attr]);
            if (o->attr == OPATTR_TEXT)
                buf_puts(out, o->count ? o->text : "");
            else if (o->attr == OPATTR_BOOL && o->count)
                buf_puts(out, o->ints[0] ? "True" : "False");
            else
                print_numbers(o, " ", out);
        }
        for (uint32_t k = 0; o->role != OPERAND_ATTR && k < o->count; k++) {
            buf_char(out, ' ');
            task_print_type(graph_value(task->graph, tensors_of(task, o)[k]), out);
        }
        buf_puts(out, o->count ? "\n" : " none\n");
    }
}

static void json_attr(const TorchOperand *o, Buf *out)
{
    bool list = o->attr == OPATTR_INTS || o->attr == OPATTR_FLOATS;
    buf_printf(out, "\"type\": \"%s\", \"value\": ", attrs[o->attr]);
    if (!o->count && !list)
        buf_puts(out, "null");
    else if (o->attr == OPATTR_TEXT)
        buf_json_str(out, str_from(o->text));
    else if (o->attr == OPATTR_BOOL)
        buf_puts(out, o->ints[0] ? "true" : "false");
    else if (!list)
        print_numbers(o, "", out);
    else {
        buf_char(out, '[');
        print_numbers(o, ", ", out);
        buf_char(out, ']');
    }
}

void task_operands_json(const TorchTask *task, Buf *out)
{
    buf_puts(out, "\"operands\": [");
    for (uint32_t i = 0; i < task->operands.len; i++) {
        const TorchOperand *o = &task->operands.at[i];
        buf_printf(out, "%s{\"role\": \"%s\", \"name\": ", i ? ", " : "", roles[o->role]);
        buf_json_str(out, str_from(o->name));
        buf_puts(out, ", ");
        if (o->role == OPERAND_ATTR) {
            json_attr(o, out);
        } else {
            buf_printf(out, "\"first\": %u, \"count\": %u, \"types\": [", o->first, o->count);
            for (uint32_t k = 0; k < o->types.len; k++)
                buf_printf(out, "%s\"%s\"", k ? ", " : "", dtype_name(o->types.at[k]));
            buf_char(out, ']');
        }
        buf_char(out, '}');
    }
    buf_puts(out, "], ");
}
