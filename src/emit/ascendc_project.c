/* The operator project for CANN. In: the variants of a Craft file. Out: op_host, op_kernel, build
 * files, description for msopgen, torch binding, a test and a script for a board. */
#include "emit/ascendc_host.h"

#include "base/file.h"

typedef void PartFunction(Host *h);

static void add_file(Arena *arena, EmitFiles *out, const char *path, Pen *pen, bool executable)
{
    Str text = {buf_take(pen->out, arena), pen->out->len};
    vec_push(arena, out, ((EmitFile){path, text, executable}));
}

static void add_part(Arena *arena, const EmitInput *in, EmitFiles *out, const char *path,
                     PartFunction *part, bool executable)
{
    Buf text = {0};
    Pen pen = {.out = &text, .arena = arena};
    Host h = host_for(arena, in, 0, &pen);
    part(&h);
    add_file(arena, out, path, &pen, executable);
    buf_free(&text);
}

/* ---- op_host ---- */

static void part_plan(Host *h)
{
    pen_line(h->pen, "// Written by acraft from %s; change it there.", craft_name(h->in));
    pen_line(h->pen, "#pragma once");
    pen_line(h->pen, "#include <cmath>");
    pen_line(h->pen, "#include <cstdint>");
    pen_blank(h->pen);
    host_print_plan(h);
}

static void part_operator(Host *h) { host_print_operator(h, false); }

/* ---- description ---- */

static const char *msopgen_type(DType d)
{
    static const char *const names[DT_COUNT] = {
        [DT_F32] = "float", [DT_F16] = "float16",  [DT_BF16] = "bf16",  [DT_F64] = "double",
        [DT_I8] = "int8",   [DT_I16] = "int16",    [DT_I32] = "int32",  [DT_I64] = "int64",
        [DT_U8] = "uint8",  [DT_U16] = "uint16",   [DT_U32] = "uint32", [DT_U64] = "uint64",
        [DT_BOOL] = "bool", [DT_C64] = "complex64"};
    return names[d];
}

static const char *param_type(IrRole role)
{
    bool list = role == IR_ROLE_IN_LIST || role == IR_ROLE_OUT_LIST;
    return list ? "dynamic" : role == IR_ROLE_OPT ? "optional" : "required";
}

static void print_desc(Host *h, bool output)
{
    const IrProgram *ir = h->p->ir;
    bool first = true;
    for (uint32_t i = 0; i < ir->operand_count; i++) {
        const IrTensor *t = &ir->tensors.at[i];
        if (output ? !operand_is_output(t) : !operand_is_input(t))
            continue;
        Buf types = {0}, formats = {0};
        for (uint32_t v = 0; v < h->in->variants.len; v++) {
            buf_printf(&types, "%s\"%s\"", v ? ", " : "",
                       msopgen_type(operand_dtype(&h->in->variants.at[v]->ir->tensors.at[i])));
            buf_printf(&formats, "%s\"ND\"", v ? ", " : "");
        }
        pen_line(h->pen,
                 "%s{\"name\": \"%s\", \"param_type\": \"%s\", \"format\": [%s], \"type\": [%s]}",
                 first ? "" : ", ", t->name, param_type(t->role), formats.at, types.at);
        first = false;
        buf_free(&types);
        buf_free(&formats);
    }
}

static void print_attr_desc(Host *h, uint32_t i)
{
    const IrProgram *ir = h->p->ir;
    const IrVar *v = &ir->vars.at[ir->attrs.at[i]];
    const char *type = v->type == DT_F32 ? "float" : v->type == DT_BOOL ? "bool" : "int";
    Buf value = {0};
    if (v->value) {
        const IrExpr *e = &ir->exprs.at[v->value];
        buf_puts(&value, ", \"default_value\": ");
        if (e->op == IR_E_FLOAT)
            buf_json_double(&value, e->of.f);
        else if (e->op == IR_E_BOOL)
            buf_puts(&value, e->of.i ? "true" : "false");
        else
            buf_printf(&value, "%lld", (long long)e->of.i);
    }
    pen_line(h->pen, "%s{\"name\": \"%s\", \"param_type\": \"%s\", \"type\": \"%s\"%s}",
             i ? ", " : "", v->name, v->value ? "optional" : "required", type,
             value.len ? value.at : "");
    buf_free(&value);
}

void project_print_json(Host *h)
{
    Pen *pen = h->pen;
    pen_line(pen, "[{");
    pen->depth++;
    pen_line(pen, "\"op\": \"%s\",", host_op_type(h));
    pen_line(pen, "\"language\": \"cpp\",");
    pen_line(pen, "\"input_desc\": [");
    pen->depth++;
    print_desc(h, false);
    pen->depth--;
    pen_line(pen, "],");
    pen_line(pen, "\"output_desc\": [");
    pen->depth++;
    print_desc(h, true);
    pen->depth--;
    pen_line(pen, "],");
    pen_line(pen, "\"attr\": [");
    pen->depth++;
    for (uint32_t i = 0; i < h->p->ir->attrs.len; i++)
        print_attr_desc(h, i);
    pen->depth--;
    pen_line(pen, "]");
    pen_close(pen, "]");
}

/* ---- build files ---- */

