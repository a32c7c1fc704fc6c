/* Where the twin's parts are on this machine: our headers (an installation beside the program or
 * the build tree), the compiler, the cache. In: options and environment. Out: TwinPlaces, or a
 * verdict that names what to install or set. */
#include "twin/twin_int.h"

#include "base/file.h"
#include "base/hash.h"
#include "base/home.h"
#include "base/proc.h"
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MOST_HEADER_FILES = 2000, MOST_DEPTH = 8 };

static const char *real_path(Arena *arena, const char *path)
{
    char real[PATH_MAX];
    return realpath(path, real) ? str_dup(arena, str_from(real)) : NULL;
}

static const char *find_cache(Arena *arena, const TwinOptions *options)
{
    if (options->no_cache)
        return NULL;
    if (options->cache)
        return options->cache;
    const char *base = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    if (base && base[0] == '/')
        return path_join(arena, base, "acraft");
    return home && home[0] == '/' ? path_join(arena, home, ".cache/acraft") : NULL;
}

static const char *first_program(Arena *arena, const char *const *names)
{
    for (; *names; names++) {
        const char *path = proc_find(arena, *names);
        const char *real = path ? real_path(arena, path) : NULL;
        if (real && str_is(path_base(real), "ccache")) /* stands before the compiler on PATH */
            real = real_path(arena, str_format(arena, "/usr/bin/%s", *names));
        if (real)
            return real;
    }
    return NULL;
}

static bool find_compiler(Arena *arena, TwinPlaces *places)
{
    static const char *const clangs[] = {"clang++",    "clang++-19", "clang++-18", "clang++-17",
                                         "clang++-16", "clang++-15", "clang++-14", NULL};
    static const char *const gccs[] = {"g++", NULL};
    const char *forced = getenv("ACRAFT_CXX");
    const char *const only[] = {forced, NULL};
    if (forced && *forced)
        places->compiler = first_program(arena, only);
    else
        places->compiler = first_program(arena, clangs);
    if (!places->compiler && !(forced && *forced))
        places->compiler = first_program(arena, gccs);
    if (!places->compiler)
        return false;
    places->is_clang = str_find(str_from(places->compiler), STR("clang")) >= 0;
    places->linker = proc_find(arena, "ld.lld") ? "-fuse-ld=lld" : NULL;
    return true;
}

/* --- the hash of what every compilation rests on --------------------------------------------- */

typedef struct HeaderWalk {
    Arena *arena;
    Sha256 sha;
    uint32_t files;
    bool ok;
} HeaderWalk;

static void hash_tree(HeaderWalk *walk, const char *path, int depth)
{
    Diag diag = diag_make(walk->arena, path, (Str){0});
    NameList names = {0};
    Str text;
    if (depth > MOST_DEPTH || walk->files > MOST_HEADER_FILES) {
        walk->ok = false;
    } else if (file_is_dir(path)) {
        walk->ok = file_list(walk->arena, path, &names, &diag) && walk->ok;
        for (uint32_t i = 0; i < names.len; i++)
            hash_tree(walk, path_join(walk->arena, path, names.at[i]), depth + 1);
    } else if (file_read(walk->arena, path, 16 << 20, &text, &diag)) {
        walk->files++;
        sha256_add(&walk->sha, path, strlen(path) + 1);
        sha256_add(&walk->sha, text.at, text.len);
    } else {
        walk->ok = false;
    }
}

static void hash_compiler(HeaderWalk *walk, const TwinPlaces *places)
{
    struct stat st = {0};
    walk->ok = stat(places->compiler, &st) == 0 && walk->ok;
    sha256_add(&walk->sha, places->compiler, strlen(places->compiler) + 1);
    sha256_add(&walk->sha, &st.st_size, sizeof st.st_size);
    sha256_add(&walk->sha, &st.st_mtim, sizeof st.st_mtim);
}

static bool hash_headers(TwinPlaces *places)
{
    static const char *const parts[] = {"twin", "src/sim/record.h", "src/npu/isa.h",
                                        "src/npu/isa.def", "src/base/dtype.def"};
    Arena scratch = {0};
    HeaderWalk walk = {.arena = &scratch, .sha = sha256_begin(), .ok = true};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        hash_tree(&walk, path_join(&scratch, places->home, parts[i]), 0);
    hash_compiler(&walk, places);
    sha256_end(&walk.sha, places->headers_hash);
    arena_drop(&scratch);
    return walk.ok;
}

bool twin_places_find(Arena *arena, const TwinOptions *options, TwinPlaces *places,
                      Verdict *verdict)
{
    *places = (TwinPlaces){0};
    places->home = home_find(arena, options->home, "twin/include/acraft/core.h");
    if (!places->home) {
        verdict_fail(verdict, VERDICT_NO_TOOL, STAGE_COMPILE,
                     "the AscendC headers of acraft are not beside the program; set ACRAFT_HOME "
                     "to the folder that holds twin/include");
        return false;
    }
    if (!find_compiler(arena, places)) {
        verdict_fail(verdict, VERDICT_NO_TOOL, STAGE_COMPILE,
                     "no C++ compiler found: install the package clang (or g++), or set "
                     "ACRAFT_CXX");
        return false;
    }
    if (!hash_headers(places)) {
        verdict_fail(verdict, VERDICT_INTERNAL, STAGE_COMPILE,
                     str_format(arena, "cannot read the headers below %s", places->home));
        return false;
    }
    places->cache = find_cache(arena, options);
    return true;
}

bool twin_places_other(Arena *arena, const TwinPlaces *places, TwinPlaces *other)
{
    static const char *const gccs[] = {"g++", NULL};
    const char *forced = getenv("ACRAFT_CXX");
    *other = *places;
    if (!places->is_clang || (forced && *forced))
        return false;
    other->compiler = first_program(arena, gccs);
    other->is_clang = false;
    return other->compiler && hash_headers(other);
}

const NpuChip *twin_chip(const TwinOptions *options)
{
    return options->chip ? options->chip : npu_chip_find(STR("910B2"));
}
