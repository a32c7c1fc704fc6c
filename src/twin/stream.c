/* Two runs of one program, record by record; see stream.h. */
#include "twin/stream.h"

#include "base/arena.h"
#include <string.h>

static uint64_t mix(uint64_t a, uint64_t b)
{
    unsigned __int128 product = (unsigned __int128)(a ^ 0x9E3779B97F4A7C15ull) *
                                (b ^ 0xD1B54A32D192ED03ull);
    return (uint64_t)product ^ (uint64_t)(product >> 64);
}

/* Does `scalar` decide more than a value? */
static bool scalar_counts(const Record *r)
{
    if (r->op != NPU_SET_REGISTER)
        return r->op == NPU_GATHER;
    return r->mode == REC_REG_ATOMIC || r->mode == REC_REG_FMATRIX_A ||
           r->mode == REC_REG_FMATRIX_B || r->mode == REC_REG_HF32;
}

static bool mask_counts(const Record *r)
{
    return r->op != NPU_RAW_STORE && !(r->op == NPU_SET_REGISTER && r->mode == REC_REG_COMPARE);
}

enum { WORDS = REC_BYTES / 8, MASK_WORD = 10, SCALAR_WORD = 12 };
_Static_assert(offsetof(Record, mask) == MASK_WORD * 8 &&
                   offsetof(Record, scalar) == SCALAR_WORD * 8,
               "record layout");

enum { OPERAND_WORD = 2, OPERANDS = 4 };

/* *kind: a hash that depends on an address in GM only by its offset inside a cache line. */
static uint64_t hash_record(const Record *r, uint64_t *kind)
{
    uint64_t word[WORDS], h = 0;
    memcpy(word, r, sizeof word);
    if (!(r->op & REC_TEXT)) {
        word[SCALAR_WORD] = scalar_counts(r) ? word[SCALAR_WORD] : 0;
        if (!mask_counts(r))
            word[MASK_WORD] = word[MASK_WORD + 1] = 0;
    }
    *kind = 0;
    for (int i = 0; i < WORDS; i += 2) {
        uint64_t part = mix(word[i] + (uint64_t)i, word[i + 1]);
        bool gm = i >= OPERAND_WORD && i < OPERAND_WORD + 2 * OPERANDS && !(r->op & REC_TEXT) &&
                  rec_space(word[i]) == NPU_GM;
        h ^= part;
        *kind ^= gm ? mix(word[i] % 512 + (uint64_t)i, word[i + 1] >> 32) : part;
    }
    return h;
}

static bool is_printed(const Record *r)
{
    RecordText text;
    if (!(r->op & REC_TEXT))
        return false;
    memcpy(&text, r, sizeof text);
    return text.kind == REC_TEXT_PRINT;
}

static bool is_read(const Record *r)
{
    return r->op == NPU_LOCAL_GET || r->op == NPU_GLOBAL_GET || r->op == NPU_RAW_LOAD;
}

void stream_open(Stream *stream, uint32_t cores)
{
    *stream = (Stream){.core = heap_alloc(cores * sizeof(StreamCore)), .cores = cores};
}

void stream_close(Stream *stream)
{
    for (uint32_t i = 0; stream->core && i < stream->cores; i++)
        heap_free(stream->core[i].mark);
    heap_free(stream->core);
    *stream = (Stream){0};
}

void stream_rewind(Stream *stream)
{
    stream->compare = true;
    stream->read_line = 0;
    for (uint32_t i = 0; i < stream->cores; i++) {
        StreamCore *c = &stream->core[i];
        c->at = c->again = 0;
        c->leads = true;
        for (uint32_t k = 0; k < i && c->leads; k++)
            c->leads = stream->core[k].kind != c->kind || stream->core[k].len != c->len;
    }
}

static void keep_mark(StreamCore *c, const Record *r)
{
    uint64_t kind, hash = hash_record(r, &kind);
    if (c->len == c->cap) {
        uint64_t cap = c->cap ? 2 * c->cap : 4096;
        c->mark = heap_grow(c->mark, c->cap * sizeof *c->mark, cap * sizeof *c->mark);
        c->cap = cap;
    }
    c->mark[c->len++] = (uint16_t)hash;
    c->whole = mix(c->whole, hash);
    c->kind = mix(c->kind, kind);
}

static bool differ_at(Stream *s, uint32_t core, const Record *r)
{
    s->differs = true;
    s->in_core = core;
    if (r && !(r->op & REC_TEXT) && r->line) {
        s->line = r->line;
        s->file = r->file;
    }
    return false;
}

static bool compare_one(Stream *s, uint32_t core, const Record *r)
{
    StreamCore *c = &s->core[core];
    uint64_t kind, hash = hash_record(r, &kind);
    if (c->at >= c->len && !c->ended)
        return true;
    if (c->at >= c->len || c->mark[c->at] != (uint16_t)hash)
        return differ_at(s, core, r);
    c->at++;
    c->again = mix(c->again, hash);
    if (!(r->op & REC_TEXT) && is_read(r)) {
        s->read_line = r->line;
        s->read_file = r->file;
    }
    return true;
}

bool stream_note(Stream *stream, uint32_t core, const Record *records, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (is_printed(&records[i]))
            continue;
        if (!stream->compare)
            keep_mark(&stream->core[core], &records[i]);
        else if (!compare_one(stream, core, &records[i]))
            return false;
    }
    return true;
}

bool stream_end(Stream *stream, uint32_t core)
{
    StreamCore *c = &stream->core[core];
    if (!stream->compare)
        c->ended = true;
    if (!stream->compare || !c->ended || (c->at == c->len && c->again == c->whole))
        return true;
    return differ_at(stream, core, NULL);
}

void stream_put(const Stream *stream, Buf *out)
{
    row_put_u32(out, stream->cores);
    for (uint32_t i = 0; i < stream->cores; i++) {
        const StreamCore *c = &stream->core[i];
        row_put_u64(out, c->whole);
        row_put_u64(out, c->kind);
        row_put_u32(out, c->ended);
        row_put_block(out, c->mark, c->len * sizeof *c->mark);
    }
}

Stream stream_take(Row *row, uint32_t most_cores)
{
    Stream stream = {0};
    uint32_t cores = row_u32(row);
    row->bad = row->bad || cores > most_cores;
    if (cores && !row->bad)
        stream_open(&stream, cores);
    for (uint32_t i = 0; i < stream.cores; i++) {
        StreamCore *c = &stream.core[i];
        c->whole = row_u64(row);
        c->kind = row_u64(row);
        c->ended = row_u32(row);
        Str marks = row_block(row);
        c->len = c->cap = marks.len / sizeof *c->mark;
        c->mark = heap_alloc(marks.len);
        if (marks.len)
            memcpy(c->mark, marks.at, c->len * sizeof *c->mark);
    }
    return stream;
}
