/* Landlock, the wall that needs no privilege: files outside the given paths, TCP, and signals
 * and abstract sockets leaving the box are refused by the kernel. The interface grew with the
 * kernel; the headers of the build machine may be older than the kernel it runs on, so the
 * numbers stand here and the version is read at run time. */
#include "box/box_int.h"

#include <fcntl.h>
#include <linux/landlock.h>
#include <sys/syscall.h>
#include <unistd.h>

enum {
    CREATE_RULESET = 444, /* these numbers are equal on every architecture */
    ADD_RULE = 445,
    RESTRICT_SELF = 446,
    ASK_VERSION = 1,
};

/* Rights on files, by the bit that the kernel gives them. */
enum {
    FS_EXECUTE = 1 << 0,
    FS_WRITE_FILE = 1 << 1,
    FS_READ_FILE = 1 << 2,
    FS_READ_DIR = 1 << 3,
    FS_ALL_V1 = (1 << 13) - 1,
    FS_REFER = 1 << 13,     /* version 2 */
    FS_TRUNCATE = 1 << 14,  /* version 3 */
    FS_IOCTL_DEV = 1 << 15, /* version 5 */
    FS_READ = FS_EXECUTE | FS_READ_FILE | FS_READ_DIR,
    FS_OF_A_FILE = FS_EXECUTE | FS_WRITE_FILE | FS_READ_FILE | FS_TRUNCATE | FS_IOCTL_DEV,
    NET_ALL = 3,   /* version 4: bind and connect TCP */
    SCOPE_ALL = 3, /* version 6: abstract sockets, signals */
};

typedef struct Ruleset {
    uint64_t fs, net, scoped;
} Ruleset;

static uint64_t fs_rights(long version)
{
    uint64_t rights = FS_ALL_V1;
    if (version >= 2)
        rights |= FS_REFER;
    if (version >= 3)
        rights |= FS_TRUNCATE;
    if (version >= 5)
        rights |= FS_IOCTL_DEV;
    return rights;
}

static size_t ruleset_size(long version) { return version >= 6 ? 24 : version >= 4 ? 16 : 8; }

static bool add_path(int ruleset, const BoxMount *mount, uint64_t handled)
{
    int fd = open(mount->source, O_PATH | O_CLOEXEC);
    if (fd < 0)
        return false;
    uint64_t allowed = mount->writable ? handled : FS_READ;
    if (!mount->is_dir)
        allowed = (allowed | (mount->is_device ? FS_WRITE_FILE : 0)) & FS_OF_A_FILE & handled;
    struct landlock_path_beneath_attr rule = {.allowed_access = allowed, .parent_fd = fd};
    bool ok = syscall(ADD_RULE, ruleset, LANDLOCK_RULE_PATH_BENEATH, &rule, 0) == 0;
    close(fd);
    return ok;
}

uint32_t box_landlock_enter(const BoxPlan *plan)
{
    long version = syscall(CREATE_RULESET, NULL, 0, ASK_VERSION);
    if (version < 1 || (plan->spec->without & WALL_BIT(LANDLOCK)))
        return 0;
    Ruleset rules = {.fs = fs_rights(version), .net = NET_ALL, .scoped = SCOPE_ALL};
    int ruleset = (int)syscall(CREATE_RULESET, &rules, ruleset_size(version), 0);
    if (ruleset < 0)
        return 0;
    bool ok = true;
    for (uint32_t i = 0; i < plan->mount_count; i++)
        ok = add_path(ruleset, &plan->mounts[i], rules.fs) && ok;
    ok = ok && syscall(RESTRICT_SELF, ruleset, 0) == 0;
    close(ruleset);
    if (!ok)
        return 0;
    return WALL_BIT(LANDLOCK) | (version >= 6 ? WALL_BIT(SCOPE) : 0);
}
