/* Fractals of 512 bytes into L0: plain, transposed, by image-to-column, and constant filling.
 *
 *     L0A holds Zz: fractals row by row, 16 rows of 32 bytes inside
 *     L0B holds Zn: fractals row by row, 16 columns of 32 bytes inside */
#include "sim/sim_int.h"

enum { FRACTAL = 512, BLOCK = 32 };

typedef struct Fractals {
    SimMemory *d;
    uint64_t to;
    uint32_t size; /* bytes of an element; two of 4 bits go as one byte */
} Fractals;

static bool open_target(Step *s, Fractals *f, uint32_t spaces, uint64_t end)
{
    uint32_t bits = npu_dtype_bits(s->r->dtype[0]);
    f->d = sim_local(s, 0, spaces);
    f->to = rec_byte(s->r->operand[0].address);
    f->size = bits < 8 ? 1 : bits / 8;
    if (!f->d)
        return false;
    bool l1 = rec_space(s->r->operand[0].address) == NPU_L1;
    if (!sim_aligned(s, 0, l1 ? BLOCK : FRACTAL))
        return false;
    if (bits < 4 || bits > 32 || (bits == 4 && l1)) {
        sim_report(s, SIM_FAULT_BAD_DTYPE, "loads do not take %s", npu_dtype_text(s->r->dtype[0]));
        return false;
    }
    return sim_local_range(s, 0, f->d, f->to, end, true);
}

/* Bytes that are copied to L0, and which of them are defined (0xFF) or not (0). */
typedef struct Piece {
    uint8_t at[4 * FRACTAL], defined[4 * FRACTAL];
} Piece;

static void note_defined(Piece *p, const SimMemory *m, uint64_t at, uint64_t bytes)
{
    bool all = memory_known(m, at, bytes);
    for (uint64_t i = 0; i < bytes; i++)
        p->defined[i] = all || memory_known(m, at + i, 1) ? 0xFF : 0;
}

static bool read_piece(Step *s, uint64_t byte, uint64_t bytes, Piece *p)
{
    uint64_t address = s->r->operand[1].address;
    if (rec_space(address) == NPU_GM) {
        uint64_t offset, inside;
        SimGm *gm = sim_gm_range(s, address + byte, bytes, false, &offset, &inside);
        if (!gm)
            return false;
        memset(p->at, 0xFF, bytes);
        memset(p->defined, 0, bytes);
        memcpy(p->at, gm->memory.at + offset, inside);
        note_defined(p, &gm->memory, offset, inside);
        return true;
    }
    SimMemory *m = sim_local(s, 1, 1u << NPU_L1);
    uint64_t at = rec_byte(address) + byte;
    if (!m || !sim_local_range(s, 1, m, at, bytes, false))
        return false;
    memcpy(p->at, m->at + at, bytes);
    note_defined(p, m, at, bytes);
    return true;
}

static void put(Fractals *f, uint64_t at, const uint8_t *from, uint64_t bytes)
{
    memcpy(f->d->at + at, from, bytes);
    memory_set_known(f->d, at, bytes, true);
}

static void put_piece(Fractals *f, uint64_t at, const Piece *p, uint64_t from, uint64_t bytes)
{
    put(f, at, p->at + from, bytes);
    if (memchr(p->defined + from, 0, bytes))
        for (uint64_t i = 0; i < bytes; i++)
            memory_set_known(f->d, at + i, 1, p->defined[from + i]);
}

static bool repeats_ok(Step *s, uint32_t repeats)
{
    if (repeats <= 255)
        return true;
    sim_report(s, SIM_FAULT_BAD_REPEAT, "%u repeats; one instruction takes 255", repeats);
    return false;
}

/* A 16x16 matrix of 2-byte elements, transposed in place. */
static void transpose16(uint8_t *fractal)
{
    uint16_t in[256], out[256];
    memcpy(in, fractal, sizeof in);
    for (uint32_t i = 0; i < 256; i++)
        out[i % 16 * 16 + i / 16] = in[i];
    memcpy(fractal, out, sizeof out);
}

