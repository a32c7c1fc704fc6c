/* Compiler runs in the box, with a cache. In: a translation unit. Out: a static program in a
 * memory file, and what its object file declares.
 *
 *     unit.cpp + header (precompiled) --> unit.o --> looked at --> + core_rt.o --> program
 *
 * The cache is addressed by content: unit text, flags, our headers, the compiler. Files that the
 * unit includes from elsewhere are listed beside the program with their own hashes and looked at
 * again before it is used. */
#include "twin/twin_int.h"

#include "base/file.h"
#include "base/hash.h"
#include "base/temp.h"
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* Bytes of compiled programs in the cache: at most, and after cleaning. */
#define CACHE_MOST (1ull << 30)
#define CACHE_KEEP (512ull << 20)
#define HEADERS_MOST (256ull << 20) /* bytes of precompiled headers that the cache may hold */
#define HEADERS_KEEP (128ull << 20)

typedef VEC(const char *) Words;

typedef struct Build {
    Arena *arena;
    const TwinPlaces *places;
    const BuildUnit *unit;
    const TwinOptions *options;
    const char *dir;   /* private working directory */
    const char *stem;  /* path in the cache without suffix; NULL: no cache */
    const char *shown; /* of the text being compiled */
    Verdict *verdict;
    Diag *diag;
} Build;

static const char *const system_paths[] = {
    "/usr", "/bin", "/lib", "/lib64", "/etc/alternatives", "/dev/null", NULL};

static void add_word(Build *b, Words *words, const char *word) { vec_push(b->arena, words, word); }

static void add_words(Build *b, Words *words, const char *const *list)
{
    for (; list && *list; list++)
        add_word(b, words, *list);
}

static const char *in_home(Build *b, const char *name)
{
    return path_join(b->arena, b->places->home, name);
}

static const char *in_dir(Build *b, const char *name) { return path_join(b->arena, b->dir, name); }

/* --- running a compiler ---------------------------------------------------------------------- */

static Words readable_paths(Build *b)
{
    Words paths = {0};
    add_words(b, &paths, system_paths);
    add_word(b, &paths, in_home(b, "twin"));
    add_word(b, &paths, in_home(b, "src"));
    if (b->places->cache && file_is_dir(b->places->cache))
        add_word(b, &paths, b->places->cache);
    for (const char *const *dir = b->unit->include_dirs; dir && *dir; dir++)
        if ((*dir)[0] == '/')
            add_word(b, &paths, *dir);
    add_word(b, &paths, NULL);
    return paths;
}

enum { WALK_MOST = 20000, WALK_DEPTH = 8 };

/* A header by its name, or named in the text. */
static bool may_be_included(Build *b, const char *name)
{
    static const char *const suffixes[] = {".h", ".hpp", ".hh", ".inc", ".def", ".cpp", ".cc"};
    for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes; i++)
        if (str_ends(str_from(name), suffixes[i]))
            return true;
    for (uint32_t i = 0; i < b->unit->text_count; i++)
        if (str_find(b->unit->texts[i].text, str_from(name)) >= 0)
            return true;
    return false;
}

/* The first pipe or device below a directory: a compiler that includes one would wait for ever. */
static const char *find_pipe(Build *b, const char *dir, int depth, uint32_t *seen)
{
    NameList names = {0};
    Diag quiet = diag_make(b->arena, dir, (Str){0});
    if (depth > WALK_DEPTH || !file_list(b->arena, dir, &names, &quiet))
        return NULL;
    for (uint32_t i = 0; i < names.len && ++*seen < WALK_MOST; i++) {
        const char *path = path_join(b->arena, dir, names.at[i]), *inside = NULL;
        if (file_is_dir(path))
            inside = file_is_link(path) ? NULL : find_pipe(b, path, depth + 1, seen);
        else if (file_exists(path) && !file_is_plain(path) && may_be_included(b, names.at[i]))
            inside = path;
        if (inside)
            return inside;
    }
    return NULL;
}

static bool includes_ok(Build *b)
{
    uint32_t seen = 0;
    const char *pipe = NULL;
    for (const char *const *dir = b->unit->include_dirs; dir && *dir && !pipe; dir++)
        if (!str_starts(str_from(*dir), "/proc/") && !str_starts(str_from(*dir), "/dev"))
            pipe = find_pipe(b, *dir, 0, &seen);
    if (pipe)
        verdict_fail(b->verdict, VERDICT_NOT_COMPILED, STAGE_COMPILE,
                     str_format(b->arena, "%s is a pipe or device, not a file to include", pipe));
    return !pipe;
}

