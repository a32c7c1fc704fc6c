/* The parent's side: lays out the plan, clones the child on the highest rung of the ladder that
 * this machine allows, then watches it. In: BoxSpec. Out: BoxResult. */
#include "box/box_int.h"

#include "base/buf.h"
#include "base/vec.h"
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { FIRST_STRANGER = 60000, STRANGERS = 5000, MOST_FDS = 64 };

struct Box {
    BoxSpec spec;
    Arena *arena;
    pid_t pid;
    int pidfd, out_fd, err_fd;
    Buf out, err;
    double started, deadline;
    BoxReport report;
    bool ended, forced; /* forced: `end` was decided here, before the kill */
    BoxEnd end;
    int wait_status;
    struct rusage usage;
};

/* One rung of the ladder: namespaces, and the walls that they provide. */
typedef struct Rung {
    int flags;
    uint32_t walls;
    bool root_only;
} Rung;

#define SPACES (CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWNET | CLONE_NEWIPC | CLONE_NEWUTS)
#define SPACE_WALLS (WALL_BIT(MOUNT) | WALL_BIT(PID) | WALL_BIT(NET) | WALL_BIT(IPC))
static const Rung rungs[] = {
    {CLONE_NEWUSER | SPACES | CLONE_NEWCGROUP, WALL_BIT(USER) | SPACE_WALLS, false},
    {SPACES, SPACE_WALLS, true},
    {0, 0, false},
};

static const char *const end_texts[] = {
#define END(name, text) text,
#include "box/ends.def"
#undef END
};
static const char *const wall_texts[] = {
#define WALL(name, text) text,
#include "box/walls.def"
#undef WALL
};
static const char *const hole_texts[] = {"files", "network", "signals", "system calls"};

const char *box_end_text(BoxEnd end) { return end_texts[end]; }
const char *box_wall_text(BoxWall wall) { return wall_texts[wall]; }

static const char *join_bits(Arena *arena, uint32_t bits, const char *const *texts, int count)
{
    const char *joined = NULL;
    for (int i = 0; i < count; i++)
        if (bits & (1u << i))
            joined = joined ? str_format(arena, "%s, %s", joined, texts[i]) : texts[i];
    return joined;
}

const char *box_walls_text(Arena *arena, uint32_t walls)
{
    const char *text = join_bits(arena, walls, wall_texts, BOX_WALL_COUNT);
    return text ? text : "none";
}

static double now_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* --- the plan ------------------------------------------------------------------------------ */

typedef VEC(BoxMount) MountList;

static bool add_mount(Arena *arena, MountList *list, const char *path, bool writable)
{
    struct stat st;
    if (path[0] != '/' || stat(path, &st) != 0)
        return false;
    BoxMount mount = {.source = path,
                      .target = path + 1,
                      .writable = writable,
                      .is_dir = S_ISDIR(st.st_mode),
                      .is_device = S_ISCHR(st.st_mode),
                      .tree = -1};
    vec_push(arena, list, mount);
    return true;
}

/* A readable path that does not exist is left out: compilers live in different places. */
static bool plan_mounts(Arena *arena, const BoxSpec *spec, BoxPlan *plan)
{
    MountList list = {0};
    for (const char *const *path = spec->readable; path && *path; path++)
        add_mount(arena, &list, *path, false);
    if (spec->writable && !add_mount(arena, &list, spec->writable, true))
        return false;
    plan->mounts = list.at;
    plan->mount_count = list.len;
    return true;
}

/* exec wants pointers to non-const that it does not write through. */
static char *const *exec_vector(Arena *arena, const char *const *list)
{
    size_t count = 0;
    while (list && list[count])
        count++;
    char **copy = arena_array(arena, char *, count + 1);
    for (size_t i = 0; i < count; i++)
        copy[i] = str_dup(arena, str_from(list[i]));
    return copy;
}

static void plan_filter(Arena *arena, const BoxSpec *spec, BoxPlan *plan)
{
    Str program = box_calls_filter(arena, spec->profile == BOX_ZYGOTE ? Z : T);
    struct sock_filter *steps = arena_alloc(arena, program.len + 1);
    if (program.len)
        memcpy(steps, program.at, program.len);
    plan->filter.len = (unsigned short)(program.len / sizeof *steps);
    plan->filter.filter = steps;
}

static BoxSpec with_defaults(const BoxSpec *spec)
{
    BoxSpec full = *spec;
    full.seconds = full.seconds > 0 ? full.seconds : 10;
    full.cpu_seconds = full.cpu_seconds > 0 ? full.cpu_seconds : ceil(full.seconds);
    full.output = full.output ? full.output : 1 << 20;
    return full;
}

