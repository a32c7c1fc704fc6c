/* Pieces of text in chunks of some hundred kilobytes, each chunk deflated and written as base64.
 *
 * In: texts in the order they will be read. Out: <script id="chunkN"> elements that a browser
 * leaves packed until one is opened, and a table of the first piece of each. A chunk is a JSON
 * array of strings. */
#include "report/report_int.h"

#include "base/map.h"
#include <zlib.h>

enum { CHUNK = 192 << 10 };

struct ReportPack {
    Arena arena;
    Map names;
    VEC(uint32_t) firsts; /* piece that each chunk begins with */
    Buf chunk, written;
    uint32_t pieces;
    size_t most;
};

ReportPack *report_pack_open(size_t most)
{
    ReportPack *pack = heap_alloc(sizeof *pack);
    pack->most = most;
    return pack;
}

bool report_pack_full(const ReportPack *pack) { return pack->written.len >= pack->most; }

static void end_chunk(ReportPack *pack)
{
    if (!pack->chunk.len)
        return;
    buf_puts(&pack->chunk, "]");
    uLongf len = compressBound((uLong)pack->chunk.len);
    Bytef *bytes = heap_alloc(len);
    if (compress2(bytes, &len, (const Bytef *)pack->chunk.at, (uLong)pack->chunk.len, 6) != Z_OK)
        panic("zlib cannot compress %zu bytes", pack->chunk.len);
    buf_printf(&pack->written, "<script type=\"application/zlib\" id=\"chunk%u\">",
               pack->firsts.len - 1);
    report_base64(&pack->written, bytes, len);
    buf_puts(&pack->written, "</script>\n");
    heap_free(bytes);
    buf_clear(&pack->chunk);
}

bool report_pack_find(const ReportPack *pack, const char *name, int64_t *piece)
{
    uint32_t known;
    bool found = map_get(&pack->names, str_from(name), &known);
    *piece = found ? (int64_t)known : -1;
    return found;
}

int64_t report_pack_add(ReportPack *pack, const char *name, Str text)
{
    int64_t known;
    if (name && report_pack_find(pack, name, &known))
        return known;
    if (report_pack_full(pack))
        return -1;
    if (!pack->chunk.len)
        vec_push(&pack->arena, &pack->firsts, pack->pieces);
    buf_puts(&pack->chunk, pack->chunk.len ? "," : "[");
    buf_json_str(&pack->chunk, text);
    if (name)
        map_put(&pack->arena, &pack->names, str_copy(&pack->arena, str_from(name)), pack->pieces);
    if (pack->chunk.len >= CHUNK)
        end_chunk(pack);
    return pack->pieces++;
}

void report_pack_close(ReportPack *pack, Buf *out)
{
    end_chunk(pack);
    if (pack->written.len)
        buf_str(out, buf_view(&pack->written));
    Buf table = {0};
    buf_puts(&table, "[");
    for (uint32_t i = 0; i < pack->firsts.len; i++)
        buf_printf(&table, "%s%u", i ? "," : "", pack->firsts.at[i]);
    buf_puts(&table, "]");
    report_script_json(out, "chunks", buf_view(&table));
    buf_free(&table);
    buf_free(&pack->chunk);
    buf_free(&pack->written);
    arena_drop(&pack->arena);
    heap_free(pack);
}