static void part_cmake_host(Host *h)
{
    Pen *pen = h->pen;
    const char *name = host_op_name(h);
    pen_line(pen, "set(sources ${CMAKE_CURRENT_SOURCE_DIR}/%s.cpp)", name);
    pen_line(
        pen,
        "npu_op_code_gen(SRC ${sources} PACKAGE ${package_name} OUT_DIR ${ASCEND_AUTOGEN_PATH})");
    pen_line(pen, "npu_op_library(%s_tiling TILING ${sources})", name);
    pen_blank(pen);
    pen_line(pen, "file(GLOB aclnn ${ASCEND_AUTOGEN_PATH}/aclnn_*.cpp)");
    pen_line(pen, "set_source_files_properties(${aclnn} PROPERTIES GENERATED TRUE)");
    pen_line(pen, "npu_op_library(%s_api ACLNN ${aclnn})", name);
    pen_blank(pen);
    pen_line(pen, "set(proto ${ASCEND_AUTOGEN_PATH}/op_proto.cc)");
    pen_line(pen, "set_source_files_properties(${proto} PROPERTIES GENERATED TRUE)");
    pen_line(pen, "npu_op_library(%s_proto GRAPH ${sources} ${proto})", name);
    pen_line(pen, "npu_op_package_add(${package_name} LIBRARY %s_tiling %s_api %s_proto)", name,
             name, name);
}

static void part_cmake_kernel(Host *h)
{
    const char *name = host_op_name(h);
    pen_line(h->pen, "npu_op_kernel_sources(%s_kernels OP_TYPE %s KERNEL_FILE %s.cpp)", name,
             host_op_type(h), name);
    pen_line(h->pen,
             "npu_op_kernel_library(%s_kernels SRC_BASE ${CMAKE_CURRENT_SOURCE_DIR} TILING_LIBRARY "
             "%s_tiling)",
             name, name);
    pen_line(h->pen, "npu_op_package_add(${package_name} LIBRARY %s_kernels)", name);
}

/* ---- the kernel and its source map ---- */

static void add_kernel(Arena *arena, const EmitInput *in, EmitFiles *out)
{
    Buf text = {0}, map = {0}, lined = {0};
    Pen pen = {.out = &text, .arena = arena};
    print_kernel_file(arena, in, &pen);
    Host h = host_for(arena, in, 0, &pen);
    const char *path = str_format(arena, "op_kernel/%s.cpp", host_op_name(&h));
    if (in->lines)
        print_lined(&pen, in->file, &lined);
    Pen shown = {.out = in->lines ? &lined : &text, .arena = arena};
    add_file(arena, out, path, &shown, false);
    Pen lines = {.out = &map, .arena = arena};
    pen_line(&lines, "{\"file\": \"%s\", \"source\": \"%s\", \"lines\": [", path, craft_name(in));
    for (uint32_t i = 0; i < pen.marks.len; i++)
        pen_line(&lines, "[%u, %u]%s", pen.marks.at[i].line, pen.marks.at[i].craft,
                 i + 1 < pen.marks.len ? "," : "");
    pen_line(&lines, "]}");
    add_file(arena, out, str_format(arena, "op_kernel/%s.map.json", host_op_name(&h)), &lines,
             false);
    buf_free(&text);
    buf_free(&lined);
    buf_free(&map);
}

bool emit_project(Arena *arena, const EmitInput *in, EmitFiles *out, Diag *diag)
{
    if (!host_check(in, diag))
        return false;
    Buf none = {0};
    Pen pen = {.out = &none, .arena = arena};
    Host h = host_for(arena, in, 0, &pen);
    const char *name = host_op_name(&h);
    add_part(arena, in, out, str_format(arena, "%s.json", name), project_print_json, false);
    add_part(arena, in, out, "CMakeLists.txt", build_print_cmake, false);
    add_part(arena, in, out, "CMakePresets.json", build_print_presets, false);
    add_part(arena, in, out, "build.sh", build_print_script, true);
    add_part(arena, in, out, "op_host/CMakeLists.txt", part_cmake_host, false);
    add_part(arena, in, out, str_format(arena, "op_host/%s_plan.h", name), part_plan, false);
    add_part(arena, in, out, str_format(arena, "op_host/%s_tiling.h", name),
             host_print_tiling_header, false);
    add_part(arena, in, out, str_format(arena, "op_host/%s.cpp", name), part_operator, false);
    add_part(arena, in, out, "op_kernel/CMakeLists.txt", part_cmake_kernel, false);
    add_kernel(arena, in, out);
    add_part(arena, in, out, str_format(arena, "torch/%s_binding.cpp", name), torch_print_binding,
             false);
    add_part(arena, in, out, "torch/setup.py", torch_print_setup, false);
    if (in->model)
        add_part(arena, in, out, "torch/module.py", torch_print_module, false);
    add_part(arena, in, out, "test_op.py", torch_print_test, true);
    add_part(arena, in, out, "board.sh", build_print_board, true);
    if (example_has(in)) {
        add_part(arena, in, out, "example/main.cpp", example_print_main, false);
        add_part(arena, in, out, "example/CMakeLists.txt", example_print_cmake, false);
    }
    Str source = str_copy(arena, in->source);
    vec_push(arena, out, ((EmitFile){craft_name(in), source, false}));
    return true;
}
