/* Keeps the cache of compiled programs from growing without end: when a folder holds more than it
 * should, the files that were written longest ago go first. */
#include "twin/twin_int.h"

#include "base/file.h"
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct CachedFile {
    const char *path;
    int64_t written;
    uint64_t bytes;
} CachedFile;

static int by_age(const void *a, const void *b)
{
    const CachedFile *x = a, *y = b;
    return x->written < y->written ? -1 : x->written > y->written;
}

typedef VEC(CachedFile) CachedFiles;

static uint64_t list_files(Arena *arena, const char *dir, CachedFiles *files)
{
    Diag quiet = diag_make(arena, dir, (Str){0});
    NameList names = {0};
    uint64_t total = 0;
    struct stat st;
    file_list(arena, dir, &names, &quiet);
    for (uint32_t i = 0; i < names.len; i++) {
        CachedFile file = {.path = path_join(arena, dir, names.at[i])};
        if (lstat(file.path, &st) != 0 || !S_ISREG(st.st_mode))
            continue;
        file.written = (int64_t)st.st_mtim.tv_sec;
        file.bytes = (uint64_t)st.st_size;
        total += file.bytes;
        vec_push(arena, files, file);
    }
    return total;
}

uint64_t twin_cache_prune(const char *dir, uint64_t most, uint64_t keep)
{
    Arena arena = {0};
    CachedFiles files = {0};
    uint64_t total = list_files(&arena, dir, &files);
    if (total > most) {
        qsort(files.at, files.len, sizeof *files.at, by_age);
        for (uint32_t i = 0; total > keep && i < files.len; i++)
            if (unlink(files.at[i].path) == 0)
                total -= files.at[i].bytes;
    }
    arena_drop(&arena);
    return total;
}
