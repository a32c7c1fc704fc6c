/* The files of a run while it is made. In: a directory. Out: appended lines, and a state that says how far they
 * are good.
 *
 *     state:  a line of options / numbers and rows that wait (make.c) / "end <hash of all before>"
 *
 * The lines are on the disk before the state that counts them, and a state replaces the one before as a whole. So
 * whenever a run ends, by a signal or a full disk, its directory can be taken up from the last state: lines past
 * it are cut off and made again. One process at a time holds a directory. */
#include "rows/rows_int.h"

#include "base/file.h"
#include "base/hash.h"
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *const names[ROWS_FILES] = {"rows.jsonl", "preferences.jsonl", "labels.jsonl",
                                              "rows.index", "long.jsonl",        "twins.jsonl"};
static const char *const packed_names[] = {"rows.jsonl",     "twins.jsonl", "long.jsonl",
                                           "tokenizer.json", "rows.tokens", "card.md"};
enum { PACKED = sizeof packed_names / sizeof *packed_names };
static const char mark[] = "end ";

static bool fail_file(Diag *diag, const char *name, const char *why)
{
    diag_error(diag, "R001", (Span){0}, "%s: %s", name, why);
    return false;
}

static const char *in_dir(Arena *arena, const RowsFiles *files, const char *name)
{
    return path_join(arena, files->dir, name);
}

/* A lock of this process alone: workers do not inherit it, and the kernel drops it when the process ends, however. */
static bool hold_dir(Arena *arena, RowsFiles *files, Diag *diag)
{
    const struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    files->lock = open(in_dir(arena, files, "lock"), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (files->lock < 0)
        return fail_file(diag, "lock", strerror(errno));
    if (fcntl(files->lock, F_SETLK, &whole) == 0)
        return true;
    if (errno != EACCES && errno != EAGAIN)
        return fail_file(diag, "lock", strerror(errno));
    diag_error(diag, "R001", (Span){0}, "another process is making rows here");
    return false;
}

/* Files that no run has written are never overwritten. */
static bool is_free(Arena *arena, const RowsFiles *files, Diag *diag)
{
    for (int i = 0; i < ROWS_FILES + PACKED; i++) {
        const char *name = i < ROWS_FILES ? names[i] : packed_names[i - ROWS_FILES];
        struct stat is;
        if (stat(in_dir(arena, files, name), &is) == 0 && is.st_size) {
            fail_file(diag, name, "there is such a file, but no state of a run");
            diag_hint(diag, "give another directory with -o, or move that file away");
            return false;
        }
    }
    return true;
}

/* Without the last line, which has the hash of what stands before it. */
static bool check_state(Str *state, Diag *diag)
{
    char end[32];
    size_t len = sizeof mark - 1 + 16 + 1;
    if (state->len >= len) {
        Str text = str_slice(*state, 0, state->len - len);
        snprintf(end, sizeof end, "%s%016" PRIx64 "\n", mark, hash64(text.at, text.len));
        if (!memcmp(state->at + text.len, end, len)) {
            *state = text;
            return true;
        }
    }
    fail_file(diag, "state", "damaged, so the run cannot go on");
    diag_hint(diag, "its rows stay as they are; give another directory with -o");
    return false;
}

bool rows_files_hold(Arena *arena, RowsFiles *files, Str *state, Diag *diag)
{
    const char *path = in_dir(arena, files, "state");
    *state = (Str){0};
    files->lock = -1;
    if (!file_make_dirs(files->dir, diag) || !hold_dir(arena, files, diag))
        return false;
    if (!file_exists(path))
        return is_free(arena, files, diag);
    return file_read(arena, path, 0, state, diag) && check_state(state, diag);
}

bool rows_files_open(Arena *arena, RowsFiles *files, const int64_t good[ROWS_FILES], Diag *diag)
{
    for (int i = 0; i < ROWS_FILES; i++) {
        struct stat is;
        files->file[i] = fopen(in_dir(arena, files, names[i]), "ab");
        if (!files->file[i] || fstat(fileno(files->file[i]), &is) < 0)
            return fail_file(diag, names[i], strerror(errno));
        if (is.st_size < good[i]) {
            fail_file(diag, names[i], "shorter than the state of its run says");
            diag_hint(diag, "the run cannot go on; give another directory with -o");
            return false;
        }
        if (ftruncate(fileno(files->file[i]), good[i]) < 0)
            return fail_file(diag, names[i], strerror(errno));
        fseeko(files->file[i], 0, SEEK_END);
    }
    return true;
}

/* A write that failed earlier leaves its mark in the stream. */
static bool flush_files(const RowsFiles *files, Diag *diag)
{
    for (int i = 0; i < ROWS_FILES; i++) {
        FILE *file = files->file[i];
        bool failed = ferror(file);
        errno = 0;
        if (fflush(file) || fdatasync(fileno(file)) < 0 || failed) {
            fail_file(diag, names[i],
                      errno ? strerror(errno) : "a write failed; is the disk full?");
            diag_hint(diag, "the same command goes on from the last state");
            return false;
        }
    }
    return true;
}

void rows_files_put(const RowsFiles *files, Buf *out)
{
    for (int i = 0; i < ROWS_FILES; i++)
        buf_printf(out, " %lld", (long long)ftello(files->file[i]));
}

bool rows_files_save(Arena *arena, const RowsFiles *files, Buf *state, Diag *diag)
{
    if (!flush_files(files, diag))
        return false;
    buf_printf(state, "%s%016" PRIx64 "\n", mark, hash64(state->at, state->len));
    return file_write(in_dir(arena, files, "state"), buf_view(state), diag);
}

void rows_files_close(RowsFiles *files)
{
    for (int i = 0; i < ROWS_FILES; i++)
        if (files->file[i])
            fclose(files->file[i]);
    memset(files->file, 0, sizeof files->file);
}

void rows_files_release(RowsFiles *files)
{
    rows_files_close(files);
    if (files->lock >= 0)
        close(files->lock);
    files->lock = -1;
}

bool rows_files_move(Arena *arena, const RowsFiles *files, Diag *diag)
{
    const char *from = in_dir(arena, files, "packed");
    for (int i = 0; i < PACKED; i++) {
        const char *path = path_join(arena, from, packed_names[i]);
        if (file_exists(path) && rename(path, in_dir(arena, files, packed_names[i])) < 0)
            return fail_file(diag, packed_names[i], strerror(errno));
    }
    return rmdir(from) == 0 || errno == ENOENT || fail_file(diag, "packed", strerror(errno));
}
