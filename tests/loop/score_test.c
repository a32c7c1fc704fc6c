/* Scores against closed forms and published tables. */
#include "loop/score.h"

#include "tests/t.h"
#include <math.h>

/* 1 - C(n-c,k)/C(n,k), counted out: of all ways to draw k of n samples, how many have a good one. */
static double drawn(uint32_t n, uint32_t good, uint32_t k)
{
    uint32_t all = 0, with = 0;
    for (uint32_t set = 0; set < 1u << n; set++) {
        if ((uint32_t)__builtin_popcount(set) != k)
            continue;
        all++;
        with += (set & ((1u << good) - 1)) != 0;
    }
    return (double)with / all;
}

T_TEST(score_at_k_counts_every_draw)
{
    for (uint32_t n = 1; n <= 12; n++)
        for (uint32_t good = 0; good <= n; good++)
            for (uint32_t k = 1; k <= n; k++)
                CHECK_NEAR(score_at_k(n, good, k), drawn(n, good, k), 1e-12);
}

T_TEST(score_at_k_closed_forms)
{
    CHECK_NEAR(score_at_k(10, 3, 1), 0.3, 1e-15);    /* k = 1 is the plain share */
    CHECK_NEAR(score_at_k(200, 1, 100), 0.5, 1e-12); /* one good sample: k / n */
    CHECK_NEAR(score_at_k(5, 2, 3), 0.9, 1e-15);     /* 1 - 1/10 */
    CHECK_NEAR(score_at_k(100, 5, 10), 1 - 0.583752366926, 1e-9);
    CHECK(score_at_k(5, 5, 5) == 1 && score_at_k(5, 0, 5) == 0);
    CHECK(isnan(score_at_k(4, 1, 5)) && isnan(score_at_k(0, 0, 1)) && isnan(score_at_k(4, 1, 0)));
}

/* Newcombe, Statistics in Medicine 17 (1998), 857-872, table I, method 3. */
T_TEST(score_wilson_published)
{
    static const struct {
        uint32_t good, n;
        double low, high;
    } rows[] = {{81, 263, 0.2553, 0.3662},
                {15, 148, 0.0624, 0.1605},
                {0, 20, 0.0000, 0.1611},
                {1, 29, 0.0061, 0.1718}};
    for (int i = 0; i < 4; i++) {
        ScoreShare s = score_wilson(rows[i].good, rows[i].n);
        CHECK_NEAR(s.low, rows[i].low, 5e-5);
        CHECK_NEAR(s.high, rows[i].high, 5e-5);
    }
    CHECK(isnan(score_wilson(0, 0).share));
}

/* AscendCraft's table 1: of all and of correct. Counts per category: kernels, compiled, correct,
 * then at least 0.2, 0.8 and 1.0 times eager. */
typedef struct Printed {
    const char *category;
    uint32_t kernels, good[5];
    double share[5]; /* as printed, of all */
} Printed;

static const Printed ascendcraft[] = {
    {"activation", 15, {15, 15, 15, 12, 6}, {100.0, 100.0, 100.0, 80.0, 40.0}},
    {"loss", 7, {7, 6, 6, 6, 6}, {100.0, 85.7, 85.7, 85.7, 85.7}},
    {"math", 6, {5, 5, 5, 4, 4}, {83.3, 83.3, 83.3, 66.7, 66.7}},
    {"normalization", 8, {8, 7, 4, 3, 3}, {100.0, 87.5, 50.0, 37.5, 37.5}},
    {"optimizer", 5, {5, 5, 5, 5, 5}, {100.0, 100.0, 100.0, 100.0, 100.0}},
    {"reduce", 5, {5, 5, 5, 0, 0}, {100.0, 100.0, 100.0, 0.0, 0.0}},
    {"pooling", 6, {6, 4, 3, 0, 0}, {100.0, 66.7, 50.0, 0.0, 0.0}},
};
enum { CATEGORIES = 7, KERNELS = 52 };

static uint32_t add_printed(const Printed *p, ScoreTask *tasks)
{
    for (uint32_t i = 0; i < p->kernels; i++) {
        tasks[i] = (ScoreTask){.name = "", .category = p->category, .level = ""};
        bool fast[3] = {i < p->good[2], i < p->good[3], i < p->good[4]};
        double speed = fast[2] ? 1.0 : fast[1] ? 0.9 : fast[0] ? 0.5 : 0.1;
        ScoreSample s = {.compiled = i < p->good[0],
                         .correct = i < p->good[1],
                         .predicted_us = 100,
                         .baseline_us = 100 * speed,
                         .bound_us = 50,
                         .unfused_us = (double)NAN};
        score_add(&tasks[i], &s);
    }
    return p->kernels;
}

