/* Reading compressed files. In: a path; the ending says how. Out: the text. */
#include "loop/bench_answers.h"

#include <zlib.h>
#include <zstd.h>

static const Span no_place = {0, 0, 0};
static const size_t most_bytes = (size_t)1 << 30;

static bool bad(Diag *diag, const char *path, const char *why)
{
    diag_error(diag, "B004", no_place, "cannot unpack '%s': %s", path, why);
    return false;
}

static bool unpack_zstd(const char *path, Str packed, Buf *out, Diag *diag)
{
    ZSTD_DStream *stream = ZSTD_createDStream();
    ZSTD_inBuffer in = {packed.at, packed.len, 0};
    size_t left = 1;
    while (in.pos < in.size && out->len <= most_bytes) {
        char chunk[65536];
        ZSTD_outBuffer to = {chunk, sizeof chunk, 0};
        left = ZSTD_decompressStream(stream, &to, &in);
        if (ZSTD_isError(left))
            break;
        buf_add(out, chunk, to.pos);
    }
    ZSTD_freeDStream(stream);
    if (out->len > most_bytes)
        return bad(diag, path, "it holds more than 1 GiB");
    return left == 0 || bad(diag, path, ZSTD_isError(left) ? ZSTD_getErrorName(left) : "cut short");
}

static bool unpack_gzip(const char *path, Buf *out, Diag *diag)
{
    gzFile file = gzopen(path, "rb");
    char chunk[65536];
    int got = -1;
    while (file && out->len <= most_bytes && (got = gzread(file, chunk, sizeof chunk)) > 0)
        buf_add(out, chunk, (size_t)got);
    int closed = file ? gzclose(file) : Z_ERRNO;
    if (out->len > most_bytes)
        return bad(diag, path, "it holds more than 1 GiB");
    return (got == 0 && closed == Z_OK) || bad(diag, path, "it is no gzip file, or cut short");
}

bool bench_read_packed(Arena *arena, const char *path, Str *text, Diag *diag)
{
    bool zst = str_ends(str_from(path), ".zst"), gz = str_ends(str_from(path), ".gz");
    if (!file_read(arena, path, 0, text, diag))
        return false;
    if (!zst && !gz)
        return true;
    Buf out = {0};
    bool ok = zst ? unpack_zstd(path, *text, &out, diag) : unpack_gzip(path, &out, diag);
    if (ok)
        *text = out.at ? str_copy(arena, buf_view(&out)) : STR("");
    buf_free(&out);
    return ok;
}
