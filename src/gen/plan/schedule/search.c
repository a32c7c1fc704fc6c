/* Programs of a graph's nests, timed. In: a graph. Out: the plan of the fastest schedule found.
 *
 * The first roles of every band by analytic cost are built; then one thing is changed at a time: the roles of a
 * band, whether rows are dealt out in chunks, how many pieces a core gets, how many elements are worth a core.
 * A change stays where the cycle model finds it faster by more than 3 %. */
#include "gen/plan/schedule/search.h"

#include "gen/plan/build/build.h"
#include "gen/plan/clock.h"

#include <math.h>

enum {
    MOST_ROLES = 4,
    MOST_SPLIT = 8,
    MOST_PHASES = 6,
    LARGE_BAND = 1 << 14, /* elements */
    PARTS = 4,
    LINE = 64, /* elements that tiles of lanes are multiples of */
    MOST_TILE = 1 << 15,
    WIDER = 4,
    MOST_WHOLE = 2, /* times what is estimated to fit on chip */
    MOST_FOLDS = 4,
    FEW_PIECES = 2,  /* for each core */
    MORE_RECORDS = 4 /* times those of the best: what has more is slower, and is not timed */
};
#define SIZE_GAIN 0.995 /* of the time of the best, for other sizes of the same tiles */
#define FOLD_GAIN 0.7   /* of the analytic cost */
#define NEAR_BEST 1.3   /* times the best: worth larger tiles */
#define MUCH_FREE 1.25  /* times what is used of the memory on chip */
/* Instructions, flags and waits that are simulated for one kind of nest: then what was found stands. */
#define MOST_RECORDS 4000000

typedef struct Search {
    BuildTask task; /* its nest has the schedule's shared reductions */
    const Nest *base;
    PlanBuilt best;
    uint32_t budget;       /* programs that may still be timed */
    uint64_t most_records; /* of the first one; 0: any number */
    uint64_t *spent;       /* records that were simulated, by all searches of one kind of nest */
    PlanTried *tried;      /* NULL: nobody asks */
} Search;

static bool refuse_search(Diag *diag, const char *why)
{
    diag_error(diag, "G002", (Span){0}, "the planner cannot plan this task in one kernel: %s", why);
    return false;
}

/* Keeps what was timed; the number of it. */
static void note_tried(Search *s, const PlanBuilt *built)
{
    if (s->tried)
        vec_push(s->task.arena, s->tried, *built);
}

/* ---- bands and roles ---- */

typedef struct Roles {
    uint32_t n[SCHEDULE_BANDS];
    Band of[SCHEDULE_BANDS][MOST_ROLES]; /* per band, the cheapest first */
} Roles;

/* How many bands fill what they get of the memory on chip. */
static uint32_t large_bands(const Nest *nest, const Schedule *schedule)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < schedule->bands.len; i++)
        n += schedule_elements(nest, &schedule->bands.at[i]) > LARGE_BAND;
    return n ? n : 1;
}

/* The best roles of each band; the first band that has none. */
static const Band *choose_roles(Search *s, Schedule *schedule, Roles *roles, const char **why)
{
    for (uint32_t i = 0; i < schedule->bands.len; i++) {
        Band *band = &schedule->bands.at[i];
        band->beside = schedule->shares.len ? large_bands(s->task.nest, schedule) : 1;
        roles->n[i] = schedule_roles(s->task.nest, s->task.chip, band, roles->of[i], MOST_ROLES,
                                     why);
        if (!roles->n[i] &&
            band->beside > 1) { /* bands use each other's buffers where these are alike */
            band->beside = 1;
            roles->n[i] = schedule_roles(s->task.nest, s->task.chip, band, roles->of[i], MOST_ROLES,
                                         why);
        }
        if (!roles->n[i])
            return band;
        *band = roles->of[i][0];
    }
    return NULL;
}