static bool load_2d(Step *s)
{
    const Record *r = s->r;
    uint64_t n = r->n[1], step = (uint64_t)(r->n[3] + 1ull) * FRACTAL;
    uint32_t spaces = 1u << NPU_L0A | 1u << NPU_L0B | (r->op == NPU_LOAD2D_GM ? 1u << NPU_L1 : 0);
    Fractals f;
    if (!repeats_ok(s, r->n[1]) || !open_target(s, &f, spaces, n ? (n - 1) * step + FRACTAL : 0))
        return false;
    if ((r->mode & 1) && f.size != 2) {
        sim_report(s, SIM_FAULT_BAD_DTYPE, "transposing loads take 2-byte types, not %s",
                   npu_dtype_text(r->dtype[0]));
        return false;
    }
    for (uint64_t i = 0; i < n; i++) {
        int64_t index = (int64_t)r->n[0] +
                        (r->mode & 2 ? -1 : 1) * (int64_t)(i * (uint64_t)(r->n[2] & 0xFFFF));
        Piece piece;
        if (index < 0) {
            sim_report(s, SIM_FAULT_BAD_PARAMETER, "decreasing addresses run below the tensor");
            return false;
        }
        if (!read_piece(s, (uint64_t)index * FRACTAL, FRACTAL, &piece))
            return false;
        if (r->mode & 1) {
            transpose16(piece.at);
            transpose16(piece.defined);
        }
        put_piece(&f, f.to + i * step, &piece, 0, FRACTAL);
    }
    sim_count(s, n, n * FRACTAL, n * FRACTAL);
    return true;
}

/* Squares: 16x16 of 2 bytes (one fractal), 32x32 of 1 byte or 16x16 of 4 bytes (two fractals,
 * stacked for bytes, side by side for words), transposed and cut into fractals again. */
static uint32_t square_source(uint32_t size, uint32_t row, uint32_t column)
{
    if (size == 4)
        return column / 8 * FRACTAL + row * BLOCK + column % 8 * 4;
    return row * BLOCK + column * size;
}

static void transpose_square(uint32_t size, const uint8_t *in, uint8_t *out)
{
    uint32_t side = size == 1 ? 32 : 16, in_row = BLOCK / size;
    for (uint32_t i = 0; i < side; i++) /* row of the result */
        for (uint32_t k = 0; k < side; k++) {
            uint32_t fractal = size == 4 ? k / in_row : i / 16;
            uint32_t at = fractal * FRACTAL + i % 16 * BLOCK + k % in_row * size;
            memcpy(out + at, in + square_source(size, k, i), size);
        }
}

/* 64 rows of 64 elements of 4 bits, the first of a byte in its low half. */
static void transpose_nibbles(const uint8_t *in, uint8_t *out)
{
    memset(out, 0, 4 * FRACTAL);
    for (uint32_t row = 0; row < 64; row++)
        for (uint32_t column = 0; column < 64; column++) {
            uint32_t half = in[row * BLOCK + column / 2] >> column % 2 * 4 & 15;
            out[column * BLOCK + row / 2] |= (uint8_t)(half << row % 2 * 4);
        }
}

static void transpose_piece(bool nibbles, uint32_t size, const Piece *in, Piece *out)
{
    if (nibbles) {
        transpose_nibbles(in->at, out->at);
        transpose_nibbles(in->defined, out->defined);
        for (uint32_t i = 0; i < 4 * FRACTAL; i++)
            out->defined[i] = out->defined[i] == 0xFF ? 0xFF : 0;
    } else {
        transpose_square(size, in->at, out->at);
        transpose_square(size, in->defined, out->defined);
    }
}

static bool load_transposed(Step *s)
{
    const Record *r = s->r;
    Fractals f = {.size = npu_dtype_bits(r->dtype[0]) / 8};
    bool nibbles = f.size == 0;
    uint32_t spaces = 1u << NPU_L0B | (nibbles ? 0 : 1u << NPU_L0A);
    uint64_t n = r->n[1], step = (uint64_t)(r->n[3] + 1ull) * FRACTAL;
    uint64_t fractals = nibbles       ? 4
                        : f.size == 2 ? 1
                                      : 2,
             gap = (uint64_t)(r->n[4] + 1ull) * FRACTAL;
    uint64_t end = n ? (n - 1) * step + (fractals - 1) * gap + FRACTAL : 0;
    if (!repeats_ok(s, r->n[1]) || !open_target(s, &f, spaces, end))
        return false;
    uint64_t square = fractals * FRACTAL;
    for (uint64_t i = 0; i < n; i++) {
        Piece in, out;
        if (!read_piece(s, (r->n[0] + i * r->n[2]) * square, square, &in))
            return false;
        transpose_piece(nibbles, f.size, &in, &out);
        for (uint64_t k = 0; k < fractals; k++)
            put_piece(&f, f.to + i * step + k * gap, &out, k * FRACTAL, FRACTAL);
    }
    sim_count(s, n * fractals, n * square, n * square);
    return true;
}

