/* Blobs: texts named by their SHA-256, compressed, one file each. In: bytes. Out: a name; and back.
 *
 * A blob is written beside its place, flushed, and renamed: whoever sees the name sees all of it. */
#include "base/file.h"
#include "base/hash.h"
#include "store/store_int.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <zstd.h>

static const Span no_place = {0, 0, 0};
enum { LEVEL = 3 };
static const unsigned long long most_bytes = 1ull << 30;

static void name_of(Str bytes, char hash[STORE_HASH])
{
    Sha256 sha = sha256_begin();
    sha256_add(&sha, bytes.at, bytes.len);
    sha256_end(&sha, hash);
}

static const char *dir_of(const Store *store, Arena *arena, const char *hash)
{
    return str_format(arena, "%s/%.2s", store->blobs, hash);
}

static bool fail_blob(Diag *diag, const char *path)
{
    diag_error(diag, "D002", no_place, "cannot write '%s': %s", path, strerror(errno));
    diag_hint(diag, "what was stored before is kept; make room or give another --store, then run "
                    "the same command again");
    return false;
}

static bool write_all(int fd, const char *at, size_t len)
{
    while (len) {
        ssize_t put = write(fd, at, len);
        if (put < 0 && errno != EINTR)
            return false;
        if (put > 0) {
            at += put;
            len -= (size_t)put;
        }
    }
    return true;
}

static bool flush_dir(const char *dir)
{
    int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    bool ok = fd >= 0 && fsync(fd) == 0;
    if (fd >= 0)
        close(fd);
    return ok;
}

static bool write_flushed(const char *path, const char *at, size_t len)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    bool ok = fd >= 0 && write_all(fd, at, len) && fsync(fd) == 0;
    int reason = errno;
    if (fd >= 0 && close(fd) < 0 && ok)
        return false;
    errno = reason;
    return ok;
}

static bool write_blob(Arena *arena, const char *dir, const char *path, Str packed, Diag *diag)
{
    const char *beside = str_format(arena, "%s.%ld", path, (long)getpid());
    if (!file_make_dirs(dir, diag))
        return false;
    if (write_flushed(beside, packed.at, packed.len) && rename(beside, path) == 0 && flush_dir(dir))
        return true;
    fail_blob(diag, path);
    unlink(beside);
    return false;
}

bool store_blob_put(Store *store, Str bytes, char hash[STORE_HASH], Diag *diag)
{
    Arena arena = {0};
    name_of(bytes, hash);
    const char *dir = dir_of(store, &arena, hash);
    const char *path = str_format(&arena, "%s/%s.zst", dir, hash + 2);
    bool ok = file_exists(path);
    if (!ok) {
        size_t room = ZSTD_compressBound(bytes.len);
        char *packed = arena_alloc(&arena, room);
        size_t len = ZSTD_compress(packed, room, bytes.at ? bytes.at : "", bytes.len, LEVEL);
        if (ZSTD_isError(len))
            panic("zstd: %s", ZSTD_getErrorName(len));
        ok = write_blob(&arena, dir, path, (Str){packed, len}, diag);
    }
    arena_drop(&arena);
    return ok;
}

static bool bad(Diag *diag, const char *hash, const char *why)
{
    diag_error(diag, "D006", no_place, "blob %s %s", hash, why);
    return false;
}

static bool is_hash(const char *hash)
{
    return strlen(hash) == 64 && strspn(hash, "0123456789abcdef") == 64;
}

static bool unpack(Arena *arena, Str packed, Str *bytes)
{
    unsigned long long size = ZSTD_getFrameContentSize(packed.at, packed.len);
    if (size == ZSTD_CONTENTSIZE_UNKNOWN || size == ZSTD_CONTENTSIZE_ERROR || size > most_bytes)
        return false;
    char *at = arena_alloc(arena, (size_t)size + 1);
    *bytes = (Str){at, (size_t)size};
    return ZSTD_decompress(at, (size_t)size, packed.at, packed.len) == size;
}

bool store_blob_get(Store *store, Arena *arena, const char *hash, Str *bytes, Diag *diag)
{
    if (!is_hash(hash))
        return bad(diag, hash, "has no name of a blob");
    Str packed;
    char got[STORE_HASH];
    const char *path = str_format(arena, "%s/%s.zst", dir_of(store, arena, hash), hash + 2);
    if (!file_exists(path))
        return bad(diag, hash, "is missing");
    if (!file_read(arena, path, (size_t)most_bytes, &packed, diag))
        return false;
    if (!unpack(arena, packed, bytes))
        return bad(diag, hash, "is damaged");
    name_of(*bytes, got);
    return !strcmp(got, hash) || bad(diag, hash, "is not what its name says");
}