/* Whether this axis is the innermost one of some tensor with several axes. */
static bool is_innermost(const Nest *nest, uint32_t axis)
{
    for (uint32_t i = 1; i < nest->values.len; i++)
        if (nest->values.at[i].op == NEST_LOAD && nest->values.at[i].index.n > 1 &&
            affine_by(&nest->values.at[i].index, axis) == 1)
            return true;
    return false;
}

/* Further reductions that all cores compute together, for the sake of the band. Sums of rows may be whole in a
 * tile: where other axes are shared, they wait until these are not enough. */
static bool share_more(Search *s, const Band *band, Schedule *schedule)
{
    NestId reductions[MOST_SPLIT];
    uint32_t split[MOST_SPLIT];
    uint32_t more = schedule_split(s->task.nest, s->task.chip, band, MOST_SPLIT, reductions, split);
    bool outer = false;
    for (uint32_t i = 0; i < more; i++)
        outer = outer || !is_innermost(s->task.nest, split[i]);
    for (uint32_t i = 0; i < more; i++)
        if (!outer || !is_innermost(s->task.nest, split[i]))
            vec_push(s->task.arena, &schedule->shares,
                     ((ScheduleShare){schedule_base_value(s->task.nest, reductions[i]), split[i]}));
    s->task.nest = schedule_nest(s->base, schedule);
    return more > 0;
}

/* Bands and the best roles of each. Where one has none, reductions that it needs are computed by all cores
 * together, in a phase of their own before it. */
static bool choose_bands(Search *s, Schedule *schedule, Roles *roles, Diag *diag)
{
    Diag first = diag_make(s->task.arena, diag->file, diag->source);
    for (int turn = 0; turn < 2 * MOST_PHASES; turn++) {
        Diag quiet = diag_make(s->task.arena, diag->file, diag->source);
        Diag *said = turn ? &quiet : &first;
        const char *why = NULL;
        bool together = turn % 2 == 0;
        bool legal = schedule_bands(s->task.nest, together, schedule, said);
        if (!legal && said->items.len == 0)
            break;
        const Band *failed = choose_roles(s, schedule, roles, &why);
        if (failed && legal)
            refuse_search(said, why);
        if (legal && !failed)
            return true;
        if (!together && (!failed || !share_more(s, failed, schedule)))
            break;
    }
    *diag = first;
    return false;
}

/* ---- programs ---- */

/* The first roles that can be built: with a dimension for every stride, or with small steps and what is inside
 * them as one. */
static bool build_first(Search *s, const Roles *roles, Diag *diag)
{
    PlanBuilt *best = &s->best;
    for (uint32_t k = 0; k < 2 * MOST_ROLES; k++) {
        bool other = false;
        Diag quiet = diag_make(s->task.arena, diag->file, diag->source);
        best->schedule.inside = k % 2;
        for (uint32_t b = 0; b < best->schedule.bands.len; b++) {
            other = other || k / 2 < roles->n[b];
            best->schedule.bands.at[b] =
                roles->of[b][k / 2 < roles->n[b] ? k / 2 : roles->n[b] - 1];
        }
        if (other && build_fit(&s->task, &best->schedule, &best->plan, &quiet)) {
            best->nest = s->task.nest;
            return true;
        }
        if (k == 0)
            *diag = quiet;
    }
    return false;
}

/* As simple a schedule: the same bands with the same roles, in other sizes. */
static bool same_roles(const Schedule *a, const Schedule *b)
{
    bool same = a->bands.len == b->bands.len && a->inside == b->inside;
    for (uint32_t i = 0; i < a->bands.len && same; i++) {
        const Band *x = &a->bands.at[i], *y = &b->bands.at[i];
        same = x->rows.axis == y->rows.axis && x->lanes.axis == y->lanes.axis &&
               x->rows.whole == y->rows.whole && x->lanes.whole == y->lanes.whole &&
               x->chunked == y->chunked;
    }
    return same;
}