static BoxResult run_compiler(Build *b, Words *words)
{
    add_word(b, words, NULL);
    Words paths = readable_paths(b);
    const char *const env[] = {"PATH=/usr/bin:/bin", "LC_ALL=C", "TMPDIR=.", NULL};
    double seconds = b->options->compile_seconds > 0 ? b->options->compile_seconds : 30;
    BoxSpec spec = {.argv = words->at,
                    .env = env,
                    .profile = BOX_TOOL,
                    .as_self = true,
                    .readable = paths.at,
                    .writable = b->dir,
                    .seconds = 4 * seconds, /* a busy machine is not the text's fault */
                    .cpu_seconds = seconds,
                    .memory = b->options->memory ? b->options->memory : 2ull << 30,
                    .file_bytes = 512 << 20,
                    .output = 256 << 10,
                    .stack = 64 << 20,
                    .allow_missing = b->options->trust};
    BoxResult result;
    box_run(b->arena, &spec, &result);
    return result;
}

static bool out_of_memory(const BoxResult *box)
{
    return box->end == BOX_MEMORY || str_find(box->err, STR("out of memory")) >= 0 ||
           str_find(box->err, STR("bad_alloc")) >= 0;
}

/* What our own headers reported before a program died: " (it read ...)"; "": nothing. */
static const char *last_words(Arena *arena, Str said)
{
    Str line;
    while (str_next(&said, '\n', &line))
        if (str_starts(line, "acraft: "))
            return str_format(arena, " (%.*s)", STR_ARG(str_slice(line, 8, line.len)));
    return "";
}

bool twin_build_box_ok(Arena *arena, const BoxResult *box, VerdictStage stage, Verdict *verdict)
{
    if (box->missing && !verdict->walls_missing[0])
        verdict->walls_missing = box->missing;
    if (box->end == BOX_EXITED && box->status == 0)
        return true;
    const char *who = stage == STAGE_COMPILE  ? "the compiler"
                      : stage == STAGE_TILING ? "the host code"
                                              : "the program";
    const char *text = str_format(arena, "%s %s", who, box_end_text(box->end));
    if (box->end == BOX_REFUSED)
        verdict_fail(verdict, VERDICT_NO_WALL, stage, box->reason);
    else if (box->end == BOX_FAILED)
        verdict_fail(verdict, VERDICT_INTERNAL, stage, box->reason);
    else if (box->end == BOX_NO_PROGRAM) /* what a text was made into does not start: its doing */
        verdict_fail(verdict, stage == STAGE_COMPILE ? VERDICT_INTERNAL : VERDICT_NOT_COMPILED,
                     stage, box->reason);
    else if (box->end == BOX_TIMEOUT)
        verdict_fail(verdict, VERDICT_TIMEOUT, stage, text);
    else if (out_of_memory(box))
        verdict_fail(verdict, VERDICT_MEMORY, stage,
                     str_format(arena, "%s ran out of memory", who));
    else if (box->end == BOX_OUTPUT)
        verdict_fail(verdict, VERDICT_OUTPUT, stage, text);
    else if (box->end == BOX_FORBIDDEN)
        verdict_fail(verdict, VERDICT_FORBIDDEN, stage, text);
    else if (box->end == BOX_SIGNAL)
        verdict_fail(verdict, stage == STAGE_COMPILE ? VERDICT_NOT_COMPILED : VERDICT_CRASHED,
                     stage,
                     str_format(arena, "%s: %s%s", text, strsignal(box->status),
                                last_words(arena, box->err)));
    return false;
}

/* The first line that says error, or the end of what was written. Some linkers do not say the word:
 * then it is the line before the compiler's own that the linker failed. */
static Str error_line(Str text)
{
    Str line, before = {0}, rest = text;
    for (; str_next(&rest, '\n', &line); before = line) {
        ptrdiff_t at = str_find(line, STR("error: "));
        if (at >= 0 && before.len && str_find(line, STR("linker command failed")) >= 0)
            return str_trim(before);
        if (at >= 0)
            return str_trim(str_slice(line, (size_t)at + 7, line.len));
    }
    return str_trim(str_slice(text, text.len > 300 ? text.len - 300 : 0, text.len));
}

