/* --check-with. In: emitted kernel text, directories with the vendor's headers. Out: what clang says
 * of each dtype variant.
 *
 *     DIR[:DIR...]   a clone of cannmirror/asc-devkit (include, impl) and one of hicann/asc-tools
 *                    (cpudebug/include: the half types), or an installed toolkit with both
 *
 * The headers are compiled in their CPU-debug mode, for the 2201 vector core, without the high-level
 * APIs but sorting. What they want from stub_fun.h is declared by us (check.def). Nothing is run. */
#include "emit/check.h"

#include "base/file.h"
#include "base/proc.h"
#include "emit/ascendc_host.h"
#include <ctype.h>
#include <string.h>

typedef struct Check {
    Arena *arena;
    const EmitInput *in;
    Diag *diag;
    NameList roots; /* of --check-with */
    const char *devkit, *tools, *temp;
    NameList argv;
} Check;

/* ---- the vendor's directories ---- */

static const char *find_root(const Check *c, const char *const *places, const char *header)
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
    c->devkit = find_root(c, kits, "include/basic_api/kernel_operator_intf.h");
    c->tools = find_root(c, tools, "stub_def.h");
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
#include "emit/check.def"
#undef STUB_TYPE
#undef STUB_CONST
#undef STUB_CALL
#undef STUB_VALUE
}

static bool put_file(Check *c, const char *path, Str text)
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
        if (str_find(name, STR("..")) < 0 && !put_file(c, str_dup(c->arena, name), STR("\n")))
            return false;
    }
    return put_file(c, "include/adv_api/kernel_api.h", STR("#include \"adv_api/sort/sort.h\"\n"));
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
                           p->fields.at[i].name);
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
    bool ok = (own || put_file(c, "stub_fun.h", buf_view(&stubs))) &&
              put_file(c, "checked_tiling.h", buf_view(&tiling)) &&
              put_file(c, "kernel.cpp", buf_view(&kernel)) && hide_high_level(c);
    buf_free(&stubs);
    buf_free(&tiling);
    buf_free(&kernel);
    return ok;
}

/* ---- the compiler ---- */

static void arg(Check *c, const char *text) { vec_push(c->arena, &c->argv, text); }

static void arg_include(Check *c, const char *dir, const char *below)
{
    arg(c, "-I");
    arg(c, *below ? path_join(c->arena, dir, below) : dir);
}

static void arg_dtypes(Check *c, const IrProgram *ir)
{
    for (uint32_t i = 0; i < ir->operand_count; i++) {
        const IrTensor *t = &ir->tensors.at[i];
        char *big = str_dup(c->arena, str_from(t->name));
        for (char *s = big; *s; s++)
            *s = (char)toupper((unsigned char)*s);
        arg(c, str_format(c->arena, "-DDTYPE_%s=%s", big, cxx_type(t->dtype)));
        arg(c, str_format(c->arena, "-DORIG_DTYPE_%s=%s", big, host_ge_dtype(t->dtype)));
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
        arg(c, flags[i]);
    arg_dtypes(c, c->in->variants.at[variant]->ir);
    arg_include(c, c->temp, "");
    arg_include(c, c->devkit, "");
    arg_include(c, c->devkit, "include");
    arg_include(c, c->devkit, "include/basic_api");
    arg_include(c, c->devkit, "impl");
    arg_include(c, c->tools, "");
    arg(c, "-include");
    arg(c, path_join(c->arena, c->temp, "checked_tiling.h"));
    arg(c, path_join(c->arena, c->temp, "kernel.cpp"));
    arg(c, NULL);
}

static bool compile(Check *c, uint32_t variant, EmitCheck *answer, Buf *said)
{
    make_argv(c, variant);
    ProcSpec spec = {.argv = c->argv.at, .seconds = 120};
    ProcResult result = {0};
    if (!proc_run(c->arena, &spec, &result, c->diag))
        return false;
    answer->checked++;
    if (result.end != PROC_EXITED || result.status != 0) {
        answer->refused++;
        buf_str(said, result.err);
    }
    return true;
}

bool emit_check_with(Arena *arena, const EmitInput *in, const char *dir, EmitCheck *answer,
                     Diag *diag)
{
    Check c = {.arena = arena, .in = in, .diag = diag};
    if (!proc_find(arena, "clang++")) {
        diag_error(diag, "E099", (Span){0}, "--check-with needs clang++, which is not here");
        return false;
    }
    if (!find_headers(&c, dir) || !file_temp_dir(arena, "acraft-check", &c.temp, diag))
        return false;
    Buf said = {0};
    bool ok = write_temp(&c);
    for (uint32_t v = 0; ok && v < in->variants.len; v++)
        ok = compile(&c, v, answer, &said);
    answer->output = (Str){said.len ? buf_take(&said, arena) : "", said.len};
    buf_free(&said);
    return file_remove_tree(c.temp, diag) && ok;
}