/* Builds and times a change of the best program so far; it is kept where it is faster. */
static PlanBuilt try_change(Search *s, Schedule change)
{
    Diag quiet = diag_make(s->task.arena, "plan", STR(""));
    PlanBuilt built = {.nest = s->task.nest, .schedule = change};
    if (!s->best.timed || !s->budget || *s->spent > MOST_RECORDS ||
        !build_fit(&s->task, &built.schedule, &built.plan, &quiet))
        return built;
    s->budget--;
    uint64_t most = MORE_RECORDS * s->best.cost.records;
    built.timed = clock_cost_within(&built.plan, s->task.chip, most, &built.cost);
    *s->spent += built.timed ? built.cost.records : most;
    if (!built.timed)
        return built;
    note_tried(s, &built);
    double gain = same_roles(&built.schedule, &s->best.schedule) ? SIZE_GAIN : CLOCK_GAIN;
    if (built.cost.us < s->best.cost.us * gain)
        s->best = built;
    return built;
}

static int64_t nest_size(const Search *s, uint32_t axis)
{
    return s->task.nest->axes.at[axis].size;
}

static Schedule change_of(const Search *s)
{
    return schedule_copy(s->task.arena, &s->best.schedule);
}

/* `times` as many elements in a tile: rows where these are free, else lanes. False: as many as before. */
static bool scale_tiles(const Nest *nest, Band *band, double times)
{
    BandTile *t = band->rows.axis && !band->rows.whole ? &band->rows : &band->lanes;
    int64_t unit = t == &band->lanes ? LINE : 1, most = MOST_TILE;
    if (t->whole || !t->axis)
        return false;
    int64_t before = t->tile;
    if (nest->axes.at[t->axis].size < most)
        most = (nest->axes.at[t->axis].size + unit - 1) / unit * unit;
    t->tile = (int64_t)((double)t->tile * times) / unit * unit;
    t->tile = t->tile < unit ? unit : t->tile > most ? most : t->tile;
    return (t->tile + unit - 1) / unit != (before + unit - 1) / unit;
}

/* Tiles of another size: turns of less latency, or fewer of them. */
static void try_scaled(Search *s, double times)
{
    Schedule change = change_of(s);
    bool any = false;
    for (uint32_t b = 0; b < change.bands.len; b++)
        any = scale_tiles(s->task.nest, &change.bands.at[b], times) || any;
    if (any)
        try_change(s, change);
}

/* What is estimated to be held on chip may be more than what is: tiles that fill it. */
static void try_larger(Search *s, const PlanBuilt *of)
{
    double free = (double)s->task.chip->ub / (double)(of->cost.ub + 1);
    if (!of->timed || free < MUCH_FREE || of->cost.us > NEAR_BEST * s->best.cost.us)
        return;
    Schedule change = schedule_copy(s->task.arena, &of->schedule);
    bool any = false;
    for (uint32_t b = 0; b < change.bands.len; b++)
        any = scale_tiles(s->task.nest, &change.bands.at[b], free) || any;
    if (any)
        try_change(s, change);
}

/* One chunk for each core: it loads what its rows share once, and only its last tile is short. */
static void try_one_piece(Search *s, const PlanBuilt *of)
{
    if (!of->timed || of->cost.us > NEAR_BEST * s->best.cost.us)
        return;
    Schedule change = schedule_copy(s->task.arena, &of->schedule);
    change.parts = 1;
    try_change(s, change);
}

static void try_roles(Search *s, const Roles *roles, uint32_t least)
{
    for (uint32_t b = 0; b < s->best.schedule.bands.len; b++)
        for (uint32_t k = 1; k < roles->n[b] && s->budget > least; k++) {
            Schedule change = change_of(s);
            change.bands.at[b] = roles->of[b][k];
            PlanBuilt built = try_change(s, change);
            try_larger(s, &built);
            if (change.bands.at[b].chunked && change.parts > 1)
                try_one_piece(s, &built);
        }
    for (uint32_t b = 0; b < s->best.schedule.bands.len && s->budget > least; b++) {
        Schedule change = change_of(s);
        change.bands.at[b].chunked = false;
        if (s->best.schedule.bands.at[b].chunked)
            try_change(s, change);
    }
}

