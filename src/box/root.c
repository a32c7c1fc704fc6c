/* The child's file system: an empty, read-only memory file system in which only the paths of the
 * plan appear, at their old places. In: the plan's mounts. Out: the process stands in the new
 * root and the old one is gone. Runs between clone and exec: no memory, no printing. */
#include "box/box_int.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Any directory that exists everywhere; it is covered by the new root and never seen again. */
static const char stage[] = "/tmp";

/* mount_setattr(2), which glibc 2.36 declares only with newer kernel headers. */
typedef struct MountAttr {
    uint64_t set, clear, propagation, user_fd;
} MountAttr;
enum { SYS_MOUNT_SETATTR = 442, ATTR_READ_ONLY = 1, ATTR_NO_SUID = 2, ATTR_NO_DEV = 4 };

static bool collect_one(BoxMount *mount)
{
    mount->tree = open_tree(AT_FDCWD, mount->source,
                            OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_RECURSIVE);
    if (mount->tree < 0)
        return false;
    /* A device (only /dev/null comes in) would be dead under ATTR_NO_DEV. */
    MountAttr attr = {.set = ATTR_NO_SUID | (mount->is_device ? 0 : ATTR_NO_DEV) |
                             (mount->writable || mount->is_device ? 0 : ATTR_READ_ONLY)};
    return syscall(SYS_MOUNT_SETATTR, mount->tree, "", AT_EMPTY_PATH | AT_RECURSIVE, &attr,
                   sizeof attr) == 0;
}

bool box_root_collect(const BoxPlan *plan)
{
    if (mount("", "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0)
        return false;
    for (uint32_t i = 0; i < plan->mount_count; i++)
        if (!collect_one(&plan->mounts[i]))
            return false;
    return true;
}

static bool make_parents(const char *target)
{
    char path[4096];
    size_t len = strlen(target);
    if (len >= sizeof path) {
        errno = ENAMETOOLONG;
        return false;
    }
    for (size_t i = 0; i <= len; i++) {
        if (target[i] == '/' && i > 0) {
            path[i] = 0;
            if (mkdir(path, 0755) != 0 && errno != EEXIST)
                return false;
        }
        path[i] = target[i];
    }
    return true;
}

static bool make_point(const BoxMount *mount)
{
    if (!make_parents(mount->target))
        return false;
    if (mount->is_dir)
        return mkdir(mount->target, 0755) == 0 || errno == EEXIST;
    int fd = open(mount->target, O_CREAT | O_WRONLY | O_CLOEXEC, 0644);
    return fd >= 0 && close(fd) == 0;
}

static bool attach(const BoxMount *mount)
{
    bool ok = make_point(mount) &&
              move_mount(mount->tree, "", AT_FDCWD, mount->target, MOVE_MOUNT_F_EMPTY_PATH) == 0;
    close(mount->tree);
    return ok;
}

bool box_root_build(const BoxPlan *plan)
{
    if (mount("box", stage, "tmpfs", MS_NOSUID | MS_NODEV | MS_NOEXEC, "size=1m,mode=755") != 0 ||
        chdir(stage) != 0)
        return false;
    for (uint32_t i = 0; i < plan->mount_count; i++)
        if (!attach(&plan->mounts[i]))
            return false;
    if (syscall(SYS_pivot_root, ".", ".") != 0 || umount2(".", MNT_DETACH) != 0 || chdir("/") != 0)
        return false;
    return mount(NULL, "/", NULL,
                 MS_REMOUNT | MS_BIND | MS_RDONLY | MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL) == 0;
}