/* --- starting ------------------------------------------------------------------------------ */

static bool fail_step(Arena *arena, BoxResult *result, const char *step, int error)
{
    result->end = BOX_FAILED;
    result->reason = str_format(arena, "cannot %s: %s", step, strerror(error));
    return false;
}

static bool write_text(const char *path, const char *text)
{
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    ssize_t wrote = write(fd, text, strlen(text));
    close(fd);
    return wrote == (ssize_t)strlen(text);
}

static bool write_maps(pid_t pid, const BoxPlan *plan)
{
    char path[64], map[64];
    if (!plan->is_root) {
        snprintf(path, sizeof path, "/proc/%d/setgroups", (int)pid);
        if (!write_text(path, "deny"))
            return false;
    }
    snprintf(path, sizeof path, "/proc/%d/uid_map", (int)pid);
    snprintf(map, sizeof map, "0 %u 1", plan->outer);
    if (!write_text(path, map))
        return false;
    snprintf(path, sizeof path, "/proc/%d/gid_map", (int)pid);
    snprintf(map, sizeof map, "0 %u 1", plan->is_root ? plan->outer : (unsigned)getegid());
    return write_text(path, map);
}

/* Reads reports until exec or exit closes the pipe; the last one counts. */
static bool read_report(int fd, BoxReport *report)
{
    BoxReport next;
    bool any = false;
    for (;;) {
        ssize_t got = read(fd, &next, sizeof next);
        if (got < 0 && errno == EINTR)
            continue;
        if (got != (ssize_t)sizeof next)
            return any;
        *report = next;
        any = true;
    }
}

typedef struct Pipes {
    int go[2], report[2], out[2], err[2], null;
} Pipes;

static bool open_pipes(Pipes *p)
{
    *p = (Pipes){{-1, -1}, {-1, -1}, {-1, -1}, {-1, -1}, -1};
    return pipe2(p->go, O_CLOEXEC) == 0 && pipe2(p->report, O_CLOEXEC) == 0 &&
           pipe2(p->out, O_CLOEXEC) == 0 && pipe2(p->err, O_CLOEXEC) == 0 &&
           (p->null = open("/dev/null", O_RDONLY | O_CLOEXEC)) >= 0;
}