/* What is reduced held whole, in fewer rows or narrower lanes than before: memory is read once. */
static bool make_whole(const Search *s, Band *band)
{
    BandTile *rows = &band->rows, *lanes = &band->lanes;
    int64_t area = lanes->tile * (rows->axis ? rows->tile : 1), size = nest_size(s, lanes->axis);
    bool rows_reduced = rows->axis && band->reduced >> rows->axis & 1;
    if (band->reduced >> lanes->axis & 1) {
        if (lanes->whole || lanes->axis == band->split || rows_reduced || size > MOST_WHOLE * area)
            return false;
        lanes->whole = true;
        lanes->tile = (size + LINE - 1) / LINE * LINE;
        rows->tile = 1;
        return true;
    }
    if (!rows_reduced || rows->whole || rows->axis == band->split ||
        nest_size(s, rows->axis) * LINE > MOST_WHOLE * area)
        return false;
    rows->whole = true;
    rows->tile = nest_size(s, rows->axis);
    lanes->tile = area / rows->tile / LINE * LINE;
    lanes->tile = lanes->tile < LINE ? LINE : lanes->tile;
    return true;
}

static void try_whole(Search *s)
{
    for (uint32_t b = 0; b < s->best.schedule.bands.len; b++) {
        Schedule change = change_of(s);
        if (make_whole(s, &change.bands.at[b])) {
            PlanBuilt built = try_change(s, change);
            try_larger(s, &built);
        }
    }
}

/* The same of a task that is too large to be timed, where the analytic cost is less; the estimate of what is held
 * on chip is high, and lanes are made narrower until they fit. */
static void hold_whole(Search *s)
{
    for (uint32_t b = 0; b < s->best.schedule.bands.len; b++) {
        Diag quiet = diag_make(s->task.arena, "plan", STR(""));
        PlanBuilt built = {.nest = s->task.nest, .schedule = change_of(s)};
        Band *band = &built.schedule.bands.at[b];
        double before = schedule_cost(s->task.nest, s->task.chip, band);
        if (!make_whole(s, band))
            continue;
        if (band->rows.whole)
            band->lanes.tile *= MOST_WHOLE;
        if (build_fit(&s->task, &built.schedule, &built.plan, &quiet) &&
            schedule_cost(s->task.nest, s->task.chip, &built.schedule.bands.at[b]) <
                before * CLOCK_GAIN)
            s->best = built;
    }
}

/* Tiles of fewer rows and more lanes, as large as before: longer bursts. */
static bool widen_tiles(const Search *s, Band *band)
{
    BandTile *rows = &band->rows, *lanes = &band->lanes;
    if (!rows->axis || rows->whole || lanes->whole)
        return false;
    int64_t all = (nest_size(s, lanes->axis) + LINE - 1) / LINE * LINE;
    int64_t wider = lanes->tile * WIDER < all ? lanes->tile * WIDER : all;
    int64_t by = (wider + lanes->tile - 1) / lanes->tile;
    if (by < 2 || rows->tile < by)
        return false;
    lanes->tile = wider;
    rows->tile /= by;
    return true;
}

static void try_wider(Search *s)
{
    Schedule change = change_of(s);
    bool any = false;
    for (uint32_t b = 0; b < change.bands.len; b++)
        any = widen_tiles(s, &change.bands.at[b]) || any;
    if (any)
        try_change(s, change);
}

/* How much a core gets at once, then fewer cores. */
static void try_shares(Search *s)
{
    static const int64_t parts[] = {2, 1, 8}, shares[] = {24, 16, 12, 8, 6};
    for (int i = 0; i < 3; i++) {
        Schedule change = change_of(s);
        change.parts = parts[i];
        try_change(s, change);
    }
    for (int i = 0; i < 5; i++) {
        Schedule change = change_of(s);
        double all = schedule_elements(s->task.nest, schedule_largest(s->task.nest, &change));
        change.each = (int64_t)(all / (double)shares[i]) + 1;
        try_change(s, change);
    }
}