/* A compiler that stopped: its messages first, else its last output. */
static bool compiler_ok(Build *b, const BoxResult *box)
{
    if (box->end == BOX_EXITED && box->status != 0 && !out_of_memory(box))
        twin_messages_read(b->arena, box->err, b->shown, b->verdict, b->diag);
    if (twin_build_box_ok(b->arena, box, STAGE_COMPILE, b->verdict))
        return true;
    Str said = error_line(box->err);
    verdict_fail(b->verdict, VERDICT_NOT_COMPILED, STAGE_COMPILE,
                 said.len ? str_dup(b->arena, said) : "the compiler failed without a message");
    return false;
}

/* --- flags ----------------------------------------------------------------------------------- */

static const char *const common_flags[] = {
    "-std=c++17",           "-O1", "-w", "-ffp-contract=off", "-fno-stack-protector",
    "-ftemplate-depth=512", NULL};
static const char *const clang_flags[] = {"-fno-color-diagnostics", "-ferror-limit=30",
                                          "-fno-caret-diagnostics", "-ftemplate-backtrace-limit=0",
                                          NULL};
static const char *const gcc_flags[] = {"-fdiagnostics-color=never", "-fmax-errors=30",
                                        "-fno-diagnostics-show-caret", NULL};
/* Work in assembly would leave no records. Host code may have it: the C++ library's headers do. */
static const char *const no_assembly[] = {"-fno-gnu-inline-asm", NULL};
/* Calls the runtime at every edge of the control flow and every comparison (watch_code.h). No attribute of
 * a text switches that off. */
static const char *const code_watch[] = {"-Dno_sanitize(...)=unused",
                                         "-D__no_sanitize__(...)=unused",
                                         "-Dno_sanitize_coverage=unused",
                                         "-D__no_sanitize_coverage__=unused",
                                         "-Ddisable_sanitizer_instrumentation=unused",
                                         "-D__disable_sanitizer_instrumentation__=unused",
                                         NULL};
static const char *const clang_edges[] = {"-fsanitize-coverage=edge,trace-pc,trace-cmp", NULL};
static const char *const gcc_edges[] = {"-fsanitize-coverage=trace-pc,trace-cmp", NULL};
/* Calls the runtime before every load and store, whatever their width; core_memory.h serves them. */
static const char *const clang_watch[] = {"-fsanitize=kernel-address",
                                          "-mllvm",
                                          "-asan-stack=0",
                                          "-mllvm",
                                          "-asan-globals=0",
                                          "-mllvm",
                                          "-asan-instrumentation-with-call-threshold=0",
                                          "-mllvm",
                                          "-asan-opt-same-temp=0",
                                          NULL};
/* g++ watches an address only once where it can prove that it is the same: races are where it sees
 * every access. */
static const char *const gcc_watch[] = {"-fsanitize=thread", NULL};
/* What host code leaves uninitialised is the same in every call: a tiling function that copies a whole
 * array of which it filled a part decides the same each time. */
static const char *const clang_zeros[] = {
    "-ftrivial-auto-var-init=zero",
    "-enable-trivial-auto-var-init-zero-knowing-it-will-be-removed-from-clang", NULL};
static const char *const gcc_zeros[] = {"-ftrivial-auto-var-init=zero", NULL};
static const char *const kernel_flags[] = {
    "-fno-exceptions", "-fno-rtti", "-fno-threadsafe-statics", "-ftls-model=local-exec", NULL};

