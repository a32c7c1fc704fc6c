/* Records that repeat are passed over: findings, cycles, statistics and coverage are those of a run
 * that executes every one. Streams are made at random from loops, so that periods begin, end and break
 * off everywhere. */
#include "base/rng.h"
#include "sim/cycle.h"
#include "sim/hazard.h"
#include "tests/sim/rig.h"

enum { CORES = 3, MOST = 40000, BODY = 24 };
#define OUT (1ull << 40)
#define SCRATCH (2ull << 40)

typedef struct Program {
    Record *r;
    size_t len;
    uint64_t draws;
    uint64_t seed;
    uint32_t core;
} Program;

static uint32_t draw(Program *p, uint32_t below)
{
    return (uint32_t)(rng_u64(p->seed, p->core, p->draws++) % below);
}

static void put(Program *p, Record r)
{
    if (p->len < MOST)
        p->r[p->len++] = r;
}

static Record move(uint16_t op, uint64_t d, uint64_t s, uint32_t bytes, uint32_t line)
{
    Record r = {.op = op, .pipe = (uint8_t)npu_isa(op)->pipe, .n = {1, bytes}, .line = line};
    r.operand[0].address = d;
    r.operand[1].address = s;
    return r;
}

/* One instruction of a loop's body; `turn` moves what lies in GM on. */
typedef struct Item {
    uint32_t kind, ub, other, bytes, pipe, target, id;
} Item;

static Item draw_item(Program *p)
{
    return (Item){.kind = draw(p, 16),
                  .ub = 4096 * draw(p, 8),
                  .other = 4096 * draw(p, 8),
                  .bytes = 32 * (1 + draw(p, 128)),
                  .pipe = draw(p, 3),
                  .target = draw(p, 3),
                  .id = draw(p, 3)};
}

static void put_item(Program *p, const Item *i, uint64_t turn, uint32_t line)
{
    static const uint8_t pipes[] = {NPU_PIPE_V, NPU_PIPE_MTE2, NPU_PIPE_MTE3};
    uint64_t at = (p->core * 2000 + turn) * 4096 + i->ub * 4;
    uint8_t from = pipes[i->pipe], to = pipes[i->target];
    Record r;
    switch (i->kind) {
    case 0:
    case 1:
    case 2: r = move(NPU_COPY_GM_UB, UB(i->ub), GM(at), i->bytes, line); break;
    case 3:
    case 4: r = move(NPU_COPY_UB_GM, GM(OUT + at), UB(i->ub), i->bytes, line); break;
    case 5: r = move(NPU_COPY_UB_GM, GM(SCRATCH + i->ub), UB(i->ub), i->bytes, line); break;
    case 6: r = move(NPU_COPY_GM_UB, UB(i->ub), GM(SCRATCH + i->other), i->bytes, line); break;
    case 7:
    case 8:
        if (from == to) {
            r = (Record){.op = NPU_BARRIER, .mode = i->id ? from : NPU_PIPE_ALL};
            break;
        }
        r = (Record){.op = NPU_SET_FLAG, .pipe = from, .mode = to, .n = {i->id}};
        r.line = line;
        put(p, r);
        r.op = NPU_WAIT_FLAG;
        break;
    case 9: r = (Record){.op = NPU_SCALAR_WORK, .n = {i->id + 1}}; break;
    default:
        r = rig_vec(i->kind < 12 ? NPU_ADD : NPU_EXP, NPU_DT_F32, i->ub, i->other, 4096 * i->id,
                    i->bytes / 4);
        r.scalar = turn; /* a value: must not matter */
    }
    r.line = line;
    put(p, r);
}

static void put_loop(Program *p)
{
    Item body[BODY];
    uint32_t n = 1 + draw(p, BODY), turns = draw(p, 4) ? draw(p, 60) : 300 + draw(p, 500);
    uint32_t odd = draw(p, 2) ? draw(p, turns + 1) : UINT32_MAX, kind = draw(p, 16);
    bool calm = draw(p, 4) != 0; /* every instruction waits for all before it */
    for (uint32_t i = 0; i < n; i++)
        body[i] = draw_item(p);
    for (uint32_t turn = 0; turn < turns; turn++)
        for (uint32_t i = 0; i < n; i++) {
            Item item = body[i];
            item.kind = turn == odd && i == n / 2 ? kind : item.kind;
            item.kind = calm && (item.kind == 5 || item.kind == 6) ? 10 : item.kind;
            put_item(p, &item, turn, 10 + i);
            if (calm && (i % 3 != 2 || turn != odd))
                put(p, (Record){.op = NPU_BARRIER, .mode = NPU_PIPE_ALL, .line = 10 + i});
        }
    if (draw(p, 3) == 0)
        put(p, (Record){.op = NPU_SYNC_ALL, .line = 99});
}

