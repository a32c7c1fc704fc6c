/* Convolutions on the cube, without an im2col buffer.
 *
 *     conv_taps ─conv_read─▶ Taps ─conv_list─▶ ConvBlocks ─plan_conv─▶ Craft text
 *
 * A row of output places lies in one piece in the input, shifted by each tap of the window, and so do the places
 * of several rows with what stands between them: y[o, p] = sum over taps and channels of w[o, tap, c] x[c, p +
 * shift(tap)] is a product whose right side is loaded anew for each tap, from where it lies. Rows of the window that
 * stand whole fractals apart are read from one tile of L1: then it is loaded anew for each column of the window. */
#ifndef GEN_PLAN_CUBE_CONV_H
#define GEN_PLAN_CUBE_CONV_H

#include "gen/plan/plan.h"

enum { CONV_DIMS = 3 };

typedef struct Taps {
    ValueId x, w, y;
    DType dtype;
    bool hf32;                                 /* f32 is rounded to HF32 */
    int64_t images, groups, channels, outputs; /* channels and outputs of a group */
    int64_t phases, start;                     /* start: elements before the first that is seen */
    int64_t in[CONV_DIMS], out[CONV_DIMS],
        k[CONV_DIMS]; /* of a phase; of the result; of the window */
    int64_t stride[CONV_DIMS], dilation[CONV_DIMS];
} Taps;

/* False: the graph is something else than one conv_taps of tensors. */
bool conv_read(const Graph *graph, Taps *t);

typedef struct ConvBlocks {
    int64_t m;    /* outputs of a tile of L0C */
    int64_t rows; /* rows of places of a tile; 0: a part of one row */
    int64_t n;    /* columns of a tile */
    int64_t taps; /* taps in a tile of L1 with all their channels; 0: some channels of one tap */
    int64_t
        shared; /* columns of a tile of L1 that all rows of the window are read from; 0: each tap's own */
    int64_t k1, k0;  /* of tiles of L1, of L0 */
    int64_t c_depth; /* of L0C */
    double cycles;   /* predicted, of the slowest core */
} ConvBlocks;

/* Up to `most`, the fastest by predicted cycles first; 0 where nothing fits. */
uint32_t conv_list(const Taps *t, const NpuChip *chip, ConvBlocks *out, uint32_t most);

bool plan_conv(Arena *arena, const Graph *graph, const NpuChip *chip, int64_t tile_limit,
               const char *name, Plan *plan, Diag *diag);

#endif
