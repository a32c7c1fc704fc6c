/* acraft doctor: which tools and walls of this machine are there, what each is for, and the
 * package that gives a missing one. */
#include "base/proc.h"
#include "box/box.h"
#include "cmd/cmd.h"
#include "platform/platform.h"
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>

typedef struct Tool {
    const char *program, *package, *rpm,
        *use; /* package: of Debian and Ubuntu; rpm: of openEuler */
    bool needed;
} Tool;

static const Tool tools[] = {
    {"clang++", "clang", "clang", "compiles AscendC kernels for the twin, with instrumentation",
     true},
    {"ld.lld", "lld", "lld", "links kernels, also those in one file with their host code", true},
    {"g++", "g++", "gcc-c++", "compiles host tiling functions where clang++ is not wanted", false},
};
enum { TOOLS = sizeof tools / sizeof *tools };

typedef struct Findings {
    const char *path[TOOLS]; /* NULL: missing */
    uint32_t walls;
    const char *open; /* what no wall covers; NULL: nothing */
    bool ok;
    struct utsname machine;
} Findings;

static Findings examine(Arena *arena)
{
    Findings f = {.ok = true};
    for (size_t i = 0; i < TOOLS; i++) {
        f.path[i] = proc_find(arena, tools[i].program);
        f.ok = f.ok && (f.path[i] || !tools[i].needed);
    }
    f.walls = box_probe(arena, &f.open);
    f.ok = f.ok && !f.open;
    uname(&f.machine);
    return f;
}

static void print_tools(const Findings *f)
{
    puts("tools");
    for (size_t i = 0; i < TOOLS; i++) {
        printf("  %-24s %s: %s\n", tools[i].program, f->path[i] ? f->path[i] : "missing",
               tools[i].use);
        if (!f->path[i])
            printf("  %-24s %s; package %s (Debian, Ubuntu) or %s (openEuler)\n", "",
                   tools[i].needed ? "needed" : "optional", tools[i].package, tools[i].rpm);
    }
}

static void print_walls(const Findings *f)
{
    puts("walls of the sandbox");
    for (int w = 0; w < BOX_WALL_COUNT; w++)
        printf("  %-24s %s\n", box_wall_text((BoxWall)w),
               f->walls & 1u << w ? "stands" : "not on this machine");
    if (f->open)
        printf("  open: %s; foreign kernels run only with --trust\n", f->open);
}

/* What of each platform this machine has. */
static void print_platforms(Arena *arena)
{
    puts("platforms");
    for (uint32_t i = 0; i < platform_count; i++) {
        const Platform *p = &platforms[i];
        bool compiles = p->compiler && proc_find(arena, p->compiler);
        bool runs = p->runner && proc_find(arena, p->runner);
        const char *writes = p->write || !strcmp(p->name, "ascend") ? "written"
                                                                    : "not from a model";
        printf("  %-24s %s: %s", p->name, p->language, writes);
        if (p->compiler)
            printf("; %s %s", p->compiler, compiles ? "is here" : "is missing");
        if (p->runner)
            printf("; %s", runs ? "a device is here" : "no device here, nothing runs");
        if (p->needs)
            printf("; %s %s", p->needs,
                   p->ready(arena) ? "is here, values are compared"
                                   : "is missing, text is parsed only");
        if (p->not_measured)
            printf("; %s", p->not_measured);
        putchar('\n');
        if (p->instead && p->write == NULL && strcmp(p->name, "ascend"))
            printf("  %-24s %s\n", "", p->instead);
    }
}

static void print_text(const Findings *f, Arena *arena)
{
    printf("acraft %s on %s, %s %s\n", ACRAFT_VERSION, f->machine.machine, f->machine.sysname,
           f->machine.release);
    const char *home = cmd_home(arena);
    printf("its files (ACRAFT_HOME)    %s\n",
           home ? home : "not found: set ACRAFT_HOME to the clone");
    if (home)
        printf("its Python package         %s/python, for PYTHONPATH\n", home);
    print_tools(f);
    print_walls(f);
    print_platforms(arena);
    puts(f->ok ? "everything needed is here" : "something needed is missing, see above");
}

static void json_tool(Buf *out, const Tool *tool, const char *path)
{
    buf_printf(out, "{\"name\": \"%s\", \"path\": ", tool->program);
    if (path)
        buf_json_str(out, str_from(path));
    else
        buf_puts(out, "null");
    buf_printf(out, ", \"package\": \"%s\", \"rpm\": \"%s\", \"needed\": %s}", tool->package,
               tool->rpm, tool->needed ? "true" : "false");
}

static void json_platforms(Buf *out, Arena *arena)
{
    buf_puts(out, ", \"platforms\": {");
    for (uint32_t i = 0; i < platform_count; i++) {
        const Platform *p = &platforms[i];
        bool compiles = p->compiler && proc_find(arena, p->compiler);
        bool runs = p->runner && proc_find(arena, p->runner);
        buf_printf(out, "%s\"%s\": {\"compiler\": %s, \"device\": %s}", i ? ", " : "", p->name,
                   compiles ? "true" : "false", runs ? "true" : "false");
    }
    buf_puts(out, "}");
}

static void print_json(const Findings *f, Arena *arena)
{
    Buf out = {0};
    buf_printf(&out, "{\"version\": \"%s\", \"ok\": %s, \"tools\": [", ACRAFT_VERSION,
               f->ok ? "true" : "false");
    for (size_t i = 0; i < TOOLS; i++) {
        buf_puts(&out, i ? ", " : "");
        json_tool(&out, &tools[i], f->path[i]);
    }
    const char *home = cmd_home(arena);
    buf_puts(&out, "], \"home\": ");
    if (home)
        buf_json_str(&out, str_from(home));
    else
        buf_puts(&out, "null");
    buf_puts(&out, ", \"walls\": {");
    for (int w = 0; w < BOX_WALL_COUNT; w++)
        buf_printf(&out, "%s\"%s\": %s", w ? ", " : "", box_wall_text((BoxWall)w),
                   f->walls & 1u << w ? "true" : "false");
    buf_puts(&out, "}, \"open\": ");
    buf_json_str(&out, str_from(f->open));
    json_platforms(&out, arena);
    buf_puts(&out, "}\n");
    fwrite(out.at, 1, out.len, stdout);
    buf_free(&out);
}

int cmd_doctor(int argc, char **argv)
{
    CmdUsage usage = {
        "doctor",
        "",
        "Says which tools and sandbox walls this machine has, and where acraft's own files are.",
        "acraft doctor --json",
        NULL,
        0,
        0,
        0};
    CmdArgs args = {0};
    int status = CMD_OK;
    if (cmd_read(&usage, argc, argv, &args, &status)) {
        Findings f = examine(&args.arena);
        if (args.json)
            print_json(&f, &args.arena);
        else
            print_text(&f, &args.arena);
        status = f.ok ? CMD_OK : CMD_LACKS;
    }
    cmd_done(&args);
    return status;
}
