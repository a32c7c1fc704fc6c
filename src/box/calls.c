/* System call filters. In: the table calls.def and a few rules on arguments. Out: classic BPF
 * programs, made with libseccomp in the parent and installed in the child. */
#include "box/box_int.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <seccomp.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#define NAMESPACE_FLAGS                                                                        \
    (CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWNET | CLONE_NEWIPC | CLONE_NEWUTS | \
     CLONE_NEWCGROUP)

typedef struct CallRow {
    const char *name;
    int profiles;
} CallRow;

static const CallRow call_rows[] = {
#define CALL(name, profiles) {#name, profiles},
#include "box/calls.def"
#undef CALL
};

/* A trap kills whoever has no handler for it; a core's handler notes the number first. A compiler
 * makes unusual calls and accepts that they fail, and so does our own code before exec. */
static uint32_t default_action(CallProfile profile)
{
    return profile & (T | W) ? SCMP_ACT_ERRNO(EPERM) : SCMP_ACT_TRAP;
}

static bool allow(scmp_filter_ctx ctx, const char *name)
{
    int number = seccomp_syscall_resolve_name(name);
    /* A call that this architecture does not have needs no permission. */
    return number < 0 || seccomp_rule_add(ctx, SCMP_ACT_ALLOW, number, 0) == 0;
}

static bool allow_if(scmp_filter_ctx ctx, int number, struct scmp_arg_cmp condition)
{
    return seccomp_rule_add(ctx, SCMP_ACT_ALLOW, number, 1, condition) == 0;
}

static bool answer(scmp_filter_ctx ctx, int number, int error)
{
    return seccomp_rule_add(ctx, SCMP_ACT_ERRNO((uint32_t)error), number, 0) == 0;
}

static bool add_memory_rules(scmp_filter_ctx ctx, CallProfile profile)
{
    if (profile == T)
        return allow(ctx, "mmap") && allow(ctx, "mprotect");
    struct scmp_arg_cmp not_exec = SCMP_A2(SCMP_CMP_MASKED_EQ, PROT_EXEC, 0);
    return allow_if(ctx, SCMP_SYS(mmap), not_exec) && allow_if(ctx, SCMP_SYS(mprotect), not_exec);
}

static bool add_process_rules(scmp_filter_ctx ctx, CallProfile profile)
{
    if (profile & (C | W))
        return true;
    struct scmp_arg_cmp plain = SCMP_A0(SCMP_CMP_MASKED_EQ, NAMESPACE_FLAGS, 0);
    struct scmp_arg_cmp only_ask = SCMP_A2(SCMP_CMP_EQ, 0, 0);
    return allow_if(ctx, SCMP_SYS(clone), plain) && answer(ctx, SCMP_SYS(clone3), ENOSYS) &&
           allow_if(ctx, SCMP_SYS(prlimit64), only_ask);
}

static bool add_special_rules(scmp_filter_ctx ctx, CallProfile profile)
{
    bool ok = add_memory_rules(ctx, profile) && add_process_rules(ctx, profile) &&
              answer(ctx, SCMP_SYS(ioctl), ENOTTY);
    /* The box's own exec; afterwards its descriptor is gone. */
    if (profile & (T | Z))
        ok = ok && allow_if(ctx, SCMP_SYS(execveat), SCMP_A4(SCMP_CMP_EQ, AT_EMPTY_PATH, 0));
    if (profile == T)
        ok = ok && answer(ctx, SCMP_SYS(prctl), EINVAL);
    return ok;
}

static bool add_rules(scmp_filter_ctx ctx, CallProfile profile)
{
    for (size_t i = 0; i < sizeof call_rows / sizeof *call_rows; i++)
        if ((call_rows[i].profiles & (int)profile) && !allow(ctx, call_rows[i].name))
            return false;
    return add_special_rules(ctx, profile);
}

/* libseccomp writes the program to a descriptor. */
static Str export_program(Arena *arena, scmp_filter_ctx ctx)
{
    Str program = {0};
    int fd = memfd_create("filter", MFD_CLOEXEC);
    if (fd < 0)
        return program;
    off_t size = seccomp_export_bpf(ctx, fd) == 0 ? lseek(fd, 0, SEEK_END) : 0;
    if (size > 0) {
        char *at = arena_alloc(arena, (size_t)size);
        if (pread(fd, at, (size_t)size, 0) == size)
            program = (Str){at, (size_t)size};
    }
    close(fd);
    return program;
}

Str box_calls_filter(Arena *arena, CallProfile profile)
{
    Str program = {0};
    scmp_filter_ctx ctx = seccomp_init(default_action(profile));
    if (!ctx)
        return program;
    seccomp_attr_set(ctx, SCMP_FLTATR_CTL_OPTIMIZE, 2);
    seccomp_attr_set(ctx, SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_KILL_PROCESS);
    if (add_rules(ctx, profile))
        program = export_program(arena, ctx);
    seccomp_release(ctx);
    return program;
}

Str box_core_filter(Arena *arena) { return box_calls_filter(arena, C); }

const char *box_call_name(Arena *arena, int number)
{
    char *name = seccomp_syscall_resolve_num_arch(SCMP_ARCH_NATIVE, number);
    if (!name)
        return str_format(arena, "system call %d", number);
    char *copy = str_dup(arena, str_from(name));
    free(name);
    return copy;
}
