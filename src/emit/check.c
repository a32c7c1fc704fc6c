/* --check-with. In: emitted kernel and host text, directories with the vendor's headers. Out: what
 * clang says of the kernel text of each dtype variant, and of the host text.
 *
 *     DIR[:DIR...]   for kernels a clone of cannmirror/asc-devkit (include, impl) and one of
 *                    hicann/asc-tools (cpudebug/include: the half types); for the host also those
 *                    of check_host.c; or an installed toolkit
 *
 * The headers are compiled in their CPU-debug mode, for the 2201 vector core, without the high-level
 * APIs but sorting. What they want from stub_fun.h is declared by us (check.def). Nothing is run. */
#include "emit/check_int.h"

#include "base/proc.h"
#include "base/temp.h"
#include "emit/ascendc_host.h"
#include <ctype.h>
#include <string.h>

/* ---- the vendor's directories ---- */

const char *check_root(const Check *c, const char *const *places, const char *header)
{
    for (uint32_t i = 0; i < c->roots.len; i++)
        for (const char *const *p = places; *p; p++) {
            const char *dir = path_join(c->arena, c->roots.at[i], *p);
            if (file_exists(path_join(c->arena, dir, header)))
                return dir;
        }
    return NULL;
}

static bool find_headers(Check *c, const char *dirs)
{
    static const char *const kits[] = {".", "asc-devkit", "compiler/ascendc",
                                       "compiler/tikcpp/tikcfw", NULL};
    static const char *const tools[] = {"cpudebug/include", "asc-tools/cpudebug/include",
                                        "tools/tikicpulib/lib/include", ".", NULL};
    Str rest = str_from(dirs), one;
    while (str_next(&rest, ':', &one))
        if (one.len)
            vec_push(c->arena, &c->roots, str_dup(c->arena, one));
    c->devkit = check_root(c, kits, "include/basic_api/kernel_operator_intf.h");
    c->tools = check_root(c, tools, "stub_def.h");
    if (c->devkit && c->tools)
        return true;
    diag_error(c->diag, "E099", (Span){0}, "%s: no %s in it", dirs,
               c->devkit ? "stub_def.h (asc-tools, cpudebug/include)"
                         : "include/basic_api/kernel_operator_intf.h (asc-devkit)");
    diag_hint(c->diag, "--check-with ASC_DEVKIT:ASC_TOOLS, clones of the two public repositories");
    return false;
}

/* ---- what stands in for the rest ---- */

