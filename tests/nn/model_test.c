/* The table of tensors, the configuration, the first weights, the thread pool. */
#include "nn/nn.h"
#include "nn/pool.h"
#include "tests/nn/nn_help.h"
#include "tests/t.h"
#include <math.h>
#include <string.h>

T_TEST(default_model_has_27_million_parameters)
{
    Arena arena = {0};
    NnConfig c = nn_config_default();
    Diag diag = diag_make(&arena, "", STR(""));
    CHECK(nn_config_check(&c, &diag));
    NnTable table = nn_table_make(&arena, &c);
    CHECK_EQ_INT(table.total, 27010560);
    arena_drop(&arena);
}

/* Tensors follow each other without holes; each is found by its name and by its id. */
T_TEST(table_covers_the_block)
{
    Arena arena = {0};
    NnConfig c = help_config();
    c.tied = false;
    NnTable table = nn_table_make(&arena, &c);
    uint64_t at = 0;
    for (uint32_t i = 0; i < table.count; i++) {
        const NnTensor *t = &table.tensors[i];
        CHECK_EQ_INT(t->at, at);
        CHECK(nn_table_find(&table, str_from(t->name)) == t);
        CHECK(nn_table_get(&table, t->id, t->layer) == t);
        at += t->count;
    }
    CHECK_EQ_INT(at, table.total);
    CHECK_EQ_INT(table.count, 3 + 11 * c.layers);
    arena_drop(&arena);
}

T_TEST(tied_head_is_the_embedding)
{
    Arena arena = {0};
    NnConfig c = help_config();
    NnModel model = nn_open(&arena, &c);
    CHECK(nn_weight(&model, NN_HEAD, 0) == nn_weight(&model, NN_EMBED, 0));
    CHECK((uintptr_t)model.weights % 64 == 0);
    nn_close(&model);
    arena_drop(&arena);
}

T_TEST(q_k_v_lie_side_by_side)
{
    Arena arena = {0};
    NnConfig c = help_config();
    NnModel m = nn_open(&arena, &c);
    for (uint32_t l = 0; l < c.layers; l++) {
        CHECK(nn_weight(&m, NN_K, l) == nn_weight(&m, NN_Q, l) + nn_q_size(&c) * c.width);
        CHECK(nn_weight(&m, NN_V, l) == nn_weight(&m, NN_K, l) + nn_kv_size(&c) * c.width);
        CHECK(nn_weight(&m, NN_UP, l) == nn_weight(&m, NN_GATE, l) + c.ffn * c.width);
    }
    nn_close(&m);
    arena_drop(&arena);
}

T_TEST(impossible_configs_are_refused)
{
    Arena arena = {0};
    for (int i = 0; i < 6; i++) {
        Diag diag = diag_make(&arena, "", STR(""));
        NnConfig c = help_config();
        if (i == 0)
            c.layers = 0;
        if (i == 1)
            c.kv_heads = 3;
        if (i == 2)
            c.head_dim = 5;
        if (i == 3)
            c.vocab = 1u << 30;
        if (i == 4)
            c.rope_theta = NAN;
        if (i == 5)
            c.norm_eps = 0;
        CHECK(!nn_config_check(&c, &diag) && diag.errors == 1);
        CHECK_EQ_STR(diag.items.at[0].code, "N001");
    }
    arena_drop(&arena);
}

T_TEST(first_weights_are_the_same_bits_everywhere)
{
    Arena arena = {0};
    NnConfig c = help_config();
    NnModel a = nn_open(&arena, &c), b = nn_open(&arena, &c);
    nn_init(&a, 5);
    nn_init(&b, 5);
    CHECK(!memcmp(a.weights, b.weights, a.table.total * sizeof(float)));
    nn_init(&b, 6);
    CHECK(memcmp(a.weights, b.weights, a.table.total * sizeof(float)) != 0);
    CHECK(nn_weight(&a, NN_NORM_OUT, 0)[0] == 1);
    nn_close(&a);
    nn_close(&b);
    arena_drop(&arena);
}

static void mark(void *job, uint32_t from, uint32_t to)
{
    for (uint32_t i = from; i < to; i++)
        ((uint8_t *)job)[i]++;
}

T_TEST(pool_does_every_index_once)
{
    static uint8_t seen[5000];
    for (uint32_t threads = 1; threads <= 5; threads++) {
        NnPool *pool = nn_pool_open(threads);
        for (uint32_t round = 0; round < 300; round++) {
            uint32_t count = 1 + round * 16 % 4999, grain = 1 + round % 37;
            memset(seen, 0, sizeof seen);
            nn_pool_run(pool, count, grain, mark, seen);
            for (uint32_t i = 0; i < count; i++)
                REQUIRE(seen[i] == 1);
            REQUIRE(seen[count] == 0);
        }
        nn_pool_close(pool);
    }
}