static void add_flags(Build *b, Words *words)
{
    add_word(b, words, b->places->compiler);
    add_words(b, words, common_flags);
    add_words(b, words, b->places->is_clang ? clang_flags : gcc_flags);
    if (!b->unit->host)
        add_words(b, words, kernel_flags);
    else
        add_words(b, words, b->places->is_clang ? clang_zeros : gcc_zeros);
    if (!b->unit->host && b->places->is_clang)
        add_words(b, words, no_assembly);
    if (!b->unit->host)
        add_words(b, words, b->places->is_clang ? clang_watch : gcc_watch);
    add_words(b, words, code_watch);
    add_words(b, words, b->places->is_clang ? clang_edges : gcc_edges);
    add_words(b, words, b->unit->flags);
    if (b->unit->mixed) {
        add_word(b, words, "-ffunction-sections");
        add_word(b, words, "-fdata-sections");
    }
    const char *const ours[] = {
        "-I", in_home(b, "twin/include"), "-I", in_home(b, "src"), "-I", b->places->home, NULL};
    if (b->unit->host) {
        add_word(b, words, "-I");
        add_word(b, words, in_home(b, "twin/include/host"));
    }
    add_words(b, words, ours);
    if (b->unit->mixed) {
        add_word(b, words, "-I");
        add_word(b, words, in_home(b, "twin/include/host"));
    }
}

static const char *main_header(const Build *b)
{
    if (b->unit->binding)
        return "#include \"acraft/bind/npu.h\"\n";
    return b->unit->host ? "#include \"register/op_def_registry.h\"\n"
                           "#include \"register/tilingdata_base.h\"\n"
                           "#include \"tiling/platform/platform_ascendc.h\"\n"
                         : "#include \"kernel_operator.h\"\n";
}

/* --- the cache ------------------------------------------------------------------------------- */

static void hash_words(Sha256 *sha, const char *const *words)
{
    for (; words && *words; words++)
        sha256_add(sha, *words, strlen(*words) + 1);
    sha256_add(sha, "", 1);
}

/* With `text` the unit's own key, without it that of its precompiled header. */
static const char *cache_stem(Build *b, const char *kind, bool with_text)
{
    if (!b->places->cache)
        return NULL;
    char hex[65];
    Sha256 sha = sha256_begin();
    sha256_add(&sha, b->places->headers_hash, sizeof b->places->headers_hash);
    hash_words(&sha, common_flags);
    hash_words(&sha, b->places->is_clang ? clang_watch : gcc_watch);
    hash_words(&sha, code_watch);
    hash_words(&sha, b->places->is_clang ? clang_edges : gcc_edges);
    hash_words(&sha, b->places->is_clang ? clang_flags : gcc_flags);
    hash_words(&sha, b->unit->flags);
    sha256_add(&sha, b->unit->binding ? "b" : b->unit->host ? "h" : b->unit->mixed ? "m" : "k", 1);
    sha256_add(&sha, b->options->any_import ? "a" : "r", 1);
    if (with_text) {
        hash_words(&sha, b->unit->include_dirs);
        for (uint32_t i = 0; i < b->unit->text_count; i++) {
            sha256_add(&sha, &b->unit->texts[i].text.len, sizeof(size_t));
            sha256_add(&sha, b->unit->texts[i].text.at, b->unit->texts[i].text.len);
        }
    }
    sha256_end(&sha, hex);
    const char *dir = path_join(b->arena, b->places->cache, kind);
    Diag quiet = diag_make(b->arena, dir, (Str){0});
    return file_make_dirs(dir, &quiet) ? path_join(b->arena, dir, hex) : NULL;
}

static const char *with_suffix(Build *b, const char *stem, const char *suffix)
{
    return str_format(b->arena, "%s%s", stem, suffix);
}

/* Puts a file made in the box into the cache; a cache that cannot be written is no error. */
static void keep(Build *b, const char *path, Str bytes)
{
    Diag quiet = diag_make(b->arena, path, (Str){0});
    file_write(path, bytes, &quiet);
}

static bool read_quietly(Build *b, const char *path, Str *bytes)
{
    Diag quiet = diag_make(b->arena, path, (Str){0});
    return file_exists(path) && file_read(b->arena, path, 512 << 20, bytes, &quiet);
}

static bool hash_file(Build *b, const char *path, char hex[65])
{
    Str text;
    if (!read_quietly(b, path, &text))
        return false;
    Sha256 sha = sha256_begin();
    sha256_add(&sha, text.at, text.len);
    sha256_end(&sha, hex);
    return true;
}

/* Whether a file of a make rule is the candidate's: neither ours nor the system's. */
static bool is_foreign(Build *b, Str word)
{
    return word.len && word.at[0] == '/' && !str_starts(word, "/usr/") &&
           !str_starts(word, in_home(b, "twin/")) && !str_starts(word, in_home(b, "src/")) &&
           !str_starts(word, b->dir);
}