/* --- image to column --- */

typedef struct Image {
    uint64_t h, w, c0, out_w, out_size;
    uint64_t filter_w, filter_h, stride_w, stride_h, dilation_w, dilation_h;
    uint64_t pad_left, pad_right, pad_top, pad_bottom;
    uint64_t k, m, k_start, m_start;
    bool to_a, transpose;
} Image;

static bool image_read(Step *s, Image *g, uint32_t size)
{
    const Record *r = s->r;
    uint64_t map = s->core->fmatrix[r->mode >> 1 & 1],
             pads = s->core->fmatrix_pads[r->mode >> 1 & 1];
    *g = (Image){.h = map & 0xFFFF,
                 .w = map >> 16 & 0xFFFF,
                 .c0 = BLOCK / size,
                 .filter_w = r->n[5] & 0xFFFF,
                 .filter_h = r->n[5] >> 16,
                 .stride_w = r->mask[0] & 0xFF,
                 .stride_h = r->mask[0] >> 8 & 0xFF,
                 .dilation_w = r->mask[0] >> 16 & 0xFF,
                 .dilation_h = r->mask[0] >> 24 & 0xFF,
                 .pad_left = pads & 0xFF,
                 .pad_right = pads >> 8 & 0xFF,
                 .pad_top = pads >> 16 & 0xFF,
                 .pad_bottom = pads >> 24 & 0xFF,
                 .k = r->n[0],
                 .m = r->n[1],
                 .k_start = r->n[2],
                 .m_start = r->n[3],
                 .to_a = rec_space(r->operand[0].address) == NPU_L0A,
                 .transpose = r->mode & 1};
    uint64_t reach_w = (g->filter_w - 1) * g->dilation_w + 1;
    uint64_t reach_h = (g->filter_h - 1) * g->dilation_h + 1;
    uint64_t wide = g->w + g->pad_left + g->pad_right, high = g->h + g->pad_top + g->pad_bottom;
    if (!g->filter_w || !g->filter_h || !g->stride_w || !g->stride_h || !g->dilation_w ||
        !g->dilation_h || g->filter_w > 511 || g->filter_h > 511 || reach_w > wide ||
        reach_h > high || g->k > 65535 || g->m > 65535 || g->k_start > 65535 ||
        g->m_start > 65535) {
        sim_report(s, SIM_FAULT_BAD_PARAMETER, "filter %llu x %llu over a map of %llu x %llu",
                   (unsigned long long)g->filter_h, (unsigned long long)g->filter_w,
                   (unsigned long long)high, (unsigned long long)wide);
        return false;
    }
    g->out_w = (wide - reach_w) / g->stride_w + 1;
    g->out_size = g->out_w * ((high - reach_h) / g->stride_h + 1);
    return true;
}

/* Element number of (m, k) in the destination; the five layouts of LoadData_3D. */
static uint64_t image_target(const Image *g, uint64_t m, uint64_t k, uint32_t size)
{
    uint64_t m1 = (g->m + 15) / 16, k1 = (g->k + g->c0 - 1) / g->c0;
    if (g->to_a && !g->transpose)
        return (m / 16 * k1 + k / g->c0) * 16 * g->c0 + m % 16 * g->c0 + k % g->c0;
    if (g->to_a && size == 2)
        return (k / 16 * m1 + m / 16) * 256 + k % 16 * 16 + m % 16;
    if (g->to_a)
        return ((k / 16 * m1 + m / 16) * 2 + m % 16 / 8) * 128 + k % 16 * 8 + m % 8;
    if (size == 2)
        return (m / 16 * k1 + k / 16) * 256 + k % 16 * 16 + m % 16;
    return (m / 16 * 2 + m % 16 / 8) * ((g->k + 15) / 16 * 16) * 8 + k * 8 + m % 8;
}