static void search_programs(Search *s, const Roles *roles, bool always)
{
    const Graph *graph = s->task.nest->graph;
    uint32_t half = s->budget / 2;
    s->best.timed = s->budget &&
                    clock_cost_within(&s->best.plan, s->task.chip, s->most_records, &s->best.cost);
    if (!s->budget)
        hold_whole(s);
    if (!s->best.timed)
        return;
    *s->spent += s->best.cost.records;
    note_tried(s, &s->best);
    if (!always && s->best.cost.us < CLOCK_NEAR * clock_least(graph, s->task.chip))
        return;
    double first = s->best.cost.us;
    try_whole(s);
    try_larger(s, &s->best);
    try_wider(s);
    try_roles(s, roles, half);
    try_shares(s);
    if (s->best.cost.us < first)
        try_larger(s, &s->best);
    try_scaled(s, 0.67);
    try_scaled(s, 0.5);
}

/* Rows are next to each other in memory, not lanes: what is dealt out is read in small pieces. */
static bool turns_tiles(const Nest *nest, const Band *band)
{
    const bool *wanted = schedule_values(nest, band);
    for (uint32_t i = 1; i < nest->values.len; i++)
        if (wanted[i] && nest->values.at[i].op == NEST_LOAD &&
            schedule_is_transposed(band, &nest->values.at[i].index))
            return true;
    return false;
}

/* Whether the band leaves some cores with less work than others, or none. */
static bool has_few_pieces(const Search *s, const Band *band)
{
    double pieces = turns_tiles(s->task.nest, band) ? 0 : 1;
    for (uint32_t a = 1; a < s->task.nest->axes.len; a++)
        if (band->kept >> a & 1)
            pieces *= a == band->lanes.axis ? ceil((double)nest_size(s, a) / LINE)
                                            : (double)nest_size(s, a);
    return !band->split && band->reduced && pieces < FEW_PIECES * s->task.chip->aiv &&
           schedule_elements(s->task.nest, band) > LARGE_BAND;
}

/* Reductions of bands of few pieces are computed by all cores together: a second search, from the bands on. */
static void try_all_cores(Search *s, uint32_t budget, bool always)
{
    Roles roles;
    Diag quiet = diag_make(s->task.arena, "plan", STR(""));
    Search other = *s;
    bool any = false;
    if (!s->best.timed || !budget ||
        (!always && s->best.cost.us < CLOCK_NEAR * clock_least(s->base->graph, s->task.chip)))
        return;
    other.best = (PlanBuilt){.schedule = {.parts = PARTS}};
    for (uint32_t i = 0; i < s->best.schedule.shares.len; i++)
        vec_push(s->task.arena, &other.best.schedule.shares, s->best.schedule.shares.at[i]);
    for (uint32_t i = 0; i < s->best.schedule.bands.len && !any; i++)
        any = has_few_pieces(s, &s->best.schedule.bands.at[i]) &&
              share_more(&other, &s->best.schedule.bands.at[i], &other.best.schedule);
    other.budget = budget;
    if (!any || !choose_bands(&other, &other.best.schedule, &roles, &quiet) ||
        !build_first(&other, &roles, &quiet))
        return;
    search_programs(&other, &roles, always);
    if (other.best.timed && other.best.cost.us < s->best.cost.us * CLOCK_GAIN)
        *s = other;
}

static void limit_tiles(Schedule *schedule, int64_t tile_limit)
{
    for (uint32_t i = 0; i < schedule->bands.len; i++) {
        Band *band = &schedule->bands.at[i];
        if (band->lanes.tile > tile_limit && !band->lanes.whole)
            band->lanes.tile = tile_limit;
        if (band->rows.axis && !band->rows.whole)
            band->rows.tile = 1;
    }
}

