/* Hostile host code. A tiling function is foreign code too, and may hold assembly (the C++ library's headers
 * do): what it reaches without the C library must stop at the walls, and whatever it answers is only tiling. */
#include "tests/t.h"

#include "base/file.h"
#include "tests/twin/twin_helper.h"
#include "twin/project.h"
#include <string.h>
#include <sys/wait.h>

#define FOLDER "tests/twin/projects/add_custom"

/* A system call of x86-64 by its number, without any import, and what host code does in attack number N. */
static const char before[] =
    "#include <cstdint>\n#include <cstdio>\n"
    "static long raw(long number, long a = 0, long b = 0, long c = 0)\n"
    "{ long result; asm volatile(\"syscall\" : \"=a\"(result) : \"a\"(number), \"D\"(a), \"S\"(b), "
    "\"d\"(c) : \"rcx\", \"r11\", \"memory\"); return result; }\n"
    "static void attack(int which)\n{\n    switch (which) {\n"
#define ATTACK(number, code) "    case " #number ": " code " break;\n"
    ATTACK(0, "asm volatile(\"nop\");") ATTACK(1, "raw(39);")
        ATTACK(2, "raw(257, -100, (long)\"/etc/passwd\");") ATTACK(3, "raw(41, 2, 1, 0);")
            ATTACK(4, "raw(62, -1, 9);") ATTACK(5, "raw(101, 16, raw(110));")
                ATTACK(6, "raw(59, (long)\"/bin/sh\");")
                    ATTACK(7, "for (int i = 0; i < 1000; i++) raw(57);")
                        ATTACK(8, "raw(10, (long)&raw & -4096L, 4096, 7);")
                            ATTACK(9, "for (int fd = 3; fd < 64; fd++) raw(1, fd, "
                                      "(long)\"op\\tForged\\n\", 10); raw(231);")
                                ATTACK(10, "for (int i = 0; i < 400; i++) { static char "
                                           "junk[65536]; raw(1, 4, (long)junk, 65536); } raw(231);")
                                    ATTACK(11, "raw(231, 0);")
                                        ATTACK(12, "for (;;) std::puts(\"more\");")
                                            ATTACK(13, "*(volatile int *)16 = 1;") "    }\n}\n";
#undef ATTACK

/* The verdict each must get. The first two must not disturb anything. */
static const struct {
    const char *name, *statuses;
} attacks[] = {
    {"does nothing in assembly", "ok"},
    {"asks for its own number", "ok"},
    {"opens a file", "forbidden"},
    {"opens a socket", "forbidden"},
    {"kills everyone", "forbidden"},
    {"traces its parent", "forbidden"},
    {"starts a shell", "forbidden"},
    {"forks without end", "forbidden"},
    {"makes code writable", "forbidden"},
    {"writes to every descriptor", "bad-tiling|crashed"},
    {"answers with a flood", "bad-tiling|crashed|output|memory"},
    {"leaves before it answers", "bad-tiling"},
    {"prints without end", "output"},
    {"writes where nothing is", "crashed"},
};
enum { ATTACKS = sizeof attacks / sizeof *attacks };

static bool has_status(const char *statuses, const char *status)
{
    Str rest = str_from(statuses), word;
    while (str_next(&rest, '|', &word))
        if (str_is(word, status))
            return true;
    return false;
}

typedef struct Siege {
    Arena arena;
    Diag diag;
    TwinProject project;
    TwinOptions options;
} Siege;

/* The project with `text` before its host code and `call` at the start of its tiling function. */
static Siege besiege(const char *text, const char *call)
{
    Siege s = {0};
    s.diag = diag_make(&s.arena, FOLDER, (Str){0});
    REQUIRE(twin_project_read(&s.arena, FOLDER, &s.project, &s.diag));
    Str own = s.project.host.at[0].text,
        mark = STR("TilingFunc(gert::TilingContext *context)\n{\n");
    ptrdiff_t at = str_find(own, mark);
    REQUIRE(at >= 0);
    size_t body = (size_t)at + mark.len;
    s.project.host.at[0].text = str_from(str_format(&s.arena, "%s%.*s%s%.*s", text,
                                                    STR_ARG(str_slice(own, 0, body)), call,
                                                    STR_ARG(str_slice(own, body, own.len))));
    return s;
}

static Verdict run_with(Siege *s, TwinOpened *opened, const char *attr)
{
    Verdict verdict = verdict_make();
    TwinTensor tensors[2];
    TwinTensors made = {0};
    TwinRun run;
    const char *file;
    REQUIRE(
        twin_tensor_parse(&s->arena, "x=f16[16,128]", SIM_IN, 1, &tensors[0], &file, &s->diag) &&
        twin_tensor_parse(&s->arena, "y=f16[16,128]", SIM_IN, 1, &tensors[1], &file, &s->diag));
    TwinCase kase = {.tensors = tensors, .tensor_count = 2};
    vec_push(&s->arena, &kase.attrs, attr);
    twin_project_run(&s->arena, opened, &kase, &s->options, &made, &run, &verdict, &s->diag);
    for (uint32_t i = 0; i < made.len; i++)
        twin_tensor_free(&made.at[i]);
    twin_tensor_free(&tensors[0]);
    twin_tensor_free(&tensors[1]);
    return verdict;
}

T_TEST(hostile_host_code)
{
    Siege s = besiege(before, "attack(int(*context->GetAttrs()->GetAttrPointer<float>(0)));\n");
    Verdict opening = verdict_make();
    TwinOpened *opened = twin_project_open(&s.arena, &s.project, &s.options, &opening, &s.diag);
    CHECK_MSG(opened, "%s", opening.reason);
    REQUIRE(opened);
    for (int i = 0; i < ATTACKS; i++) {
        Verdict v = run_with(&s, opened, str_format(&s.arena, "scale=%d", i));
        const char *status = verdict_status_row(v.status)->text;
        CHECK_MSG(has_status(attacks[i].statuses, status), "host code that %s: want %s, got %s: %s",
                  attacks[i].name, attacks[i].statuses, status, v.reason);
        CHECK_MSG(waitpid(-1, NULL, WNOHANG) < 0, "host code that %s left a process",
                  attacks[i].name);
    }
    twin_project_close(opened);
    arena_drop(&s.arena);
}

/* Before main, when the host program is only asked what it defines. */
T_TEST(hostile_host_code_before_main)
{
    Siege s = besiege("__attribute__((constructor)) static void early()\n"
                      "{ asm volatile(\"syscall\" : : \"a\"(231), \"D\"(0)); }\n",
                      "");
    Verdict v = verdict_make();
    TwinOpened *opened = twin_project_open(&s.arena, &s.project, &s.options, &v, &s.diag);
    CHECK(!opened);
    CHECK_EQ_STR(verdict_status_row(v.status)->text, "bad-tiling");
    arena_drop(&s.arena);
}
