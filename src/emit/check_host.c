/* The host half of --check-with. In: op_host of an emitted project, clones of the repositories with
 * the host's headers. Out: what clang says of it, or which repository is missing.
 *
 *     hicann/metadef         operator definition, tiling data, the contexts
 *     cannmirror/asc-devkit  the chip's facts
 *     hicann/runtime         what asc-devkit's header of them includes
 *     hicann/ge              operator registration; without it metadef's headers are told to do
 *                            without (NO_OPERATOR_IMPL)
 *
 * securec.h belongs to a library of its own and is declared by us where no directory has it. */
#include "emit/check_int.h"

typedef struct HostRepo {
    const char *name, *header;
    bool optional;
    const char *places[6];
    const char *includes[3]; /* below the place that has the header */
} HostRepo;

enum { HOST_METADEF, HOST_DEVKIT, HOST_RUNTIME, HOST_GE, HOST_COUNT };

static const HostRepo repos[HOST_COUNT] = {
    [HOST_METADEF] = {.name = "metadef",
                      .header = "register/tilingdata_base.h",
                      .places = {"inc/external", "metadef/inc/external", "include", "."},
                      .includes = {".", "asc", ".."}},
    [HOST_DEVKIT] = {.name = "asc-devkit",
                     .header = "tiling/platform/platform_ascendc.h",
                     .places = {"include/utils", "asc-devkit/include/utils", "include", "."},
                     .includes = {"."}},
    [HOST_RUNTIME] = {.name = "runtime",
                      .header = "platform/soc_spec.h",
                      .places = {"pkg_inc", "runtime/pkg_inc", "include", "."},
                      .includes = {"."}},
    [HOST_GE] = {.name = "ge",
                 .header = "graph/operator_reg.h",
                 .optional = true,
                 .places = {"inc/graph_metadef/external", "ge/inc/graph_metadef/external",
                            "include", "."},
                 .includes = {"."}},
};

/* What a project's build compiles the host text for: the definition, shape inference, tiling. OP_ADD
 * expands to something else in each. */
static const char *const libraries[] = {"-UOP_TILING_LIB", "-DOP_PROTO_LIB", "-DOP_TILING_LIB"};

static const char securec[] =
    "#pragma once\n#include <cstddef>\n"
    "typedef int errno_t;\n"
    "enum : errno_t { EOK = 0 };\n"
    "extern \"C\" errno_t memcpy_s(void *to, size_t room, const void *from, size_t bytes);\n"
    "extern \"C\" errno_t memset_s(void *at, size_t room, int value, size_t bytes);\n";

/* "no metadef, no runtime", or NULL when all that is needed is there. */
static const char *find_repos(const Check *c, const char *roots[HOST_COUNT])
{
    const char *lacks = NULL;
    for (int i = 0; i < HOST_COUNT; i++) {
        roots[i] = check_root(c, repos[i].places, repos[i].header);
        if (!roots[i] && !repos[i].optional)
            lacks = str_format(c->arena, "%s%sno %s", lacks ? lacks : "", lacks ? ", " : "",
                               repos[i].name);
    }
    return lacks;
}

static void make_argv(Check *c, const char *const roots[HOST_COUNT], const char *library,
                      const char *file)
{
    static const char *const flags[] = {"clang++", "-std=c++17", "-fsyntax-only", "-w",
                                        "-fno-color-diagnostics"};
    c->argv.len = 0;
    for (size_t i = 0; i < sizeof flags / sizeof *flags; i++)
        check_arg(c, flags[i]);
    check_arg(c, library);
    if (!roots[HOST_GE])
        check_arg(c, "-DNO_OPERATOR_IMPL");
    for (int i = 0; i < HOST_COUNT; i++)
        for (int j = 0; roots[i] && j < 3 && repos[i].includes[j]; j++)
            check_include(c, roots[i], repos[i].includes[j]);
    check_arg(c, "-idirafter");
    check_arg(c, path_join(c->arena, c->temp, "standin"));
    check_arg(c, path_join(c->arena, c->temp, file));
    check_arg(c, NULL);
}

static bool is_host_text(const EmitFile *f, const char *ending)
{
    Str path = str_from(f->path);
    return str_starts(path, "op_host/") && str_ends(path, ending);
}

static bool write_host(Check *c)
{
    bool ok = check_put(c, "standin/securec.h", str_from(securec));
    for (uint32_t i = 0; ok && i < c->project->len; i++) {
        const EmitFile *f = &c->project->at[i];
        if (is_host_text(f, ".cpp") || is_host_text(f, ".h"))
            ok = check_put(c, f->path, f->text);
    }
    return ok;
}

/* Refused by one library is refused; what the others would say of it is the same. */
static bool check_file(Check *c, const char *const roots[HOST_COUNT], const char *path,
                       EmitCheck *answer)
{
    bool accepted = true;
    for (size_t i = 0; accepted && i < sizeof libraries / sizeof *libraries; i++) {
        make_argv(c, roots, libraries[i], path);
        if (!check_compile(c, &accepted))
            return false;
    }
    answer->hosts++;
    answer->refused += !accepted;
    return true;
}

bool check_host(Check *c, EmitCheck *answer)
{
    const char *roots[HOST_COUNT];
    answer->host_lacks = find_repos(c, roots);
    if (answer->host_lacks)
        return true;
    bool ok = write_host(c);
    for (uint32_t i = 0; ok && i < c->project->len; i++)
        if (is_host_text(&c->project->at[i], ".cpp"))
            ok = check_file(c, roots, c->project->at[i].path, answer);
    return ok;
}
