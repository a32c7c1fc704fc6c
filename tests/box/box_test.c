/* The box from outside: programs of every kind of ill will, each with its expected end, on every
 * rung of the ladder that can be forced. */
#include "tests/t.h"

#include "box/box.h"
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define BIT(name) (1u << BOX_WALL_##name)
#define NAMESPACES (BIT(USER) | BIT(MOUNT) | BIT(PID) | BIT(NET) | BIT(IPC))

static const char *const system_paths[] = {"/bin", "/usr", "/lib", "/lib64", "/dev/null", NULL};

static BoxResult run_shell(Arena *arena, BoxSpec spec, const char *script)
{
    const char *argv[] = {"/bin/sh", "-c", script, NULL};
    spec.argv = argv;
    spec.readable = system_paths;
    BoxResult result;
    box_run(arena, &spec, &result);
    return result;
}

T_TEST(prints_and_exits)
{
    Arena a = {0};
    BoxResult r = run_shell(&a, (BoxSpec){0}, "echo out; echo err >&2; exit 3");
    CHECK_EQ_INT(r.end, BOX_EXITED);
    CHECK_EQ_INT(r.status, 3);
    CHECK_EQ_SLICE(r.out, "out\n");
    CHECK_EQ_SLICE(r.err, "err\n");
    CHECK_MSG(!r.reason, "%s", r.reason);
    arena_drop(&a);
}

T_TEST(all_walls_stand_here)
{
    Arena a = {0};
    const char *missing = "?";
    uint32_t walls = box_probe(&a, &missing);
    CHECK_MSG(!missing, "open: %s", missing);
    CHECK_MSG(walls & BIT(SECCOMP), "walls: %s", box_walls_text(&a, walls));
    CHECK(walls & BIT(LIMITS));
    arena_drop(&a);
}

static void check_no_files(uint32_t without)
{
    Arena a = {0};
    BoxResult r = run_shell(&a, (BoxSpec){.without = without},
                            "cat /etc/passwd || echo none; ls /tmp /proc /root; "
                            "echo x >/usr/x || echo read-only");
    CHECK_EQ_INT(r.end, BOX_EXITED);
    CHECK_EQ_SLICE(r.out, "none\nread-only\n");
    arena_drop(&a);
}

T_TEST(files_are_out_of_reach) { check_no_files(0); }
T_TEST(files_are_out_of_reach_by_landlock) { check_no_files(NAMESPACES); }
T_TEST(files_are_out_of_reach_by_mounts)
{
    Arena a = {0};
    const char *missing;
    if (box_probe(&a, &missing) & BIT(MOUNT)) /* a container may give none: Landlock stands there */
        check_no_files(BIT(LANDLOCK));
    arena_drop(&a);
}

/* Started by root in its private home, where nobody may not go: a compiler must still find its
 * text, with no more rights than that. Whoever else starts it reads it as the owner. */
T_TEST(private_files_are_read_as_self_without_namespaces)
{
    Arena a = {0};
    char dir[] = "/tmp/acraft-box-XXXXXX";
    CHECK(mkdtemp(dir) != NULL);
    const char *file = str_format(&a, "%s/inner", dir);
    FILE *f = fopen(file, "w");
    CHECK(f && fputs("text\n", f) >= 0 && fclose(f) == 0);
    const char *readable[] = {"/bin", "/usr", "/lib", "/lib64", "/dev/null", file, NULL};
    const char *script = str_format(&a, "cat %s; mount -t tmpfs x /usr; cat /etc/shadow", file);
    const char *argv[] = {"/bin/sh", "-c", script, NULL};
    BoxSpec spec = {.argv = argv, .readable = readable, .without = NAMESPACES, .as_self = true};
    BoxResult r;
    box_run(&a, &spec, &r);
    CHECK_EQ_INT(r.end, BOX_EXITED);
    CHECK_MSG(!r.missing, "open: %s", r.missing);
    CHECK_EQ_SLICE(r.out, "text\n");
    unlink(file);
    rmdir(dir);
    arena_drop(&a);
}

T_TEST(walls_left_out_are_named)
{
    Arena a = {0};
    BoxResult r = run_shell(&a, (BoxSpec){.without = NAMESPACES | BIT(LANDLOCK)}, "echo ran");
    CHECK_EQ_INT(r.end, BOX_REFUSED);
    CHECK_EQ_STR(r.missing, "files");
    CHECK_EQ_INT(r.out.len, 0);
    r = run_shell(
        &a, (BoxSpec){.without = NAMESPACES | BIT(LANDLOCK) | BIT(SECCOMP), .allow_missing = true},
        "echo ran");
    CHECK_EQ_INT(r.end, BOX_EXITED);
    CHECK_EQ_STR(r.missing, "files, network, signals, system calls");
    CHECK_EQ_SLICE(r.out, "ran\n");
    arena_drop(&a);
}

static void check_endless_loop(uint32_t without)
{
    Arena a = {0};
    BoxResult r = run_shell(&a, (BoxSpec){.seconds = 0.3, .without = without},
                            "while :; do :; done");
    CHECK_EQ_INT(r.end, BOX_TIMEOUT);
    CHECK(r.cpu_seconds < 3);
    arena_drop(&a);
}

T_TEST(endless_loop) { check_endless_loop(0); }
T_TEST(endless_loop_without_namespaces) { check_endless_loop(NAMESPACES); }

T_TEST(cpu_time_is_limited)
{
    Arena a = {0};
    BoxResult r = run_shell(&a, (BoxSpec){.seconds = 50, .cpu_seconds = 1}, "while :; do :; done");
    CHECK_EQ_INT(r.end, BOX_TIMEOUT);
    CHECK(r.cpu_seconds < 4);
    arena_drop(&a);
}

T_TEST(sleeper)
{
    Arena a = {0};
    BoxResult r = run_shell(&a, (BoxSpec){.seconds = 0.2}, "sleep 100 & sleep 100");
    CHECK_EQ_INT(r.end, BOX_TIMEOUT);
    CHECK(r.cpu_seconds < 1);
    arena_drop(&a);
}

T_TEST(endless_output)
{
    Arena a = {0};
    BoxResult r = run_shell(&a, (BoxSpec){.output = 5000}, "yes");
    CHECK_EQ_INT(r.end, BOX_OUTPUT);
    CHECK_EQ_INT(r.out.len, 5000);
    arena_drop(&a);
}

/* The first fork beyond the limit fails: counted before anything explodes. */
T_TEST(processes_are_limited)
{
    Arena a = {0};
    BoxResult r = run_shell(&a, (BoxSpec){.processes = 10, .seconds = 30},
                            "i=0; while [ $i -lt 40 ]; do sleep 20 & i=$((i+1)); echo $i; done");
    CHECK_MSG(r.end == BOX_EXITED && r.status != 0, "%s %d", box_end_text(r.end), r.status);
    CHECK_MSG(r.out.len < 30, "started %s", r.out.at);
    arena_drop(&a);
}

T_TEST(fork_bomb)
{
    Arena a = {0};
    BoxResult r = run_shell(&a, (BoxSpec){.seconds = 1, .processes = 20, .output = 1 << 16},
                            "f() { f & f; }; f");
    CHECK_MSG(r.end == BOX_TIMEOUT || r.end == BOX_EXITED || r.end == BOX_OUTPUT, "%s",
              box_end_text(r.end));
    arena_drop(&a);
}

T_TEST(signals_stay_inside)
{
    Arena a = {0};
    char script[80];
    snprintf(script, sizeof script, "kill -9 %d; kill -9 -1; echo alive", (int)getpid());
    run_shell(&a, (BoxSpec){0}, script);
    run_shell(&a, (BoxSpec){.without = NAMESPACES}, script);
    CHECK(true); /* reached only when neither hit this process */
    arena_drop(&a);
}

T_TEST(writable_directory)
{
    Arena a = {0};
    char dir[] = "/tmp/acraft-box-XXXXXX";
    REQUIRE(mkdtemp(dir) != NULL);
    BoxResult r = run_shell(&a, (BoxSpec){.writable = dir, .file_bytes = 1000},
                            "echo kept >kept; pwd; ls; head -c 5000 /dev/zero >big");
    CHECK_MSG(strstr(r.out.at, "kept") != NULL, "out %s err %s", r.out.at, r.err.at);
    char path[64];
    struct stat st;
    snprintf(path, sizeof path, "%s/kept", dir);
    CHECK(stat(path, &st) == 0 && st.st_size == 5);
    unlink(path);
    snprintf(path, sizeof path, "%s/big", dir);
    CHECK(stat(path, &st) != 0 || st.st_size <= 1000);
    unlink(path);
    CHECK(rmdir(dir) == 0);
    arena_drop(&a);
}

T_TEST(no_environment_no_descriptors)
{
    Arena a = {0};
    setenv("SECRET", "42", 1);
    int secret = memfd_create("secret", 0), given = memfd_create("given", 0);
    REQUIRE(write(given, "hello\n", 6) == 6 && lseek(given, 0, SEEK_SET) == 0 && secret > 2);
    int fds[] = {given};
    BoxResult r = run_shell(&a, (BoxSpec){.fds = fds, .fd_count = 1},
                            "echo [$SECRET]; cat <&3; (cat <&4) 2>/dev/null || echo closed");
    CHECK_EQ_SLICE(r.out, "[]\nhello\nclosed\n");
    close(secret);
    close(given);
    arena_drop(&a);
}

T_TEST(program_from_descriptor)
{
    Arena a = {0};
    int exe = open("/bin/echo", O_RDONLY | O_CLOEXEC);
    const char *argv[] = {"echo", "by", "fd", NULL};
    BoxSpec spec = {.argv = argv, .exe_fd = exe, .readable = system_paths};
    BoxResult r;
    box_run(&a, &spec, &r);
    CHECK_EQ_SLICE(r.out, "by fd\n");
    close(exe);
    arena_drop(&a);
}

T_TEST(missing_program)
{
    Arena a = {0};
    const char *argv[] = {"/no/such/program", NULL};
    BoxSpec spec = {.argv = argv};
    BoxResult r;
    box_run(&a, &spec, &r);
    CHECK_EQ_INT(r.end, BOX_NO_PROGRAM);
    CHECK_EQ_STR(r.reason, "cannot exec: No such file or directory");
    arena_drop(&a);
}

T_TEST(namespace_escape_is_refused)
{
    Arena a = {0};
    BoxResult r = run_shell(
        &a, (BoxSpec){0},
        "unshare -U true && echo escaped; mount -t tmpfs x /usr && echo mounted; id -u");
    CHECK_MSG(!strstr(r.out.at, "escaped") && !strstr(r.out.at, "mounted"), "%s", r.out.at);
    arena_drop(&a);
}

T_TEST(core_filter_exists)
{
    Arena a = {0};
    Str filter = box_core_filter(&a);
    CHECK(filter.len > 80 && filter.len % 8 == 0);
    CHECK_EQ_STR(box_call_name(&a, 999999), "system call 999999");
    arena_drop(&a);
}

static int count_entries(const char *path)
{
    DIR *dir = opendir(path);
    int count = 0;
    while (dir && readdir(dir))
        count++;
    if (dir)
        closedir(dir);
    return count;
}

T_TEST(nothing_leaks_and_several_run_at_once)
{
    Arena a = {0};
    int before = count_entries("/proc/self/fd");
    for (int round = 0; round < 20; round++) {
        const char *argv[] = {"/bin/sh", "-c", "sleep 30 & echo $$", NULL};
        BoxSpec spec = {.argv = argv, .readable = system_paths};
        Box *boxes[4];
        BoxResult r;
        for (int i = 0; i < 4; i++)
            REQUIRE((boxes[i] = box_start(&a, &spec, &r)) != NULL);
        for (int i = 0; i < 4; i++) {
            box_finish(boxes[i], &r);
            CHECK_EQ_INT(r.end, BOX_EXITED);
        }
    }
    CHECK_EQ_INT(count_entries("/proc/self/fd"), before);
    CHECK(waitpid(-1, NULL, WNOHANG) < 0); /* no child of any kind is left */
    arena_drop(&a);
}
