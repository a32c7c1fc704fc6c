/* A schedule: how the loops of a nest are run on the vector cores, as data.
 *
 *     band: cores a1 a2; rows a3 by 16; lanes a4 whole; loops a5
 *
 * A band computes results that share their loops. Its axes have roles: `cores` axes are dealt out to the
 * cores; a tile on chip has `rows` of `lanes`; `loops` axes are walked one element at a time inside a
 * core, which only reductions need. The tiled axis of what is not reduced is dealt out too, in pieces; of
 * what is reduced it is walked inside a core, unless it is whole: then every turn holds all of it, and
 * memory is read once however many reductions depend on each other.
 *
 *     band: cores share a1; rows a1 by 16; lanes a2 by 64
 *     all cores wait
 *     band: cores a1; ...
 *
 * In a band whose cores share a reduced axis each of them walks a part of it and everything else, and stores
 * what it found to a row of its own of a workspace; a band of a later phase merges these rows. */
#ifndef GEN_PLAN_SCHEDULE_SCHEDULE_H
#define GEN_PLAN_SCHEDULE_SCHEDULE_H

#include "gen/plan/nest/nest.h"
#include "npu/npu.h"

enum { SCHEDULE_BANDS = 12 }; /* of a kernel, at most */

typedef struct BandTile {
    uint32_t axis; /* 0: none */
    int64_t tile;  /* most elements at once */
    bool whole;    /* all elements, at most `tile` */
} BandTile;

typedef struct Band {
    VEC(uint32_t) stores; /* numbers of the nest's stores */
    uint32_t phase;
    uint32_t
        split; /* the reduced axis that the cores share; 0: none, and what is kept is dealt out */
    uint64_t kept;    /* axes that are dealt out, tiled ones among them */
    uint64_t reduced; /* axes that reductions take */
    uint32_t
        beside; /* bands of the kernel that share the memory on chip, this one among them; 0: one */
    BandTile rows, lanes;
    bool
        chunked; /* rows are dealt out in chunks of several tiles; what they share is loaded once a chunk */
    double cost; /* of the analytic model: cycles of the busiest pipe of a core */
} Band;

typedef struct Schedule {
    VEC(Band) bands;
} Schedule;

/* The nest's results in bands; roles not chosen yet. `together`: results of a phase are in one band where any
 * of them is reduced over what others are dealt out by. False, with a diagnostic: some depend on reductions
 * over axes that they are themselves dealt out by. */
bool schedule_bands(const Nest *nest, bool together, Schedule *schedule, Diag *diag);
/* Which reductions of a band that has no legal roles all cores should compute together, and the axis that
 * they share for each; at most `most`. 0: none would help. */
uint32_t schedule_split(const Nest *nest, const NpuChip *chip, const Band *band, uint32_t most,
                        NestId *reductions, uint32_t *split);
/* The cheapest legal roles for a band, at most `most`, the best first. 0: none is legal; *why says what stood
 * in the way. */
uint32_t schedule_roles(const Nest *nest, const NpuChip *chip, const Band *band, Band *best,
                        uint32_t most, const char **why);
/* Whether no reduction is walked inside the walk of another one. */
bool schedule_nests(const Nest *nest, const Band *band);
/* Whether two loads differ by whole rows alone, and by how many b is behind a. Such loads share a copy. */
bool schedule_shifted(const Nest *nest, const Band *band, NestId a, NestId b, int64_t *rows);
/* Which values a band computes. */
bool *schedule_values(const Nest *nest, const Band *band);
bool band_is_tiled(const Band *band, uint32_t axis); /* in rows or lanes */
void schedule_print(const Nest *nest, const Schedule *schedule, Buf *out);

#endif