/* Plans a nest with these axes as one; false: it has no program. */
static bool plan_folded(const Search *of, const NestFold *fold, Search *s, uint32_t budget)
{
    Roles roles;
    Diag quiet = diag_make(of->task.arena, "plan", STR(""));
    *s = (Search){.task = of->task,
                  .base = of->base,
                  .budget = budget,
                  .spent = of->spent,
                  .tried = of->tried};
    s->best.schedule.parts = PARTS;
    s->best.schedule.fold = *fold;
    s->task.nest = schedule_nest(s->base, &s->best.schedule);
    if (!s->task.nest || !choose_bands(s, &s->best.schedule, &roles, &quiet) ||
        !build_first(s, &roles, &quiet))
        return false;
    search_programs(s, &roles, false);
    return true;
}

static double analytic_cost(const Search *s)
{
    double cost = 0;
    for (uint32_t i = 0; i < s->best.schedule.bands.len; i++)
        cost += s->best.schedule.bands.at[i].cost;
    return cost;
}

/* By the cycle model, or where nothing is timed by the analytic cost. */
static bool is_faster(const Search *a, const Search *b)
{
    if (a->best.timed && b->best.timed)
        return a->best.cost.us < b->best.cost.us * CLOCK_GAIN;
    return !b->best.timed && analytic_cost(a) < analytic_cost(b) * FOLD_GAIN;
}

/* Reductions of reductions: the inner ones are computed in a phase of their own and stored. False: there are
 * none, or no program. */
static bool search_kept(Search *s, uint32_t budget, bool always)
{
    NestId kept[MOST_SPLIT];
    Roles roles;
    Diag quiet = diag_make(s->task.arena, "plan", STR(""));
    uint32_t n = schedule_keep(s->base, MOST_SPLIT, kept);
    for (uint32_t i = 0; i < n; i++)
        vec_push(s->task.arena, &s->best.schedule.shares, ((ScheduleShare){kept[i], 0}));
    s->task.nest = schedule_nest(s->base, &s->best.schedule);
    if (!n || !choose_bands(s, &s->best.schedule, &roles, &quiet) ||
        !build_first(s, &roles, &quiet))
        return false;
    s->budget = budget;
    search_programs(s, &roles, always);
    return true;
}

/* Results or reductions with short runs in memory: several axes as one. `found`: there is a program to beat. */
static bool try_folds(Search *s, bool found)
{
    NestFold folds[MOST_FOLDS];
    uint32_t n = nest_folds(s->base, folds, MOST_FOLDS);
    bool slow = !found || !s->best.timed ||
                s->best.cost.us > CLOCK_NEAR * clock_least(s->base->graph, s->task.chip);
    for (uint32_t i = 0; i < n && slow; i++) {
        Search other;
        if (!plan_folded(s, &folds[i], &other, clock_budget(s->base->graph) - 1))
            continue;
        if (!found || is_faster(&other, s)) {
            s->best = other.best;
            s->task = other.task;
            found = true;
        }
    }
    return found;
}

/* False: it has no nest of this kind, or windows of which it has none. */
static bool open_search(Arena *arena, const Graph *graph, const NpuChip *chip, const char *name,
                        NestKind kind, Search *s, Diag *diag)
{
    Nest *nest = nest_derive_kind(arena, graph, kind, diag);
    if (!nest)
        return false;
    if (kind == NEST_WINDOWED && !nest_has_windows(nest))
        return refuse_search(diag, "it has no windows");
    nest_merge(nest);
    *s = (Search){.task = {.arena = arena, .nest = nest, .chip = chip, .name = name}, .base = nest};
    s->spent = arena_new(arena, uint64_t);
    s->best.schedule.parts = PARTS;
    return true;
}

/* Every kind of program there is: the fastest is the search's best. `always`: also where an early one is near the
 * least. */