/* Byte offset in the source of element (m, k) of the unfolded matrix; false: padding. */
static bool image_source(const Image *g, uint64_t m, uint64_t k, uint32_t size, uint64_t *at)
{
    uint64_t c = k % g->c0, point = k / g->c0;
    uint64_t fw = point % g->filter_w, fh = point / g->filter_w % g->filter_h;
    uint64_t c1 = point / g->filter_w / g->filter_h;
    uint64_t y = m / g->out_w * g->stride_h + fh * g->dilation_h;
    uint64_t x = m % g->out_w * g->stride_w + fw * g->dilation_w;
    if (y < g->pad_top || x < g->pad_left || y - g->pad_top >= g->h || x - g->pad_left >= g->w)
        return false;
    *at = (((c1 * g->h + y - g->pad_top) * g->w + x - g->pad_left) * g->c0 + c) * size;
    return true;
}

static bool image_element(Step *s, const Image *g, Fractals *f, uint64_t m, uint64_t k)
{
    Piece value;
    memset(value.defined, 0xFF, f->size);
    uint64_t at, to = f->to + image_target(g, m, k, f->size) * f->size;
    if (m + g->m_start >= g->out_size) {
        memset(value.at, 0xFF, f->size);
        memset(value.defined, 0, f->size);
    } else if (!image_source(g, m + g->m_start, k + g->k_start, f->size, &at)) {
        memcpy(value.at, &s->core->load3d_pad, f->size);
    } else if (!read_piece(s, at, f->size, &value)) {
        return false;
    }
    put_piece(f, to, &value, 0, f->size);
    return true;
}

static bool load_3d(Step *s)
{
    uint32_t bits = npu_dtype_bits(s->r->dtype[0]);
    Fractals f = {.size = bits < 8 ? 1 : bits / 8};
    if (bits < 4 || f.size > 4) {
        sim_report(s, SIM_FAULT_BAD_DTYPE, "image-to-column does not take %s",
                   npu_dtype_text(s->r->dtype[0]));
        return false;
    }
    Image g;
    if (!image_read(s, &g, f.size))
        return false;
    if (bits == 4) { /* channels in pairs */
        g.k = (g.k + 1) / 2;
        g.k_start /= 2;
    }
    if (f.size == 1 && (!g.to_a || g.transpose)) {
        sim_report(s, SIM_FAULT_BAD_DTYPE, "transposing loads do not take 1-byte types");
        return false;
    }
    uint64_t rows = (g.m + 15) / 16 * 16, columns = (g.k + g.c0 - 1) / g.c0 * g.c0;
    columns = g.to_a && !g.transpose ? columns : (columns + 15) / 16 * 16;
    if (!open_target(s, &f, 1u << NPU_L0A | 1u << NPU_L0B, rows * columns * f.size))
        return false;
    for (uint64_t m = 0; m < g.m; m++)
        for (uint64_t k = 0; k < g.k; k++)
            if (!image_element(s, &g, &f, m, k))
                return false;
    sim_count(s, rows * columns * f.size / FRACTAL, g.m * g.k * f.size, g.m * g.k * f.size);
    return true;
}

/* --- constants --- */

static bool fill_constant(Step *s)
{
    const Record *r = s->r;
    bool l1 = rec_space(r->operand[0].address) == NPU_L1;
    uint64_t unit = l1 ? BLOCK : FRACTAL, n = r->n[0], run = r->n[1] * unit;
    uint64_t step = run + r->n[2] * unit;
    Fractals f;
    if (r->n[0] > 32767 || r->n[1] > 32767 || r->n[2] > 32767) {
        sim_report(s, SIM_FAULT_BAD_PARAMETER, "%u repeats of %u blocks", r->n[0], r->n[1]);
        return false;
    }
    if (!open_target(s, &f, 1u << NPU_L1 | 1u << NPU_L0A | 1u << NPU_L0B,
                     n && run ? (n - 1) * step + run : 0))
        return false;
    for (uint64_t i = 0; i < n; i++)
        for (uint64_t k = 0; k < run; k += f.size)
            put(&f, f.to + i * step + k, (const uint8_t *)&r->scalar, f.size);
    sim_count(s, n, 0, n * run);
    return true;
}

bool exec_load(Step *s)
{
    switch (s->r->op) {
    case NPU_LOAD2D:
    case NPU_LOAD2D_GM: return load_2d(s);
    case NPU_LOAD_TRANSPOSE: return load_transposed(s);
    case NPU_LOAD3D: return load_3d(s);
    default: return fill_constant(s);
    }
}