static void stub_text(Buf *out)
{
    buf_puts(out, "#pragma once\n#include <cstddef>\n#include <cstdint>\n#include <cmath>\n"
                  "#include \"stub_def.h\"\n"
                  "struct AnyValue { template <class T> operator T() const { return T(); } };\n"
                  "enum pipe_t { PIPE_S, PIPE_V, PIPE_M, PIPE_MTE1, PIPE_MTE2, PIPE_MTE3, "
                  "PIPE_ALL, PIPE_MTE4, "
                  "PIPE_MTE5, PIPE_V2, PIPE_FIX };\n"
                  "enum event_t { EVENT_ID0, EVENT_ID1, EVENT_ID2, EVENT_ID3, EVENT_ID4, "
                  "EVENT_ID5, EVENT_ID6, "
                  "EVENT_ID7 };\n");
#define STUB_TYPE(name, ...) buf_puts(out, "enum " #name " : uint32_t { " #__VA_ARGS__ " };\n");
#define STUB_CONST(name) buf_puts(out, "static constexpr int " #name " = 0;\n");
#define STUB_CALL(name) \
    buf_puts(out, "template <class... A> inline int64_t " #name "(A &&...) { return 0; }\n");
#define STUB_VALUE(name) \
    buf_puts(out,        \
             "template <class... A> inline AnyValue " #name "(A &&...) { return AnyValue(); }\n");
#define STUB_VOID(name) buf_puts(out, "template <class... A> inline void " #name "(A &&...) {}\n");
#include "emit/check.def"
#undef STUB_VOID
#undef STUB_TYPE
#undef STUB_CONST
#undef STUB_CALL
#undef STUB_VALUE
}

bool check_put(Check *c, const char *path, Str text)
{
    const char *full = path_join(c->arena, c->temp, path);
    return file_make_dirs(path_dir(c->arena, full), c->diag) && file_write(full, text, c->diag);
}

/* The high-level headers want tiling structs that a build generates: left out, but for sorting. */
static bool hide_high_level(Check *c)
{
    Str text, line;
    const char *list = path_join(c->arena, c->devkit, "include/basic_api/kernel_operator_intf.h");
    if (!file_read(c->arena, list, 1 << 20, &text, c->diag))
        return false;
    while (str_next(&text, '\n', &line)) {
        ptrdiff_t from = str_find(line, STR("\"include/adv_api/"));
        if (from < 0)
            continue;
        Str name = str_slice(line, (size_t)from + 1, line.len);
        ptrdiff_t to = str_find(name, STR("\""));
        name = str_slice(name, 0, to < 0 ? name.len : (size_t)to);
        if (str_find(name, STR("..")) < 0 && !check_put(c, str_dup(c->arena, name), STR("\n")))
            return false;
    }
    return check_put(c, "include/adv_api/kernel_api.h", STR("#include \"adv_api/sort/sort.h\"\n"));
}

static void tiling_text(const Check *c, Buf *out)
{
    buf_puts(out, "#pragma once\n#include <cstdint>\nstruct CheckedTiling {\n");
    for (uint32_t v = 0; v < c->in->variants.len; v++) {
        const AscProgram *p = c->in->variants.at[v];
        for (uint32_t i = 0; i < p->fields.len; i++) {
            bool known = false;
            for (uint32_t w = 0; w < v; w++)
                for (uint32_t j = 0; j < c->in->variants.at[w]->fields.len; j++)
                    known = known || strcmp(c->in->variants.at[w]->fields.at[j].name,
                                            p->fields.at[i].name) == 0;
            if (!known)
                buf_printf(out, "    %s %s;\n",
                           p->fields.at[i].type == DT_F32 ? "float" : "int64_t",
                           camel(c->arena, p->fields.at[i].name));
        }
    }
    buf_puts(out, "};\n#define GET_TILING_DATA(name, at) CheckedTiling name = "
                  "*reinterpret_cast<CheckedTiling *>(at)\n"
                  "#define TILING_KEY_VAR 1\n");
}

static bool write_temp(Check *c)
{
    Buf stubs = {0}, tiling = {0}, kernel = {0};
    stub_text(&stubs);
    tiling_text(c, &tiling);
    emit_kernel_text(c->arena, c->in, &kernel);
    bool own = file_exists(path_join(c->arena, c->tools, "stub_fun.h"));
    bool ok = (own || check_put(c, "stub_fun.h", buf_view(&stubs))) &&
              check_put(c, "checked_tiling.h", buf_view(&tiling)) &&
              check_put(c, "kernel.cpp", buf_view(&kernel)) && hide_high_level(c);
    buf_free(&stubs);
    buf_free(&tiling);
    buf_free(&kernel);
    return ok;
}

/* ---- the compiler ---- */

void check_arg(Check *c, const char *text) { vec_push(c->arena, &c->argv, text); }

void check_include(Check *c, const char *dir, const char *below)
{
    check_arg(c, "-I");
    check_arg(c, *below ? path_join(c->arena, dir, below) : dir);
}

static void arg_dtypes(Check *c, const IrProgram *ir)
{
    for (uint32_t i = 0; i < ir->operand_count; i++) {
        const IrTensor *t = &ir->tensors.at[i];
        char *big = str_dup(c->arena, str_from(t->name));
        for (char *s = big; *s; s++)
            *s = (char)toupper((unsigned char)*s);
        check_arg(c, str_format(c->arena, "-DDTYPE_%s=%s", big, cxx_type(t->dtype)));
        check_arg(c, str_format(c->arena, "-DORIG_DTYPE_%s=%s", big, host_ge_dtype(t->dtype)));
    }
}

static void make_argv(Check *c, uint32_t variant)
{
    static const char *const flags[] = {"clang++",
                                        "-std=c++17",
                                        "-fsyntax-only",
                                        "-w",
                                        "-Wno-c++11-narrowing",
                                        "-fno-color-diagnostics",
                                        "-DASCENDC_CPU_DEBUG=1",
                                        "-D__NPU_ARCH__=2201",
                                        "-D__CCE_AICORE__=220",
                                        "-D__DAV_C220_VEC__"};
    c->argv.len = 0;
    for (size_t i = 0; i < sizeof flags / sizeof *flags; i++)
        check_arg(c, flags[i]);
    arg_dtypes(c, c->in->variants.at[variant]->ir);
    check_include(c, c->temp, "");
    check_include(c, c->devkit, "");
    check_include(c, c->devkit, "include");
    check_include(c, c->devkit, "include/basic_api");
    check_include(c, c->devkit, "impl");
    check_include(c, c->tools, "");
    check_arg(c, "-include");
    check_arg(c, path_join(c->arena, c->temp, "checked_tiling.h"));
    check_arg(c, path_join(c->arena, c->temp, "kernel.cpp"));
    check_arg(c, NULL);
}

bool check_compile(Check *c, bool *accepted)
{
    ProcSpec spec = {.argv = c->argv.at, .seconds = 120};
    ProcResult result = {0};
    if (!proc_run(c->arena, &spec, &result, c->diag))
        return false;
    *accepted = result.end == PROC_EXITED && result.status == 0;
    if (!*accepted)
        buf_str(&c->said, result.err);
    return true;
}

static bool check_kernels(Check *c, EmitCheck *answer)
{
    bool ok = write_temp(c), accepted;
    for (uint32_t v = 0; ok && v < c->in->variants.len; v++) {
        make_argv(c, v);
        ok = check_compile(c, &accepted);
        answer->kernels += ok;
        answer->refused += ok && !accepted;
    }
    return ok;
}

bool emit_check_with(Arena *arena, const EmitInput *in, const EmitFiles *project, const char *dirs,
                     EmitCheck *answer, Diag *diag)
{
    Check c = {.arena = arena, .in = in, .project = project, .diag = diag};
    if (!proc_find(arena, "clang++")) {
        diag_error(diag, "E099", (Span){0}, "--check-with needs clang++, which is not here");
        return false;
    }
    TempDir temp;
    if (!find_headers(&c, dirs) || !temp_dir_make(arena, "acraft-check", &temp, diag))
        return false;
    c.temp = temp.path;
    bool ok = check_kernels(&c, answer) && check_host(&c, answer);
    answer->output = (Str){c.said.len ? buf_take(&c.said, arena) : "", c.said.len};
    buf_free(&c.said);
    return temp_dir_remove(&temp, diag) && ok;
}