static void close_fd(int *fd)
{
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

static void close_pipes(Pipes *p)
{
    for (int i = 0; i < 2; i++) {
        close_fd(&p->go[i]);
        close_fd(&p->report[i]);
        close_fd(&p->out[i]);
        close_fd(&p->err[i]);
    }
    close_fd(&p->null);
}

static void reap(Box *box)
{
    kill(box->pid, SIGKILL);
    while (waitpid(box->pid, &box->wait_status, 0) < 0 && errno == EINTR)
        ;
    close_fd(&box->pidfd);
}

static pid_t clone_child(int flags, int *pidfd)
{
    *pidfd = -1;
    return (pid_t)syscall(SYS_clone, (unsigned long)(flags | CLONE_PIDFD | SIGCHLD), 0UL, pidfd,
                          0UL, 0UL);
}

/* A user that no machine has, another for each box: where there is no user namespace, the limit on
 * processes counts all of a user's, and a user may send signals to itself. */
static unsigned stranger(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    uint64_t mixed = (uint64_t)getpid() * 7919 + (uint64_t)t.tv_nsec / 1000 * 31;
    return FIRST_STRANGER + (unsigned)(mixed % STRANGERS);
}

/* Root becomes an unprivileged user, unless it is to stay root: in a user namespace, or with no namespace at
 * all, it keeps none of root's rights but can read the private files of whoever started it. */
static unsigned outer_user(const BoxPlan *plan, const Rung *rung)
{
    bool stays = plan->spec->as_self && (!rung->walls || (rung->walls & WALL_BIT(USER)));
    return plan->is_root && !stays ? stranger() : (unsigned)geteuid();
}

static bool give_directory(const BoxPlan *plan)
{
    const char *dir = plan->spec->writable;
    return !dir || !plan->is_root || chown(dir, plan->outer, plan->outer) == 0;
}

/* One try on one rung. True: the child runs, or gave its final word in box->report. */
static bool try_rung(Box *box, BoxPlan *plan, const Rung *rung, Pipes *p)
{
    plan->walls = rung->walls;
    plan->outer = outer_user(plan, rung);
    box->pid = give_directory(plan) ? clone_child(rung->flags, &box->pidfd) : -1;
    if (box->pid == 0) {
        close(p->go[1]);
        box_child_main(plan);
    }
    if (box->pid < 0) {
        box->report.error = errno;
        snprintf(box->report.step, sizeof box->report.step, "create namespaces");
        return false;
    }
    bool ready = !(rung->walls & WALL_BIT(USER)) || write_maps(box->pid, plan);
    if (!ready || write(p->go[1], "g", 1) != 1) {
        box->report.error = errno;
        snprintf(box->report.step, sizeof box->report.step, "map users");
        reap(box);
        return false;
    }
    close_fd(&p->report[1]);
    if (read_report(p->report[0], &box->report) && !box->report.error)
        return true;
    if (!box->report.error)
        box->report.error = EPIPE;
    reap(box);
    return false;
}

static bool rung_wanted(const Rung *rung, const BoxSpec *spec, bool is_root)
{
    return (!rung->root_only || is_root) && !(rung->walls & spec->without);
}

static void plan_pipes(BoxPlan *plan, const Pipes *p)
{
    plan->go = p->go[0];
    plan->report = p->report[1];
    plan->in = p->null;
    plan->out = p->out[1];
    plan->err = p->err[1];
}

static void keep_output(Box *box, Pipes *p)
{
    box->out_fd = p->out[0];
    box->err_fd = p->err[0];
    p->out[0] = p->err[0] = -1;
    fcntl(box->out_fd, F_SETFL, O_NONBLOCK);
    fcntl(box->err_fd, F_SETFL, O_NONBLOCK);
}

static bool climb(Box *box, BoxPlan *plan, BoxResult *result)
{
    for (size_t i = 0; i < sizeof rungs / sizeof *rungs; i++) {
        if (!rung_wanted(&rungs[i], &box->spec, plan->is_root))
            continue;
        Pipes p;
        if (!open_pipes(&p)) {
            int error = errno;
            close_pipes(&p);
            return fail_step(box->arena, result, "open pipes", error);
        }
        plan_pipes(plan, &p);
        box->report = (BoxReport){0};
        bool running = try_rung(box, plan, &rungs[i], &p);
        if (running)
            keep_output(box, &p);
        close_pipes(&p);
        if (running)
            return true;
        if (box->report.no_program)
            break;
    }
    fail_step(box->arena, result, box->report.step[0] ? box->report.step : "start",
              box->report.error);
    if (box->report.no_program)
        result->end = BOX_NO_PROGRAM;
    return false;
}

static const char *missing_text(Box *box)
{
    return join_bits(box->arena, box->report.open, hole_texts, HOLE_COUNT);
}

static bool refused(Box *box, BoxResult *result)
{
    if (!box->report.open || box->spec.allow_missing)
        return false;
    result->end = BOX_REFUSED;
    result->walls = box->report.walls;
    result->missing = missing_text(box);
    result->reason = str_format(box->arena,
                                "this machine gives no wall around: %s "
                                "(`acraft doctor` lists them; --trust runs without)",
                                result->missing);
    reap(box);
    close_fd(&box->out_fd);
    close_fd(&box->err_fd);
    return true;
}

Box *box_start(Arena *arena, const BoxSpec *spec, BoxResult *result)
{
    *result = (BoxResult){0};
    Box *box = arena_new(arena, Box);
    *box = (Box){
        .spec = with_defaults(spec), .arena = arena, .pidfd = -1, .out_fd = -1, .err_fd = -1};
    BoxPlan *plan = arena_new(arena, BoxPlan);
    *plan = (BoxPlan){.spec = &box->spec, .is_root = geteuid() == 0};
    if (spec->fd_count > MOST_FDS)
        return fail_step(arena, result, "inherit so many descriptors", E2BIG), NULL;
    if (!plan_mounts(arena, &box->spec, plan))
        return fail_step(arena, result, "find the writable directory", ENOENT), NULL;
    plan->argv = exec_vector(arena, spec->argv);
    plan->env = exec_vector(arena, spec->env);
    plan_filter(arena, spec, plan);
    box->started = now_seconds();
    if (!climb(box, plan, result) || refused(box, result))
        return NULL;
    box->deadline = box->started + box->spec.seconds;
    return box;
}

/* --- watching ------------------------------------------------------------------------------ */

static void force_end(Box *box, BoxEnd end)
{
    if (!box->forced && !box->ended) {
        box->forced = true;
        box->end = end;
    }
    box_kill(box);
}

void box_kill(Box *box)
{
    if (!box->ended) {
        kill(-box->pid, SIGKILL); /* the group matters only where there is no pid namespace */
        kill(box->pid, SIGKILL);
    }
}

static void drain(Box *box, int *fd, Buf *into)
{
    char chunk[16384];
    while (*fd >= 0) {
        ssize_t got = read(*fd, chunk, sizeof chunk);
        if (got < 0 && (errno == EAGAIN || errno == EINTR))
            return;
        if (got <= 0) {
            close_fd(fd);
            return;
        }
        uint64_t room = box->spec.output - (box->out.len + box->err.len);
        buf_add(into, chunk, (uint64_t)got < room ? (size_t)got : (size_t)room);
        if ((uint64_t)got > room) {
            force_end(box, BOX_OUTPUT);
            return;
        }
    }
}

static void check_end(Box *box)
{
    if (box->ended)
        return;
    pid_t got = wait4(box->pid, &box->wait_status, WNOHANG, &box->usage);
    if (got == box->pid || (got < 0 && errno == ECHILD)) {
        kill(-box->pid, SIGKILL);
        box->ended = true;
    }
}

bool box_step(Box *box, int milliseconds)
{
    double left = (box->deadline - now_seconds()) * 1e3;
    if (left <= 0)
        force_end(box, BOX_TIMEOUT);
    double wait = left <= 0 ? 1000 : left < milliseconds ? left + 1 : milliseconds;
    struct pollfd fds[3] = {{.fd = box->pidfd, .events = POLLIN},
                            {.fd = box->out_fd, .events = POLLIN},
                            {.fd = box->err_fd, .events = POLLIN}};
    if (!box->ended)
        poll(fds, 3, milliseconds < 0 ? (int)left + 1 : (int)wait);
    drain(box, &box->out_fd, &box->out);
    drain(box, &box->err_fd, &box->err);
    check_end(box);
    return box->ended;
}

static BoxEnd classify(const Box *box)
{
    if (box->forced)
        return box->end;
    if (WIFEXITED(box->wait_status))
        return WEXITSTATUS(box->wait_status) == BOX_STATUS_MEMORY ? BOX_MEMORY : BOX_EXITED;
    switch (WTERMSIG(box->wait_status)) {
    case SIGXCPU: return BOX_TIMEOUT;
    case SIGXFSZ: return BOX_OUTPUT;
    case SIGSYS: return BOX_FORBIDDEN;
    case SIGKILL: break;
    default: return BOX_SIGNAL;
    }
    /* The kernel's own SIGKILL: past the hard CPU limit, or the machine's memory is gone. */
    double cpu = (double)box->usage.ru_utime.tv_sec + (double)box->usage.ru_stime.tv_sec;
    return cpu >= box->spec.cpu_seconds - 1 ? BOX_TIMEOUT : BOX_MEMORY;
}

static double timeval_seconds(struct timeval t)
{
    return (double)t.tv_sec + 1e-6 * (double)t.tv_usec;
}

void box_finish(Box *box, BoxResult *result)
{
    while (!box_step(box, 1000))
        ;
    close_fd(&box->out_fd);
    close_fd(&box->err_fd);
    close_fd(&box->pidfd);
    *result = (BoxResult){
        .end = classify(box),
        .status = WIFEXITED(box->wait_status) ? WEXITSTATUS(box->wait_status)
                                              : WTERMSIG(box->wait_status),
        .walls = box->report.walls,
        .missing = missing_text(box),
        .out = str_copy(box->arena, buf_view(&box->out)),
        .err = str_copy(box->arena, buf_view(&box->err)),
        .seconds = now_seconds() - box->started,
        .cpu_seconds = timeval_seconds(box->usage.ru_utime) + timeval_seconds(box->usage.ru_stime),
        .peak_memory = (uint64_t)box->usage.ru_maxrss * 1024,
    };
    buf_free(&box->out);
    buf_free(&box->err);
}

void box_run(Arena *arena, const BoxSpec *spec, BoxResult *result)
{
    Box *box = box_start(arena, spec, result);
    if (box)
        box_finish(box, result);
}

uint32_t box_probe(Arena *arena, const char **missing)
{
    static const char *const argv[] = {"/bin/true", NULL};
    static const char *const readable[] = {"/bin", "/usr", "/lib", "/lib64", NULL};
    BoxSpec spec = {.argv = argv, .readable = readable, .allow_missing = true};
    BoxResult result;
    box_run(arena, &spec, &result);
    *missing = result.end == BOX_FAILED ? result.reason : result.missing;
    return result.walls;
}
