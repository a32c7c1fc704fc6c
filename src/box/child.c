/* The child between clone and exec: waits for the parent, sets the user, the root, the limits,
 * Landlock, the filter, and become the program. Each wall that stands is noted; a step that
 * fails where something is left open ends the child with a report instead. */
#include "box/box_int.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <linux/close_range.h>
#include <linux/securebits.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { HIGH_FD = 300 };

static void say(const BoxPlan *plan, uint32_t walls, uint32_t open, const char *step, int error)
{
    BoxReport report = {.walls = walls, .open = open, .error = error, .no_program = plan->at_exec};
    strncpy(report.step, step, sizeof report.step - 1);
    ssize_t ignored = write(plan->report, &report, sizeof report);
    (void)ignored;
}

ATTR_NORETURN static void give_up(const BoxPlan *plan, const char *step)
{
    say(plan, plan->walls, 0, step, errno ? errno : EINVAL);
    _exit(127);
}

static void wait_for_go(const BoxPlan *plan)
{
    char byte;
    if (read(plan->go, &byte, 1) != 1)
        _exit(127);
}

/* In a user namespace the child is its only user, called 0 inside; without one, root steps down
 * to a stranger and anyone else stays. */
static bool take_user(const BoxPlan *plan)
{
    bool inside = plan->walls & WALL_BIT(USER);
    if (!inside && !plan->is_root)
        return true;
    uid_t id = inside ? 0 : plan->outer;
    if (plan->is_root && setgroups(0, NULL) != 0)
        return false;
    return setresgid(id, id, id) == 0 && setresuid(id, id, id) == 0 &&
           prctl(PR_SET_DUMPABLE, 1, 0, 0, 0) == 0;
}

static bool die_with_parent(const BoxPlan *plan)
{
    if (prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) != 0)
        return false;
    struct pollfd parent = {.fd = plan->go, .events = POLLIN};
    return poll(&parent, 1, 0) == 0; /* a closed pipe would say POLLHUP */
}

static bool limit(int what, uint64_t soft, uint64_t hard)
{
    struct rlimit now, want = {.rlim_cur = soft, .rlim_max = hard};
    if (getrlimit((__rlimit_resource_t)what, &now) != 0)
        return false;
    if (now.rlim_max < want.rlim_max)
        want.rlim_max = now.rlim_max;
    if (want.rlim_max < want.rlim_cur)
        want.rlim_cur = want.rlim_max;
    return setrlimit((__rlimit_resource_t)what, &want) == 0;
}

static uint64_t or_default(uint64_t value, uint64_t otherwise) { return value ? value : otherwise; }

/* Without a user namespace the count includes everything the user runs elsewhere. */
static bool limit_processes(const BoxPlan *plan)
{
    if (!(plan->walls & WALL_BIT(USER)) && !plan->is_root)
        return true;
    uint64_t most = or_default(plan->spec->processes, 32);
    return limit(RLIMIT_NPROC, most, most);
}

static bool set_limits(const BoxPlan *plan)
{
    const BoxSpec *spec = plan->spec;
    uint64_t cpu = (uint64_t)(spec->cpu_seconds + 0.999);
    uint64_t memory = or_default(spec->memory, 1ull << 30);
    uint64_t stack = or_default(spec->stack, 8ull << 20);
    uint64_t file = or_default(spec->file_bytes, 64ull << 20);
    uint64_t space = or_default(spec->address_space, RLIM_INFINITY);
    uint64_t files = or_default(spec->files, 64);
    return limit(RLIMIT_CPU, cpu, cpu + 1) && limit(RLIMIT_DATA, memory, memory) &&
           limit(RLIMIT_AS, space, space) && limit(RLIMIT_STACK, stack, stack) &&
           limit(RLIMIT_FSIZE, file, file) && limit_processes(plan) &&
           limit(RLIMIT_NOFILE, files, files) && limit(RLIMIT_CORE, 0, 0) &&
           limit(RLIMIT_MEMLOCK, 0, 0) && limit(RLIMIT_MSGQUEUE, 0, 0);
}

/* User 0 would get every capability back at exec. */
static bool drop_capabilities(void)
{
    if (geteuid() == 0) {
        prctl(PR_SET_SECUREBITS, SECBIT_NOROOT | SECBIT_NOROOT_LOCKED, 0, 0, 0);
        for (unsigned long cap = 0; prctl(PR_CAPBSET_DROP, cap, 0, 0, 0) == 0; cap++)
            ;
    }
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct none[2] = {0};
    return syscall(SYS_capset, &header, none) == 0 && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0;
}