static bool search_all(Search *s, uint32_t budget, bool always, Diag *diag)
{
    Roles roles;
    Search kept = *s;
    Diag said = diag_make(s->task.arena, diag->file, diag->source);
    bool has_kept = !nest_has_windows(s->base) && search_kept(&kept, budget, always);
    if (has_kept && kept.best.timed)
        s->most_records = MORE_RECORDS * kept.best.cost.records;
    bool found = choose_bands(s, &s->best.schedule, &roles, &said) && build_first(s, &roles, &said);
    s->budget = budget;
    if (found) {
        search_programs(s, &roles, always);
        try_all_cores(s, budget / 2, always);
    }
    if (has_kept && (!found || (kept.best.timed && !s->best.timed) || is_faster(&kept, s))) {
        *s = kept;
        found = true;
    }
    if (try_folds(s, found))
        return true;
    *diag = said;
    return false;
}

/* The best program of one kind of nest. `tried`: all that are timed are kept, whatever the task's size. */
static bool search_kind(Arena *arena, const Graph *graph, const NpuChip *chip, const char *name,
                        NestKind kind, uint32_t budget, PlanTried *tried, Search *s, Diag *diag)
{
    if (!open_search(arena, graph, chip, name, kind, s, diag))
        return false;
    s->tried = tried;
    return search_all(s, budget, tried != NULL, diag);
}

/* Borders of pads cut results into parts, or are the edges of windows: the faster one. */
static bool search_kinds(Arena *arena, const Graph *graph, const NpuChip *chip, const char *name,
                         uint32_t budget, PlanTried *tried, Search *s, Diag *diag)
{
    Diag quiet = diag_make(arena, diag->file, diag->source);
    Search other = {0};
    bool found = search_kind(arena, graph, chip, name, NEST_AFFINE, budget, tried, s, diag);
    if (found && !tried && s->best.timed && s->best.cost.us < CLOCK_NEAR * clock_least(graph, chip))
        return true;
    if (!search_kind(arena, graph, chip, name, NEST_WINDOWED, budget, tried, &other, &quiet)) {
        if (!found && other.base)
            *diag = quiet;
        return found;
    }
    if (!found || is_faster(&other, s))
        *s = other;
    return true;
}

bool plan_nest(Arena *arena, const Graph *graph, const NpuChip *chip, int64_t tile_limit,
               const char *name, Plan *plan, Diag *diag)
{
    Search s;
    if (!search_kinds(arena, graph, chip, name, clock_budget(graph) - 1, NULL, &s, diag))
        return false;
    if (tile_limit) {
        limit_tiles(&s.best.schedule, tile_limit);
        if (!build_fit(&s.task, &s.best.schedule, &s.best.plan, diag))
            return false;
    }
    *plan = s.best.plan;
    return true;
}

bool plan_nest_tried(Arena *arena, const Graph *graph, const NpuChip *chip, const char *name,
                     uint32_t most, PlanTried *tried, uint32_t *best, Diag *diag)
{
    Search s;
    *best = 0;
    if (!search_kinds(arena, graph, chip, name, most, tried, &s, diag))
        return false;
    if (!tried->len)
        note_tried(&s, &s.best);
    for (uint32_t i = 0; i < tried->len; i++)
        if (tried->at[i].plan.craft.at == s.best.plan.craft.at)
            *best = i;
    return true;
}

bool plan_nest_text(Arena *arena, const Graph *graph, const NpuChip *chip, const char *file,
                    Str text, const char *name, PlanBuilt *built, Diag *diag)
{
    Search s;
    Diag said = diag_make(arena, file, text);
    NestKind kind = schedule_has_windows(text) ? NEST_WINDOWED : NEST_AFFINE;
    if (!open_search(arena, graph, chip, name, kind, &s, diag))
        return false;
    *built = (PlanBuilt){0};
    bool ok = schedule_parse(s.base, text, &built->schedule, &said);
    if (ok) {
        built->nest = s.task.nest = schedule_nest(s.base, &built->schedule);
        ok = build_plan(&s.task, &built->schedule, &built->plan, &said);
    }
    for (uint32_t i = 0; i < said.items.len; i++)
        vec_push(arena, &diag->items, said.items.at[i]);
    diag->errors += said.errors;
    return ok;
}