T_TEST(score_reproduces_ascendcraft)
{
    ScoreTask tasks[KERNELS];
    uint32_t n = 0;
    for (int c = 0; c < CATEGORIES; c++) {
        ScoreOf of = {.tasks = tasks + n, .count = add_printed(&ascendcraft[c], tasks + n), .k = 1};
        n += of.count;
        for (int kind = SCORE_COMPILE; kind <= SCORE_FAST_1_0; kind++)
            CHECK_NEAR(100 * score_of_all(&of, (ScoreKind)kind).share, ascendcraft[c].share[kind],
                       0.05);
    }
    REQUIRE(n == KERNELS);
    ScoreOf all = {.tasks = tasks, .count = n, .k = 1};
    static const double of_all[] = {98.1, 90.4, 82.7, 57.7, 46.2};
    for (int kind = SCORE_COMPILE; kind <= SCORE_FAST_1_0; kind++)
        CHECK_NEAR(100 * score_of_all(&all, (ScoreKind)kind).share, of_all[kind], 0.05);
    CHECK_NEAR(score_of_correct(&all, SCORE_FAST_0_2), 43.0 / 47, 1e-12);
    CHECK_NEAR(score_of_correct(&all, SCORE_FAST_0_8), 30.0 / 47, 1e-12);
    CHECK_NEAR(score_of_correct(&all, SCORE_FAST_1_0), 24.0 / 47, 1e-12);
    CHECK(isnan(score_of_all(&all, SCORE_UNFUSED_1_0).share));
    CHECK_NEAR(score_anchored(&all).share, 0.5 * 47 / 52, 1e-12);
}

/* A measured baseline counts beyond the prediction's interval; another prediction does not need it. */
T_TEST(score_compares_with_the_end_of_the_interval)
{
    ScoreTask t = {.level = ""};
    ScoreSample s = {.compiled = true,
                     .correct = true,
                     .predicted_us = 100,
                     .longest_us = 120,
                     .baseline_us = 110,
                     .unfused_us = 110};
    score_add(&t, &s);
    s.baseline_us = 121;
    score_add(&t, &s);
    CHECK_EQ_INT(t.good[SCORE_FAST_1_0], 1);
    CHECK_EQ_INT(t.good[SCORE_FAST_0_8], 2);
    CHECK_EQ_INT(t.good[SCORE_UNFUSED_1_0], 2);
}

/* What a candidate can choose is a failure both ways; what the task is the reason for may be left out. */
T_TEST(score_leaves_out_only_what_no_candidate_chooses)
{
    ScoreTask t[3] = {{.level = ""}, {.level = ""}, {.level = ""}};
    ScoreSample ok = {.compiled = true, .correct = true}, lacks = {.unsupported = true},
                nobody = {.unsupported = true, .unscored = true};
    score_add(&t[0], &ok);
    score_add(&t[0], &lacks);
    score_add(&t[1], &lacks);
    score_add(&t[2], &nobody);
    ScoreOf with = {t, 3, 1, false}, without = {t, 3, 1, true};
    CHECK_NEAR(score_of_all(&with, SCORE_PASS).share, 0.5 / 3, 1e-12);
    CHECK_NEAR(score_of_all(&without, SCORE_PASS).share, 0.25, 0);
    CHECK_EQ_INT(score_of_all(&without, SCORE_PASS).tasks, 2);
    CHECK_EQ_INT(t[0].unsupported + t[1].unsupported + t[2].unsupported, 3);
}

T_TEST(score_levels_both_ways)
{
    ScoreTask t[3] = {{.level = "1"}, {.level = "2"}, {.level = "3"}};
    ScoreSample good = {.compiled = true, .correct = true, .cases = 4, .passed = 4};
    ScoreSample half = {.compiled = true, .cases = 4, .passed = 2};
    score_add(&t[0], &good);
    score_add(&t[1], &good);
    score_add(&t[1], &half);
    score_add(&t[2], &half);
    ScoreOf of = {t, 3, 1, false};
    CHECK_NEAR(score_levels(&of, false), 0.2 * 1 + 0.3 * 0.5, 1e-12);
    CHECK_NEAR(score_levels(&of, true), 0.2 * 1 + 0.3 * 0.75 + 0.5 * 0.5, 1e-12);
    t[0].level = t[1].level = t[2].level = "";
    CHECK(isnan(score_levels(&of, true)));
}

/* A bootstrap interval holds the mean, is the same every time, and shrinks with the number of
 * tasks. */
T_TEST(score_bootstrap)
{
    static ScoreTask tasks[400];
    for (uint32_t i = 0; i < 400; i++)
        tasks[i] = (ScoreTask){.level = "", .samples = 10, .good = {[SCORE_PASS] = i % 8}};
    ScoreOf few = {tasks, 40, 5, false}, many = {tasks, 400, 5, false};
    ScoreShare a = score_of_all(&few, SCORE_PASS), b = score_of_all(&many, SCORE_PASS),
               again = score_of_all(&few, SCORE_PASS);
    CHECK(a.low < a.share && a.share < a.high && a.low >= 0 && a.high <= 1);
    CHECK(b.high - b.low < (a.high - a.low) / 2);
    CHECK(a.low == again.low && a.high == again.high);
}

/* One task with many samples: its own samples make the interval, near Wilson's. */
T_TEST(score_interval_of_one_task)
{
    ScoreTask task = {.level = "", .samples = 100, .good = {[SCORE_PASS] = 40}};
    ScoreOf of = {&task, 1, 1, false};
    ScoreShare s = score_of_all(&of, SCORE_PASS), wilson = score_wilson(40, 100);
    CHECK_NEAR(s.share, 0.4, 1e-12);
    CHECK_NEAR(s.low, wilson.low, 0.02);
    CHECK_NEAR(s.high, wilson.high, 0.02);
}
