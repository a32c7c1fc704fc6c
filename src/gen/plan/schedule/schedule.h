/* A schedule: how the loops of a nest are run on the vector cores, as data.
 *
 *     band y0: cores a1 a2; rows a3 by 16; lanes a4 whole, at most 64; loops a5
 *
 * A band computes results that share their loops. Its axes have roles: `cores` axes are dealt out to the
 * cores; a tile on chip has `rows` of `lanes`; `loops` axes are walked one element at a time inside a
 * core, which only reductions need. The tiled axis of what is not reduced is dealt out too, in pieces; of
 * what is reduced it is walked inside a core, unless it is whole: then every turn holds all of it, and
 * memory is read once however many reductions depend on each other.
 *
 *     share v3 over a1
 *     band w0: cores share a1; rows a1 by 16; lanes a2 by 64
 *     all cores wait
 *     band y0: cores a1; ...
 *
 * In a band whose cores share a reduced axis each of them walks a part of it and everything else, and stores
 * what it found to a row of its own of a workspace; a band of a later phase merges these rows. The text form
 * is that of docs/planner.md. */
#ifndef GEN_PLAN_SCHEDULE_SCHEDULE_H
#define GEN_PLAN_SCHEDULE_SCHEDULE_H

#include "gen/plan/nest/nest.h"
#include "npu/npu.h"

enum {
    SCHEDULE_BANDS = 12, /* of a kernel, at most */
    SCHEDULE_SHARES = 16,
    SCHEDULE_ROW_GAP = 1 << 28 /* elements between the rows of a copy, at most */
};

typedef struct BandTile {
    uint32_t axis; /* 0: none */
    int64_t tile;  /* most elements at once */
    bool
        whole; /* all elements, at most `tile`; of what is kept, so that copies beside each other join */
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

typedef VEC(Band) Bands;

/* A reduction that all cores compute together, and the axis whose parts they take; 0: its elements are dealt
 * out, and those who read it load them a phase later. */
typedef struct ScheduleShare {
    NestId reduction; /* of the nest as it was derived */
    uint32_t axis;
} ScheduleShare;

typedef struct Schedule {
    NestFold fold; /* axes of the nest as it was derived that are walked as one; n is 0: none */
    VEC(ScheduleShare) shares;
    Bands bands;
    Bands longer; /* a kernel for sizes at which what the bands hold whole is longer; empty: none */
    int64_t parts;               /* pieces of work for each core, about */
    int64_t each;                /* elements that are worth a core; 0: all cores always */
    int load_depth, store_depth; /* buffers of each copy in, of each copy out */
    bool inside; /* steps of up to 4 elements and what is inside them are one dimension of inputs */
} Schedule;

/* Why a band is not legal, and the axis that stands in the way; 0: none in particular. */
typedef struct ScheduleFault {
    const char *why; /* NULL: it is legal */
    uint32_t axis;
} ScheduleFault;

Schedule schedule_copy(Arena *arena, const Schedule *of);
/* The nest with the schedule's fold and shared reductions; NULL: it cannot be folded. Number of one of its values before that. */
Nest *schedule_nest(const Nest *base, const Schedule *schedule);
NestId schedule_base_value(const Nest *nest, NestId id);

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
/* What the band's roles and tiles cost by the analytic model. */
double schedule_cost(const Nest *nest, const NpuChip *chip, const Band *band);
/* Whether no reduction is walked inside the walk of another one, and what is scanned is an axis of
 * the tile. */
bool schedule_nests(const Nest *nest, const Band *band);
/* What the band's results keep and reduce; false: they have no loops in common. */
ScheduleFault schedule_own_axes(const Nest *nest, Band *band);
/* Whether accesses and reductions of the band can have these roles; whether these tiles are possible. */
ScheduleFault schedule_fault(const Nest *nest, const Band *band, const bool *wanted);
ScheduleFault schedule_tile_fault(const Nest *nest, const Band *band);
/* Whether all cores may compute the reduction together, each a part of the axis. */
ScheduleFault schedule_share_fault(const Nest *base, const ScheduleShare *share);
/* Whether two loads differ by whole rows alone, and by how many b is behind a. Such loads share a copy. */
bool schedule_shifted(const Nest *nest, const Band *band, NestId a, NestId b, int64_t *rows);
/* Reductions that others reduce once more, and that are worth a phase of their own; at most `most`. */
uint32_t schedule_keep(const Nest *nest, uint32_t most, NestId *reductions);
/* Which values a band computes. */
bool *schedule_values(const Nest *nest, const Band *band);
bool band_is_tiled(const Band *band, uint32_t axis);          /* in rows or lanes */
double schedule_elements(const Nest *nest, const Band *band); /* that the band walks */
const Band *schedule_largest(const Nest *nest, const Schedule *schedule);
/* Its elements, or pieces of it, are dealt out to the cores: it is kept and not whole in every tile. */
bool band_deals(const Band *band, uint32_t axis);
/* How far behind x the access y to the same tensor is, where that is a number of lanes alone and both walk
 * the lanes one by one. Such accesses are one copy where the lanes are whole. */
bool schedule_beside(const Band *band, const Affine *x, const Affine *y, int64_t *lanes);

/* Rows of the tile are next to each other in memory, not its lanes: what is loaded is turned on chip. */
bool schedule_is_transposed(const Band *band, const Affine *index);

/* Bursts of a copy of a box: how many elements each has. */
int64_t schedule_box_run(const Nest *nest, const Band *band, const Affine *index);

/* The text form: all of it, and one line for each band alone. */
void schedule_print(const Nest *nest, const Schedule *schedule, Buf *out);
void schedule_print_bands(const Nest *nest, const Bands *bands, Buf *out);
const char *schedule_store_name(const Nest *nest, uint32_t store); /* "y0", "y0.1", "w2" */
/* Reads it for a nest as it was derived. False, with diagnostics: what is wrong with it, and at which axis. */
bool schedule_parse(const Nest *base, Str text, Schedule *schedule, Diag *diag);
/* The text is of a nest whose pools and pads are windows. */
bool schedule_has_windows(Str text);
/* A random text; the same for the same seed and number. */
void schedule_draw(const Nest *base, uint64_t seed, uint64_t number, Buf *out);

#endif
