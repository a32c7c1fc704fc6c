/* Pieces of the files that platforms write. In: a task with its operands. Out: headers, names of types. */
#include "gen/kernel/text.h"

Str kernel_text(Arena *arena, Buf *text)
{
    Str s = str_from(buf_take(text, arena));
    buf_free(text);
    return s;
}

void kernel_file(Arena *arena, EmitFiles *files, const char *path, Str text)
{
    EmitFile file = {.path = path, .text = text};
    vec_push(arena, files, file);
}

const char *kernel_torch_type(DType dtype)
{
    switch (dtype) {
    case DT_F16: return "float16";
    case DT_BF16: return "bfloat16";
    case DT_I8: return "int8";
    case DT_U8: return "uint8";
    case DT_I16: return "int16";
    case DT_I32: return "int32";
    case DT_I64: return "int64";
    case DT_BOOL: return "bool";
    default: return "float32";
    }
}

void kernel_parameters(const KernelTask *task, const char *last, Buf *out)
{
    for (uint32_t i = 0; i < task->operands.len; i++)
        buf_printf(out, "%svoid *%s, ", task->operands.at[i].output ? "" : "const ",
                   task->operands.at[i].name);
    buf_puts(out, last);
}

void kernel_header(const KernelTask *task, const Graph *graph, const char *name, const char *about,
                   const char *last, Buf *out)
{
    buf_printf(out, "%s#ifndef ACRAFT_%s_H\n#define ACRAFT_%s_H\n\n", about, name, name);
    for (uint32_t i = 0; i < task->operands.len; i++) {
        const KernelOperand *o = &task->operands.at[i];
        const char *of = o->output ? NULL : graph_value(graph, o->value)->name;
        buf_printf(out, "/* %s: %s", o->name, o->output ? "result" : "input");
        if (of)
            buf_printf(out, " \"%s\"", of);
        buf_printf(out, ", %s, %lld elements */\n", dtype_name(o->dtype), (long long)o->count);
    }
    buf_printf(out,
               "#define %s_WORKSPACE %lldLL\n\n#ifdef __cplusplus\nextern \"C\"\n#endif\n"
               "int %s_launch(",
               name, (long long)task->workspace, name);
    kernel_parameters(task, last, out);
    buf_puts(out, ");\n\n#endif\n");
}

void kernel_shape(const Graph *graph, ValueId value, Buf *out)
{
    Shape shape = graph_value(graph, value)->shape;
    for (int d = 0; d < shape.rank; d++)
        buf_printf(out, "%lld, ", (long long)shape.dim[d]);
}

const char kernel_python_attribute[] =
    "if \"Model\" not in globals():  # the file's last module\n"
    "    Model = [c for c in list(globals().values())\n"
    "             if isinstance(c, type) and issubclass(c, torch.nn.Module) and c.__module__ == "
    "__name__][-1]\n\n\n"
    "def attribute(owner, path):\n    for name in path.split(\".\"):\n"
    "        owner = getattr(owner, name)\n    return owner\n";