/* 0, 1, 2 and the inherited ones from 3 on; the box's own go above all of them first, so that
 * no copy lands on a descriptor still needed. Returns the program's. */
static int arrange_fds(BoxPlan *plan)
{
    const BoxSpec *spec = plan->spec;
    int high[3 + 64], count = 0;
    plan->report = fcntl(plan->report, F_DUPFD_CLOEXEC, HIGH_FD);
    int exe = spec->exe_fd > 0 ? fcntl(spec->exe_fd, F_DUPFD_CLOEXEC, HIGH_FD) : -1;
    high[count++] = fcntl(plan->in, F_DUPFD_CLOEXEC, HIGH_FD);
    high[count++] = fcntl(plan->out, F_DUPFD_CLOEXEC, HIGH_FD);
    high[count++] = fcntl(plan->err, F_DUPFD_CLOEXEC, HIGH_FD);
    for (uint32_t i = 0; i < spec->fd_count; i++)
        high[count++] = fcntl(spec->fds[i], F_DUPFD_CLOEXEC, HIGH_FD);
    for (int i = 0; i < count; i++)
        if (dup2(high[i], i) != i)
            give_up(plan, "inherit descriptors");
    if (count < HIGH_FD)
        close_range((unsigned)count, HIGH_FD - 1, 0);
    close_range(HIGH_FD, ~0u, CLOSE_RANGE_CLOEXEC);
    return exe;
}

static void reset_signals(void)
{
    sigset_t none;
    sigemptyset(&none);
    for (int i = 1; i < 65; i++)
        signal(i, SIG_DFL);
    sigprocmask(SIG_SETMASK, &none, NULL);
}

static uint32_t holes(uint32_t walls)
{
    uint32_t open = 0;
    if (!(walls & (WALL_BIT(MOUNT) | WALL_BIT(LANDLOCK))))
        open |= 1u << HOLE_FILES;
    if (!(walls & (WALL_BIT(NET) | WALL_BIT(SECCOMP))))
        open |= 1u << HOLE_NETWORK;
    if (!(walls & (WALL_BIT(PID) | WALL_BIT(SCOPE) | WALL_BIT(SECCOMP))))
        open |= 1u << HOLE_SIGNALS;
    if (!(walls & WALL_BIT(SECCOMP)))
        open |= 1u << HOLE_CALLS;
    return open;
}

static void enter_root(BoxPlan *plan, const char *step, bool ok)
{
    if (!ok && (plan->walls & WALL_BIT(MOUNT)))
        give_up(plan, step);
}

/* The filter is the last wall, so whether it will stand is found out by a trial question. */
static bool filter_possible(const BoxPlan *plan)
{
    return plan->filter.len && !(plan->spec->without & WALL_BIT(SECCOMP)) &&
           prctl(PR_GET_SECCOMP, 0, 0, 0, 0) >= 0;
}

ATTR_NORETURN static void become(BoxPlan *plan, int exe)
{
    plan->at_exec = true;
    if (exe >= 0)
        syscall(SYS_execveat, exe, "", plan->argv, plan->env, 0x1000 /* AT_EMPTY_PATH */);
    else
        execve(plan->argv[0], plan->argv, plan->env);
    give_up(plan, "exec");
}

void box_child_main(BoxPlan *plan)
{
    errno = 0;
    setsid();
    wait_for_go(plan);
    if (plan->walls & WALL_BIT(MOUNT))
        enter_root(plan, "collect paths", box_root_collect(plan));
    if (!take_user(plan))
        give_up(plan, "change user");
    if (!die_with_parent(plan))
        _exit(127);
    if (plan->walls & WALL_BIT(MOUNT))
        enter_root(plan, "build root", box_root_build(plan));
    int exe = arrange_fds(plan);
    if (plan->spec->writable && chdir(plan->spec->writable) != 0)
        give_up(plan, "enter the writable directory");
    reset_signals();
    if (!drop_capabilities())
        give_up(plan, "drop capabilities");
    plan->walls |= box_landlock_enter(plan);
    if (!set_limits(plan))
        give_up(plan, "set limits");
    plan->walls |= WALL_BIT(LIMITS);
    bool filter = filter_possible(plan);
    uint32_t walls = plan->walls | (filter ? WALL_BIT(SECCOMP) : 0), open = holes(walls);
    if (open && !plan->spec->allow_missing) {
        say(plan, walls, open, "", 0);
        _exit(126);
    }
    say(plan, walls, open, "", 0);
    if (filter && prctl(PR_SET_SECCOMP, 2 /* SECCOMP_MODE_FILTER */, &plan->filter, 0, 0) != 0)
        give_up(plan, "install the system call filter");
    become(plan, exe);
}
