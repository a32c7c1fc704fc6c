/* Files to a directory. In: files. Out: the directory, with `.acraft` listing what was written. A
 * directory without that list, unless empty, is somebody else's and is refused.
 *
 * All files are first written to `.acraft-new` inside it, then moved to their places: where the disc
 * fills up or the program is stopped, what stood there before stands there still. One writer at a
 * time: the directory is locked. */
#include "emit/emit.h"

#include "base/file.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

static const char marker[] = ".acraft", unfinished[] = ".acraft-new";

/* Nothing in it, or what a stopped run left. */
static bool is_empty(const NameList *names)
{
    return names->len == 0 || (names->len == 1 && !strcmp(names->at[0], unfinished));
}

bool emit_may_write(Arena *arena, const char *dir, Diag *diag)
{
    if (!file_exists(dir))
        return file_make_dirs(dir, diag);
    NameList names = {0};
    bool is_dir = file_is_dir(dir);
    if (is_dir && !file_list(arena, dir, &names, diag))
        return false;
    if (is_dir && (is_empty(&names) || file_exists(path_join(arena, dir, marker))))
        return true;
    diag_error(diag, "E098", (Span){0}, "%s was not written by acraft: it is left as it is", dir);
    diag_hint(diag, "name a new directory with -o");
    return false;
}

/* What an earlier run wrote and this one does not. */
static void remove_old(Arena *arena, const char *dir, const EmitFiles *files, Diag *diag)
{
    const char *list = path_join(arena, dir, marker);
    Str text, line;
    if (!file_exists(list) || !file_read(arena, list, 1 << 20, &text, diag))
        return;
    while (str_next(&text, '\n', &line)) {
        bool again = !line.len || line.at[0] == '/' || str_find(line, STR("..")) >= 0;
        for (uint32_t i = 0; i < files->len && !again; i++)
            again = str_is(line, files->at[i].path);
        if (!again)
            unlink(path_join(arena, dir, str_dup(arena, line)));
    }
}

static bool write_one(Arena *arena, const char *dir, const EmitFile *f, Diag *diag)
{
    const char *path = path_join(arena, dir, f->path);
    if (!file_make_dirs(path_dir(arena, path), diag) || !file_write(path, f->text, diag))
        return false;
    if (f->executable && chmod(path, 0755) != 0) {
        diag_error(diag, "E099", (Span){0}, "%s: %s", path, strerror(errno));
        return false;
    }
    return true;
}

static bool move_one(Arena *arena, const char *from, const char *to, const char *path, Diag *diag)
{
    const char *old = path_join(arena, from, path), *place = path_join(arena, to, path);
    if (!file_make_dirs(path_dir(arena, place), diag))
        return false;
    if (rename(old, place) == 0)
        return true;
    diag_error(diag, "F002", (Span){0}, "cannot write '%s': %s", place, strerror(errno));
    return false;
}

/* The list of files last: a directory that has it is whole. */
static bool write_beside(Arena *arena, const char *dir, const EmitFiles *files, Diag *diag)
{
    Buf list = {0};
    bool ok = true;
    for (uint32_t i = 0; ok && i < files->len; i++) {
        buf_printf(&list, "%s\n", files->at[i].path);
        ok = write_one(arena, dir, &files->at[i], diag);
    }
    ok = ok && file_write(path_join(arena, dir, marker), buf_view(&list), diag);
    buf_free(&list);
    return ok;
}

static bool write_locked(Arena *arena, const char *dir, const EmitFiles *files, Diag *diag)
{
    const char *beside = path_join(arena, dir, unfinished);
    Diag quiet = diag_make(arena, dir, (Str){0});
    if (file_exists(beside))
        file_remove_tree(beside, &quiet);
    bool ok = file_make_dirs(beside, diag) && write_beside(arena, beside, files, diag);
    if (ok)
        remove_old(arena, dir, files, diag);
    for (uint32_t i = 0; ok && i < files->len; i++)
        ok = move_one(arena, beside, dir, files->at[i].path, diag);
    ok = ok && move_one(arena, beside, dir, marker, diag);
    file_remove_tree(beside, &quiet);
    return ok;
}

bool emit_write(Arena *arena, const char *dir, const EmitFiles *files, Diag *diag)
{
    if (!emit_may_write(arena, dir, diag))
        return false;
    int lock = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    bool held = lock >= 0 && flock(lock, LOCK_EX) == 0;
    bool ok = held && write_locked(arena, dir, files, diag);
    if (!held)
        diag_error(diag, "F002", (Span){0}, "cannot write '%s': %s", dir, strerror(errno));
    if (lock >= 0)
        close(lock);
    return ok;
}