/* Headers of a kernel may use no more names than its text. */
static bool headers_ok(Build *b, Str rule)
{
    Str word, text, rest = rule;
    while (!b->options->any_import && !b->unit->host && str_next(&rest, ' ', &word)) {
        word = str_trim(word);
        const char *path = str_dup(b->arena, word), *name;
        if (!is_foreign(b, word) || !read_quietly(b, path, &text) ||
            !(name = twin_names_foreign(b->arena, text)))
            continue;
        twin_names_refuse(b->arena, name, path, b->verdict);
        return false;
    }
    return true;
}

/* A make rule "unit.o: a b \" as "hash path" lines; only files that are neither ours nor the
 * system's. */
static Str list_dependencies(Build *b, Str rule)
{
    Buf out = {0};
    Str word, rest = rule;
    char hex[65];
    while (str_next(&rest, ' ', &word)) {
        word = str_trim(word);
        const char *path = str_dup(b->arena, word);
        if (is_foreign(b, word) && hash_file(b, path, hex))
            buf_printf(&out, "%s %s\n", hex, path);
    }
    Str list = str_copy(b->arena, buf_view(&out));
    buf_free(&out);
    return list;
}

static bool dependencies_hold(Build *b, Str list)
{
    Str line, rest = list;
    char hex[65];
    while (str_next(&rest, '\n', &line)) {
        if (line.len < 66)
            continue;
        const char *path = str_dup(b->arena, str_slice(line, 65, line.len));
        if (!hash_file(b, path, hex) || !str_equal(str_slice(line, 0, 64), str_from(hex)))
            return false;
    }
    return true;
}

