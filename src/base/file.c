/* Files, directories and paths. */
#include "base/file.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const Span no_place = {0, 0, 0};

/* errno as the reason; always false, so that callers can return it. */
static bool fail_file(Diag *diag, const char *code, const char *doing, const char *path)
{
    diag_error(diag, code, no_place, "cannot %s '%s': %s", doing, path, strerror(errno));
    return false;
}

/* --- reading and writing --------------------------------------------------------------- */

enum { PIPE_PATIENCE_MS = 10000 };

/* False: nobody has written into the pipe for a while. */
static bool wait_for_writer(int fd)
{
    struct pollfd one = {.fd = fd, .events = POLLIN};
    if (poll(&one, 1, PIPE_PATIENCE_MS) > 0)
        return true;
    errno = ETIMEDOUT;
    return false;
}

static bool read_all(int fd, size_t most, Buf *text)
{
    char chunk[65536];
    for (;;) {
        ssize_t got = read(fd, chunk, sizeof chunk);
        if (got < 0 && (errno == EINTR || (errno == EAGAIN && wait_for_writer(fd))))
            continue;
        if (got < 0)
            return false;
        if (got == 0)
            return true;
        if (text->len + (size_t)got > most) {
            errno = EFBIG;
            return false;
        }
        buf_add(text, chunk, (size_t)got);
    }
}

/* A named pipe that nobody writes would be waited for for ever; one with a writer, as shells make
 * them of <(command), is read. */
static int open_to_read(const char *path)
{
    struct stat st;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0 || (fstat(fd, &st) == 0 && S_ISFIFO(st.st_mode)))
        return fd;
    int flags = fcntl(fd, F_GETFL);
    if (flags >= 0)
        fcntl(fd, F_SETFL, flags & ~O_NONBLOCK);
    return fd;
}

bool file_read(Arena *arena, const char *path, size_t most, Str *text, Diag *diag)
{
    int fd = open_to_read(path);
    if (fd < 0)
        return fail_file(diag, "F001", "read", path);
    Buf held = {0};
    bool ok = read_all(fd, most ? most : (size_t)1 << 30, &held);
    if (ok)
        *text = str_copy(arena, buf_view(&held));
    else
        fail_file(diag, "F001", "read", path);
    buf_free(&held);
    close(fd);
    return ok;
}

static bool write_all(int fd, Str text)
{
    while (text.len) {
        ssize_t put = write(fd, text.at, text.len);
        if (put < 0 && errno != EINTR)
            return false;
        if (put > 0)
            text = str_slice(text, (size_t)put, text.len);
    }
    return true;
}

static bool write_and_close(int fd, Str text)
{
    bool ok = write_all(fd, text);
    int reason = errno;
    if (close(fd) < 0 && ok)
        return false;
    if (!ok)
        errno = reason;
    return ok;
}

/* A new file beside `path`; its name goes to `name`. */
static int open_beside(const char *path, char *name, size_t size)
{
    for (int i = 0; i < 1000; i++) {
        snprintf(name, size, "%s.%ld-%d.tmp", path, (long)getpid(), i);
        int fd = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (fd >= 0 || errno != EEXIST)
            return fd;
    }
    return -1;
}

static bool write_renamed(const char *path, const struct stat *old, Str text)
{
    size_t size = strlen(path) + 64;
    char *name = heap_alloc(size);
    int fd = open_beside(path, name, size);
    bool ok = fd >= 0;
    if (ok && old)
        ok = fchmod(fd, old->st_mode & 07777) == 0;
    if (fd >= 0) {
        ok = write_and_close(fd, text) && ok && rename(name, path) == 0;
        int reason = errno;
        if (!ok)
            unlink(name);
        errno = reason;
    }
    heap_free(name);
    return ok;
}

/* Devices, pipes and links are written to, never replaced. */
static bool write_in_place(const char *path, Str text)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    return fd >= 0 && write_and_close(fd, text);
}