typedef struct Outcome {
    CycleReport report;
    uint64_t pairs, inserted, unwritten, first, passed;
    SimStat stat[NPU_OP_COUNT];
    Buf faults;
} Outcome;

static Sim *open(bool no_memo)
{
    SimConfig config = {.chip = npu_chip_find(STR("910B2")),
                        .kind = SIM_AIV,
                        .blocks = CORES,
                        .keep_going = true,
                        .no_data = true,
                        .no_memo = no_memo};
    Sim *sim = sim_open(&config);
    SimRegion in = {"x", RIG_GM, 8000 * 4096, NULL, NPU_DT_F32, .role = SIM_IN};
    SimRegion out = {"y", RIG_GM + OUT, 6500 * 4096, NULL, NPU_DT_F32, .role = SIM_OUT};
    SimRegion scratch = {"w", RIG_GM + SCRATCH, 1 << 16, NULL, NPU_DT_F32, .role = SIM_WORKSPACE};
    REQUIRE(sim && sim_gm_add(sim, &in) && sim_gm_add(sim, &out) && sim_gm_add(sim, &scratch));
    return sim;
}

/* Cores in turns, as the twin feeds them. */
static void feed_all(Sim *sim, const Program *p)
{
    size_t at[CORES] = {0};
    bool moved = true;
    while (moved) {
        moved = false;
        for (uint32_t core = 0; core < CORES; core++) {
            size_t left = p[core].len - at[core], used = 0, n = left < 100 ? left : 100;
            if (n == 0 || !sim_can_run(sim, core))
                continue;
            sim_feed(sim, core, p[core].r + at[core], n, &used);
            at[core] += used;
            moved |= used > 0;
        }
    }
}

static void run(const Program *p, bool no_memo, Outcome *o)
{
    *o = (Outcome){0};
    Sim *sim = open(no_memo);
    Hazard *hazard = hazard_open(sim, false);
    Cycle *cycle = cycle_open(sim);
    feed_all(sim, p);
    sim_finish(sim);
    cycle_report(cycle, &o->report);
    o->passed = sim_passed_over(sim);
    cycle_summary(cycle, &o->faults);
    hazard_counts(hazard, &o->pairs, &o->inserted);
    o->unwritten = sim_unwritten(sim, 1, &o->first);
    for (uint32_t op = 0; op < NPU_OP_COUNT; op++)
        o->stat[op] = *sim_stat(sim, op);
    for (uint32_t i = 0; i < sim_fault_count(sim); i++) {
        sim_fault_text(sim, sim_fault(sim, i), &o->faults);
        buf_printf(&o->faults, "at record %llu\n", (unsigned long long)sim_fault(sim, i)->record);
    }
    cycle_close(cycle);
    hazard_close(hazard);
    sim_close(sim);
}

/* Gives the records that were passed over. */
static uint64_t compare(uint64_t seed)
{
    Program p[CORES];
    Outcome memo, plain;
    for (uint32_t core = 0; core < CORES; core++) {
        p[core] = (Program){.r = heap_alloc(MOST * sizeof(Record)), .seed = seed, .core = core};
        for (uint32_t loops = 1 + draw(&p[core], 6); loops; loops--)
            put_loop(&p[core]);
        p[core].len -= p[core].len == MOST;
        put(&p[core], (Record){.op = NPU_CORE_END});
    }
    run(p, false, &memo);
    run(p, true, &plain);
    CHECK_MSG(memo.report.us == plain.report.us && memo.report.cycles == plain.report.cycles &&
                  memcmp(&memo.report, &plain.report, sizeof memo.report) == 0,
              "seed %llu: %.3f us, without memo %.3f", (unsigned long long)seed, memo.report.us,
              plain.report.us);
    CHECK_MSG(memo.pairs == plain.pairs && memo.inserted == plain.inserted,
              "seed %llu: %llu pairs, %llu", (unsigned long long)seed,
              (unsigned long long)memo.pairs, (unsigned long long)plain.pairs);
    CHECK(memo.unwritten == plain.unwritten && memo.first == plain.first);
    CHECK_MSG(memcmp(memo.stat, plain.stat, sizeof memo.stat) == 0, "seed %llu: statistics",
              (unsigned long long)seed);
    CHECK_EQ_STR(memo.faults.at ? memo.faults.at : "", plain.faults.at ? plain.faults.at : "");
    buf_free(&memo.faults);
    buf_free(&plain.faults);
    for (uint32_t core = 0; core < CORES; core++)
        heap_free(p[core].r);
    CHECK(plain.passed == 0);
    return memo.passed;
}

T_TEST(memo_changes_no_answer_of_random_loops)
{
    uint64_t passed = 0;
    for (uint64_t seed = 1; seed <= 40; seed++)
        passed += compare(seed);
    CHECK_MSG(passed > 100000, "only %llu records were passed over", (unsigned long long)passed);
}