static int program_from(Str bytes)
{
    int fd = memfd_create("acraft-kernel", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    size_t done = 0;
    while (fd >= 0 && done < bytes.len) {
        ssize_t wrote = write(fd, bytes.at + done, bytes.len - done);
        if (wrote <= 0) {
            close(fd);
            return -1;
        }
        done += (size_t)wrote;
    }
    if (fd >= 0)
        fcntl(fd, F_ADD_SEALS, F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE);
    return fd;
}

static bool from_cache(Build *b, BuildResult *result)
{
    Str deps, object, program;
    if (!b->stem || !read_quietly(b, with_suffix(b, b->stem, ".dep"), &deps) ||
        !dependencies_hold(b, deps) || !read_quietly(b, with_suffix(b, b->stem, ".o"), &object) ||
        !read_quietly(b, with_suffix(b, b->stem, ".exe"), &program) ||
        !twin_object_read(b->arena, object, &result->object))
        return false;
    result->exe = program_from(program);
    return result->exe >= 0;
}

/* --- precompiled header and runtime ---------------------------------------------------------- */

static void precompile(Build *b, const char *stem, const char *path)
{
    const char *header = with_suffix(b, stem, ".h"); /* the precompiled file refers to it */
    const char *made = in_dir(b, "header.pch");
    keep(b, header, str_from(main_header(b)));
    Words words = {0};
    add_flags(b, &words);
    const char *const rest[] = {"-x",   "c++-header", "-Xclang", "-fno-pch-timestamp",
                                header, "-o",         made,      NULL};
    add_words(b, &words, rest);
    BoxResult box = run_compiler(b, &words);
    Str bytes;
    if (box.end != BOX_EXITED || box.status != 0 || !read_quietly(b, made, &bytes))
        return;
    twin_cache_prune(path_dir(b->arena, path), HEADERS_MOST, HEADERS_KEEP);
    keep(b, path, bytes);
}

static const char *runtime_source(const Build *b)
{
    if (b->unit->binding)
        return "twin/rt/bind_rt.cpp";
    return b->unit->host ? "twin/rt/host_rt.cpp" : "twin/rt/core_rt.c";
}

static const char *compile_runtime(Build *b, const char *path)
{
    const char *made = in_dir(b, "runtime.o");
    Words words = {0};
    add_word(b, &words, b->places->compiler);
    const char *const rest[] = {"-O2",
                                "-w",
                                "-ftls-model=local-exec",
                                b->unit->host ? "-fno-plt"
                                              : "-ffreestanding", /* has its own memcpy */
                                b->unit->binding ? "-DACRAFT_BINDING" : "-D_GNU_SOURCE",
                                "-I",
                                in_home(b, "twin/include"),
                                "-I",
                                in_home(b, "twin/include/host"),
                                "-I",
                                in_home(b, "src"),
                                "-I",
                                b->places->home,
                                "-x",
                                b->unit->host ? "c++" : "c",
                                b->unit->host ? "-std=c++17" : "-std=c17",
                                "-c",
                                in_home(b, runtime_source(b)),
                                "-o",
                                made,
                                NULL};
    add_words(b, &words, rest);
    BoxResult box = run_compiler(b, &words);
    Str bytes;
    if (!compiler_ok(b, &box) || !read_quietly(b, made, &bytes))
        return NULL;
    if (path)
        keep(b, path, bytes);
    return path && file_exists(path) ? path : made;
}

/* The runtime's object, compiled once. NULL with a verdict. */
static const char *runtime_object(Build *b)
{
    const char *stem = cache_stem(b, "runtime", false);
    const char *path = stem ? with_suffix(b, stem, ".o") : NULL;
    if (!path || file_exists(path))
        return path ? path : compile_runtime(b, path);
    TwinLock lock = twin_lock(b->arena, b->places->cache, path, true);
    const char *object = file_exists(path) ? path : compile_runtime(b, path);
    twin_unlock(&lock);
    return object;
}

/* A precompiled header in use is young: those that nobody uses any more are pruned first. */
static const char *used(Build *b, const char *stem, const char *path)
{
    const char *header = with_suffix(b, stem, ".h");
    if (!file_exists(header))
        keep(b, header, str_from(main_header(b)));
    utimensat(AT_FDCWD, header, NULL, 0);
    utimensat(AT_FDCWD, path, NULL, 0);
    return path;
}

/* Path of the precompiled header, or NULL where there is none (no clang, no cache, it failed:
 * then the unit's own compilation says why). While another process makes it, there is the runtime
 * to compile. */
static const char *precompiled_header(Build *b)
{
    const char *stem = b->places->is_clang ? cache_stem(b, "headers", false) : NULL;
    const char *path = stem ? with_suffix(b, stem, ".pch") : NULL;
    if (!path || file_exists(path))
        return path ? used(b, stem, path) : NULL;
    TwinLock lock = twin_lock(b->arena, b->places->cache, path, false);
    if (!lock.held) {
        twin_unlock(&lock);
        runtime_object(b);
        lock = twin_lock(b->arena, b->places->cache, path, true);
    }
    if (!file_exists(path))
        precompile(b, stem, path);
    twin_unlock(&lock);
    return file_exists(path) ? path : NULL;
}

/* --- the unit -------------------------------------------------------------------------------- */

static const char *unit_file(Build *b, uint32_t index, const char *suffix)
{
    return in_dir(b, str_format(b->arena, "unit%u%s", index, suffix));
}

static bool compile_unit(Build *b, uint32_t index, const char *pch)
{
    b->shown = b->unit->texts[index].shown;
    keep(b, unit_file(b, index, ".cpp"), b->unit->texts[index].text);
    Words words = {0};
    add_flags(b, &words);
    if (pch) {
        add_word(b, &words, "-include-pch");
        add_word(b, &words, pch);
    }
    for (const char *const *dir = b->unit->include_dirs; dir && *dir; dir++) {
        add_word(b, &words, "-I");
        add_word(b, &words, *dir);
    }
    const char *const rest[] = {"-MD",
                                "-MF",
                                unit_file(b, index, ".d"),
                                "-c",
                                unit_file(b, index, ".cpp"),
                                "-o",
                                unit_file(b, index, ".o"),
                                NULL};
    add_words(b, &words, rest);
    BoxResult box = run_compiler(b, &words);
    return compiler_ok(b, &box);
}

/* g++ has no switch against inline assembly, but marks it in its output. */
static bool gcc_assembly_free(Build *b)
{
    if (b->places->is_clang || b->unit->host)
        return true;
    Words words = {0};
    add_flags(b, &words);
    for (const char *const *dir = b->unit->include_dirs; dir && *dir; dir++) {
        add_word(b, &words, "-I");
        add_word(b, &words, *dir);
    }
    const char *const rest[] = {"-S", unit_file(b, 0, ".cpp"), "-o", in_dir(b, "unit.s"), NULL};
    add_words(b, &words, rest);
    BoxResult box = run_compiler(b, &words);
    Str text;
    if (!compiler_ok(b, &box) || !read_quietly(b, in_dir(b, "unit.s"), &text))
        return false;
    if (str_find(text, STR("#APP")) < 0)
        return true;
    verdict_fail(b->verdict, VERDICT_NOT_COMPILED, STAGE_COMPILE, "inline assembly is disabled");
    return false;
}

/* An object file that cannot be read is the text's doing: more sections than ELF counts, say. */
static bool read_object(Build *b, uint32_t index, TwinObject *object, Str *bytes)
{
    if (read_quietly(b, unit_file(b, index, ".o"), bytes) &&
        twin_object_read(b->arena, *bytes, object))
        return true;
    verdict_fail(b->verdict, VERDICT_NOT_COMPILED, STAGE_COMPILE,
                 "the object file has more sections or symbols than a kernel's can have");
    return false;
}

/* What every text must be, kernel or host: no sections that change how the program starts, no names
 * of the headers. */
static bool unit_ok(Build *b, uint32_t index)
{
    TwinObject object;
    Str bytes, rule;
    if (b->options->any_import)
        return true;
    if (!read_object(b, index, &object, &bytes))
        return false;
    if (object.odd)
        verdict_fail(
            b->verdict, VERDICT_NOT_COMPILED, STAGE_COMPILE,
            str_format(b->arena, "the text defines %s, which no program here has", object.odd));
    return !object.odd &&
           (!read_quietly(b, unit_file(b, index, ".d"), &rule) || headers_ok(b, rule));
}

static bool object_ok(Build *b, BuildResult *result, Str *bytes)
{
    if (!read_object(b, 0, &result->object, bytes))
        return false;
    if (b->unit->host || b->options->any_import)
        return true;
    if (b->unit->mixed && !twin_object_reach(b->arena, bytes, &result->object)) {
        verdict_fail(b->verdict, VERDICT_NOT_COMPILED, STAGE_COMPILE,
                     "the object file has more sections or symbols than a kernel's can have");
        return false;
    }
    if (b->unit->mixed)
        keep(b, unit_file(b, 0, ".o"), *bytes);
    const char *import = twin_object_foreign_import(b->arena, &result->object);
    if (result->object.threads)
        verdict_fail(b->verdict, VERDICT_NOT_COMPILED, STAGE_COMPILE,
                     str_format(b->arena,
                                "'%s' is thread_local: a core of the device has no threads",
                                result->object.threads));
    else if (import)
        verdict_fail(b->verdict, VERDICT_NOT_COMPILED, STAGE_COMPILE,
                     str_format(b->arena,
                                "the kernel calls '%s', which does not exist on the device",
                                import));
    return !import && !result->object.threads;
}

static bool link_program(Build *b, const char *runtime, Str *bytes)
{
    Words words = {0};
    add_word(b, &words, b->places->compiler);
    const char *const rest[] = {"-static", "-o", in_dir(b, "program"), runtime, "-lm",
                                "-Wl,-s",  NULL};
    /* clang's own path says C; the C++ library is wanted only on the host side. */
    if (b->places->is_clang && b->unit->host)
        add_word(b, &words, "--driver-mode=g++");
    if (b->unit->host) /* helpers defined in a header that two files include */
        add_word(b, &words, "-Wl,-z,muldefs");
    bool two_sided = b->unit->binding || b->unit->mixed; /* one is compiled along, never called */
    if (two_sided)
        add_word(b, &words, "-Wl,--gc-sections");
    if (two_sided && !b->places->linker)
        return verdict_fail(b->verdict, VERDICT_NO_TOOL, STAGE_COMPILE,
                            "ld.lld, which alone links kernel and host code of one file, is not "
                            "here: install the package lld"),
               false;
    if (b->places->linker)
        add_word(b, &words, b->places->linker);
    for (uint32_t i = 0; i < b->unit->text_count; i++)
        add_word(b, &words, unit_file(b, i, ".o"));
    add_words(b, &words, rest);
    BoxResult box = run_compiler(b, &words);
    return compiler_ok(b, &box) && read_quietly(b, in_dir(b, "program"), bytes);
}

/* Looking through the folder costs time: one program in 64, by its key. */
static void prune_now_and_then(Build *b)
{
    Str key = path_base(b->stem ? b->stem : "");
    if (key.len > 1 && key.at[0] == '0' && key.at[1] < '4')
        twin_cache_prune(path_dir(b->arena, b->stem), CACHE_MOST, CACHE_KEEP);
}

static void fill_cache(Build *b, Str object, Str program)
{
    Buf list = {0};
    Str rule;
    for (uint32_t i = 0; b->stem && i < b->unit->text_count; i++)
        if (read_quietly(b, unit_file(b, i, ".d"), &rule))
            buf_str(&list, list_dependencies(b, rule));
    if (b->stem) {
        keep(b, with_suffix(b, b->stem, ".o"), object);
        keep(b, with_suffix(b, b->stem, ".exe"), program);
        keep(b, with_suffix(b, b->stem, ".dep"), buf_view(&list));
    }
    prune_now_and_then(b);
    buf_free(&list);
}

static bool build_in_dir(Build *b, BuildResult *result)
{
    Str object, program;
    if (!includes_ok(b))
        return false;
    const char *pch = precompiled_header(b), *runtime;
    for (uint32_t i = 0; i < b->unit->text_count; i++)
        if (!compile_unit(b, i, pch) || !unit_ok(b, i))
            return false;
    if (!gcc_assembly_free(b) || !object_ok(b, result, &object) || !(runtime = runtime_object(b)) ||
        !link_program(b, runtime, &program))
        return false;
    fill_cache(b, object, program);
    result->exe = program_from(program);
    return result->exe >= 0;
}

static bool build_anew(Build *b, BuildResult *result)
{
    TempDir temp;
    if (!temp_dir_make(b->arena, "acraft-build", &temp, b->diag)) {
        verdict_fail(b->verdict, VERDICT_INTERNAL, STAGE_COMPILE, "no temporary directory");
        return false;
    }
    b->dir = temp.path;
    chmod(b->dir, 0755);
    bool ok = build_in_dir(b, result);
    temp_dir_remove(&temp, b->diag);
    return ok;
}

bool twin_build_program(Arena *arena, const TwinPlaces *places, const BuildUnit *unit,
                        const TwinOptions *options, BuildResult *result, Verdict *verdict,
                        Diag *diag)
{
    Build b = {.arena = arena,
               .places = places,
               .unit = unit,
               .options = options,
               .verdict = verdict,
               .diag = diag};
    *result = (BuildResult){.exe = -1};
    b.stem = cache_stem(&b, "programs", true);
    if (from_cache(&b, result))
        return true;
    TwinLock lock = {.fd = -1};
    if (b.stem)
        lock = twin_lock(arena, places->cache, b.stem, true);
    bool ok = (b.stem && from_cache(&b, result)) || build_anew(&b, result);
    twin_unlock(&lock);
    return ok;
}

bool twin_build_preprocess(Arena *arena, const TwinPlaces *places, const BuildUnit *unit,
                           const TwinOptions *options, Str *text)
{
    Verdict unheard = verdict_make();
    Diag quiet = diag_make(arena, "", (Str){0});
    Build b = {.arena = arena,
               .places = places,
               .unit = unit,
               .options = options,
               .verdict = &unheard,
               .diag = &quiet};
    TempDir temp;
    if (!temp_dir_make(arena, "acraft-scan", &temp, &quiet))
        return false;
    b.dir = temp.path;
    chmod(b.dir, 0755);
    keep(&b, unit_file(&b, 0, ".cpp"), unit->texts[0].text);
    Words words = {0};
    add_flags(&b, &words);
    for (const char *const *dir = unit->include_dirs; dir && *dir; dir++) {
        add_word(&b, &words, "-I");
        add_word(&b, &words, *dir);
    }
    const char *const rest[] = {"-DACRAFT_SCAN",         "-E", unit_file(&b, 0, ".cpp"), "-o",
                                unit_file(&b, 0, ".ii"), NULL};
    add_words(&b, &words, rest);
    BoxResult box = run_compiler(&b, &words);
    bool ok = box.end == BOX_EXITED && box.status == 0 &&
              read_quietly(&b, unit_file(&b, 0, ".ii"), text);
    temp_dir_remove(&temp, &quiet);
    return ok;
}
