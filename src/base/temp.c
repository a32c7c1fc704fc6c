/* Temporary directories: in goes a prefix, out comes a locked directory; those of killed owners
 * are removed, too. */
#include "base/temp.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"

enum { SUFFIX = 7 }; /* "-xxxxxx" */

/* A descriptor of the directory with its lock; -1 with errno: not ours, no directory, in use. */
static int lock_dir(const char *path)
{
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0)
        return -1;
    struct stat at;
    bool ours = fstat(fd, &at) == 0 && at.st_uid == geteuid();
    if (ours && flock(fd, LOCK_EX | LOCK_NB) == 0)
        return fd;
    int why = ours ? errno : EPERM;
    close(fd);
    errno = why;
    return -1;
}

static bool has_prefix(const char *name, const char *prefix)
{
    size_t length = strlen(prefix);
    return strlen(name) == length + SUFFIX && strncmp(name, prefix, length) == 0 &&
           name[length] == '-';
}

static void remove_left_behind(Arena *arena, const char *root, const char *prefix)
{
    Diag unheard = diag_make(arena, root, (Str){0});
    DIR *all = opendir(root);
    const struct dirent *entry;
    while (all && (entry = readdir(all))) {
        if (!has_prefix(entry->d_name, prefix))
            continue;
        TempDir left = {.path = path_join(arena, root, entry->d_name)};
        left.lock = lock_dir(left.path);
        if (left.lock >= 0)
            temp_dir_remove(&left, &unheard);
    }
    if (all)
        closedir(all);
}

/* False when another run took the new directory for one left behind, before it was locked. */
static bool keep(TempDir *dir)
{
    dir->lock = lock_dir(dir->path);
    if (dir->lock < 0)
        return errno != EWOULDBLOCK && errno != ENOENT; /* a file system without locks will do */
    if (file_is_dir(dir->path))
        return true;
    close(dir->lock);
    return false;
}

bool temp_dir_make(Arena *arena, const char *prefix, TempDir *dir, Diag *diag)
{
    do {
        if (!file_temp_dir(arena, prefix, &dir->path, diag))
            return false;
    } while (!keep(dir));
    remove_left_behind(arena, path_dir(arena, dir->path), prefix);
    return true;
}

bool temp_dir_remove(TempDir *dir, Diag *diag)
{
    bool ok = file_remove_tree(dir->path, diag);
    if (dir->lock >= 0)
        close(dir->lock);
    dir->lock = -1;
    return ok;
}