/* ---- round tiles ---- */

enum { LEAST_LANES = 8, LEAST_HALVED = 64 };

static int64_t power_of_two(int64_t least)
{
    int64_t n = 1;
    while (n < least)
        n *= 2;
    return n;
}

/* The power of two that holds the axis, or the largest one that is no more than the tile. */
static void round_tile(const Nest *nest, BandTile *t, int64_t least)
{
    if (!t->axis)
        return;
    int64_t size = nest->axes.at[t->axis].size, n = power_of_two(t->tile);
    t->tile = t->tile >= size ? power_of_two(size) : n > t->tile ? n / 2 : n;
    t->tile = t->tile < least ? least : t->tile;
}

static void round_tiles(const Nest *nest, Schedule *s)
{
    for (uint32_t i = 0; i < s->bands.len; i++) {
        round_tile(nest, &s->bands.at[i].lanes, LEAST_LANES);
        round_tile(nest, &s->bands.at[i].rows, 1);
    }
}

/* Tiles of half the size: rows, then lanes. Nothing that is whole is cut. */
static void halve_tiles(Schedule *s)
{
    for (uint32_t i = 0; i < s->bands.len; i++) {
        BandTile *rows = &s->bands.at[i].rows, *lanes = &s->bands.at[i].lanes;
        if (rows->axis && !rows->whole && rows->tile > 1)
            rows->tile /= 2;
        else if (lanes->tile > LEAST_HALVED && !lanes->whole)
            lanes->tile /= 2;
    }
}

/* What fits was found; now half of it, in round numbers. */
static bool build_rounded(const BuildTask *task, PlanBuilt *built, Diag *diag)
{
    round_tiles(built->nest, &built->schedule);
    halve_tiles(&built->schedule);
    if (!build_fit(task, &built->schedule, &built->plan, diag))
        return false;
    round_tiles(built->nest, &built->schedule);
    return build_fit(task, &built->schedule, &built->plan, diag);
}

bool plan_nest_at(Arena *arena, const Graph *graph, const NpuChip *chip, const PlanPoint *point,
                  const char *name, PlanBuilt *built, Diag *diag)
{
    Search s;
    Roles roles;
    Schedule wanted = {0};
    bool other = false;
    Diag quiet_kind = diag_make(arena, diag->file, diag->source);
    if ((!open_search(arena, graph, chip, name, NEST_AFFINE, &s, diag) &&
         !open_search(arena, graph, chip, name, NEST_WINDOWED, &s, &quiet_kind)) ||
        !choose_bands(&s, &wanted, &roles, diag))
        return false;
    s.task.bare = true;
    wanted.parts = point->parts;
    for (uint32_t i = 0; i < wanted.bands.len; i++) {
        uint32_t n = roles.n[i];
        other = other || point->roles < n;
        wanted.bands.at[i] = roles.of[i][point->roles < n ? point->roles : n - 1];
    }
    if (!other)
        return refuse_search(diag, "it has no further roles");
    for (uint32_t i = 0; i < point->smaller; i++)
        build_shrink(&wanted);
    for (int inside = 0; inside < 2; inside++) {
        Diag quiet = diag_make(arena, diag->file, diag->source);
        *built = (PlanBuilt){.nest = s.task.nest, .schedule = schedule_copy(arena, &wanted)};
        built->schedule.inside = inside;
        if (build_fit(&s.task, &built->schedule, &built->plan, &quiet) &&
            (!point->rounded || build_rounded(&s.task, built, &quiet)))
            return true;
        if (!inside)
            *diag = quiet;
    }
    return false;
}
