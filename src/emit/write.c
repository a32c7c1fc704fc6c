/* Files to a directory. In: files. Out: the directory, with `.acraft` listing what was written. A
 * directory without that list, unless empty, is somebody else's and is refused. */
#include "emit/emit.h"

#include "base/file.h"
#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char marker[] = ".acraft";

bool emit_may_write(Arena *arena, const char *dir, Diag *diag)
{
    if (!file_exists(dir))
        return file_make_dirs(dir, diag);
    NameList names = {0};
    bool is_dir = file_is_dir(dir);
    if (is_dir && !file_list(arena, dir, &names, diag))
        return false;
    if (is_dir && (!names.len || file_exists(path_join(arena, dir, marker))))
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

bool emit_write(Arena *arena, const char *dir, const EmitFiles *files, Diag *diag)
{
    if (!emit_may_write(arena, dir, diag))
        return false;
    remove_old(arena, dir, files, diag);
    Buf list = {0};
    bool ok = true;
    for (uint32_t i = 0; ok && i < files->len; i++) {
        buf_printf(&list, "%s\n", files->at[i].path);
        ok = write_one(arena, dir, &files->at[i], diag);
    }
    buf_puts(&list, "");
    ok = ok && file_write(path_join(arena, dir, marker), buf_view(&list), diag);
    buf_free(&list);
    return ok;
}