bool file_write(const char *path, Str text, Diag *diag)
{
    struct stat old;
    bool exists = lstat(path, &old) == 0;
    bool ok = exists && !S_ISREG(old.st_mode) ? write_in_place(path, text)
                                              : write_renamed(path, exists ? &old : NULL, text);
    return ok || fail_file(diag, "F002", "write", path);
}

/* --- directories ----------------------------------------------------------------------- */

bool file_exists(const char *path) { return access(path, F_OK) == 0; }

bool file_is_plain(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && S_ISREG(st.st_mode);
}

bool file_is_link(const char *path)
{
    struct stat st;
    return lstat(path, &st) == 0 && S_ISLNK(st.st_mode);
}

bool file_is_dir(const char *path)
{
    struct stat at;
    return stat(path, &at) == 0 && S_ISDIR(at.st_mode);
}

bool file_make_dirs(const char *path, Diag *diag)
{
    char *part = strdup(path);
    bool ok = part != NULL;
    for (size_t i = 1; ok && i <= strlen(path); i++) {
        if (path[i] != '/' && path[i] != 0)
            continue;
        part[i] = 0;
        ok = mkdir(part, 0777) == 0 || errno == EEXIST;
        part[i] = path[i];
    }
    free(part);
    if (ok && !file_is_dir(path)) {
        errno = ENOTDIR;
        ok = false;
    }
    return ok || fail_file(diag, "F003", "make directory", path);
}

static int compare_names(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

bool file_list(Arena *arena, const char *path, NameList *names, Diag *diag)
{
    DIR *dir = opendir(path);
    if (!dir)
        return fail_file(diag, "F003", "list", path);
    *names = (NameList){0};
    const struct dirent *entry;
    while ((errno = 0, entry = readdir(dir)))
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            vec_push(arena, names, str_dup(arena, str_from(entry->d_name)));
    bool ok = errno == 0 || fail_file(diag, "F003", "list", path);
    closedir(dir);
    if (names->len)
        qsort(names->at, names->len, sizeof *names->at, compare_names);
    return ok;
}

static int remove_one(const char *path, const struct stat *at, int kind, struct FTW *where)
{
    (void)at, (void)kind, (void)where;
    return remove(path);
}

bool file_remove_tree(const char *path, Diag *diag)
{
    if (nftw(path, remove_one, 32, FTW_DEPTH | FTW_PHYS) == 0 || errno == ENOENT)
        return true;
    return fail_file(diag, "F003", "remove", path);
}

bool file_temp_dir(Arena *arena, const char *prefix, const char **path, Diag *diag)
{
    const char *root = getenv("TMPDIR");
    if (!root || !*root)
        root = "/tmp";
    char *name = str_format(arena, "%s/%s-XXXXXX", root, prefix);
    if (!mkdtemp(name))
        return fail_file(diag, "F003", "make directory", name);
    *path = name;
    return true;
}

/* --- paths ----------------------------------------------------------------------------- */

const char *path_join(Arena *arena, const char *dir, const char *name)
{
    if (name[0] == '/' || dir[0] == 0)
        return str_format(arena, "%s", name);
    return str_format(arena, "%s%s%s", dir, str_ends(str_from(dir), "/") ? "" : "/", name);
}

const char *path_dir(Arena *arena, const char *path)
{
    const char *slash = strrchr(path, '/');
    if (!slash)
        return ".";
    if (slash == path)
        return "/";
    return str_dup(arena, (Str){path, (size_t)(slash - path)});
}

Str path_base(const char *path)
{
    const char *slash = strrchr(path, '/');
    return str_from(slash ? slash + 1 : path);
}

Str path_stem(const char *path)
{
    Str base = path_base(path);
    size_t len = base.len;
    while (len > 0 && base.at[len - 1] != '.')
        len--;
    return len > 1 ? str_slice(base, 0, len - 1) : base;
}
