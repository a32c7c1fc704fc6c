/* arena, heap, vector and map, each against a trivial model under random operations. */
#include "base/arena.h"
#include "base/map.h"
#include "base/meter.h"
#include "base/rng.h"
#include "base/vec.h"
#include "tests/t.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static bool all_bytes(const unsigned char *at, size_t len, unsigned char value)
{
    for (size_t i = 0; i < len; i++)
        if (at[i] != value)
            return false;
    return true;
}

T_TEST(arena_pieces_are_zeroed_aligned_and_apart)
{
    enum { N = 2000 };
    static unsigned char *piece[N];
    static size_t size[N];
    Arena arena = {0};
    for (size_t i = 0; i < N; i++) {
        bool large = rng_range(1, 0, i, 0, 50) == 0;
        size[i] = (size_t)rng_range(1, 1, i, 0, large ? 3000000 : 300);
        piece[i] = arena_alloc(&arena, size[i]);
        CHECK((uintptr_t)piece[i] % 16 == 0);
        CHECK(all_bytes(piece[i], size[i], 0));
        memset(piece[i], (int)(i % 251 + 1), size[i]);
    }
    for (size_t i = 0; i < N; i++)
        CHECK_MSG(all_bytes(piece[i], size[i], (unsigned char)(i % 251 + 1)), "piece %zu", i);
    arena_drop(&arena);
    CHECK(arena.block == NULL);
    CHECK_EQ_INT(arena.bytes, 0);
    int *again = arena_new(&arena, int);
    CHECK_EQ_INT(*again, 0);
    arena_drop(&arena);
}

T_TEST(arena_grow_keeps_content_and_zeroes_the_rest)
{
    Arena arena = {0};
    unsigned char *at = NULL;
    size_t size = 0;
    for (unsigned i = 0; i < 300; i++) {
        size_t next = size + (size_t)rng_range(2, 0, i, 1, 400);
        if (i % 7 == 0)
            arena_alloc(&arena, 33);
        at = arena_grow(&arena, at, size, next);
        CHECK(all_bytes(at, size, 0x5A));
        CHECK(all_bytes(at + size, next - size, 0));
        memset(at, 0x5A, next);
        size = next;
    }
    CHECK(arena_grow(&arena, at, size, size / 2) == at);
    arena_drop(&arena);
}

#ifdef ACRAFT_HOSTILE
T_TEST(hostile_grow_always_moves)
{
    Arena arena = {0};
    char *at = arena_alloc(&arena, 8);
    uintptr_t before = (uintptr_t)at;
    at = arena_grow(&arena, at, 8, 16);
    CHECK((uintptr_t)at != before);
    arena_drop(&arena);
}
#endif

static void exit_with_seven(size_t wanted)
{
    (void)wanted;
    _exit(7);
}

/* The exit status of a child that runs `function` under a handler that exits with 7. */
static int status_of(void (*function)(void))
{
    pid_t pid = fork();
    if (pid == 0) {
        arena_set_oom_handler(exit_with_seven);
        function();
        _exit(0);
    }
    int status = 0;
    waitpid(pid, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void pass_the_limit(void)
{
    Arena arena = {.limit = 100000};
    for (int i = 0; i < 200; i++)
        arena_alloc(&arena, 1000);
}

static void stay_below_the_limit(void)
{
    Arena arena = {.limit = 100000};
    for (int i = 0; i < 80; i++)
        arena_alloc(&arena, 1000);
    if (arena.bytes > arena.limit)
        _exit(9);
}

static void overflow_the_product(void)
{
    Arena arena = {0};
    arena_alloc_array(&arena, SIZE_MAX / 4, 8);
}

static void ask_for_everything(void)
{
    Arena arena = {0};
    arena_alloc(&arena, SIZE_MAX - 5);
}

T_TEST(out_of_memory_runs_the_handler)
{
    CHECK_EQ_INT(status_of(pass_the_limit), 7);
    CHECK_EQ_INT(status_of(stay_below_the_limit), 0);
    CHECK_EQ_INT(status_of(overflow_the_product), 7);
    CHECK_EQ_INT(status_of(ask_for_everything), 7);
}

#ifdef ACRAFT_HOSTILE
static void fail_the_third(void)
{
    Arena arena = {0};
    arena_fail_after(3);
    arena_alloc(&arena, 1);
    heap_free(heap_alloc(1));
    arena_alloc(&arena, 1);
    _exit(8);
}

static void fail_never(void)
{
    arena_fail_after(1);
    arena_fail_after(0);
    heap_free(heap_alloc(1));
}

T_TEST(hostile_nth_allocation_fails)
{
    CHECK_EQ_INT(status_of(fail_the_third), 7);
    CHECK_EQ_INT(status_of(fail_never), 0);
}
#endif

T_TEST(heap_grow_zeroes_the_new_part)
{
    unsigned char *at = heap_alloc(10);
    CHECK(all_bytes(at, 10, 0));
    memset(at, 1, 10);
    at = heap_grow(at, 10, 100000);
    CHECK(all_bytes(at, 10, 1));
    CHECK(all_bytes(at + 10, 99990, 0));
    heap_free(at);
}

T_TEST(vec_equals_a_plain_array)
{
    enum { N = 5000 };
    static int model[N];
    Arena arena = {0};
    VEC(int) v = {0};
    for (int i = 0; i < N; i++) {
        model[i] = (int)rng_range(3, 0, (uint64_t)i, -1000, 1000);
        if (i % 100 == 0)
            vec_reserve(&arena, &v, 57);
        vec_push(&arena, &v, model[i]);
        CHECK_EQ_INT(vec_last(&v), model[i]);
    }
    CHECK_EQ_INT(v.len, N);
    CHECK(memcmp(v.at, model, sizeof model) == 0);
    arena_drop(&arena);
}

T_TEST(map_equals_a_plain_array)
{
    enum { KEYS = 700, OPS = 20000 };
    static int64_t model[KEYS];
    static char name[KEYS][16];
    memset(model, -1, sizeof model);
    Arena arena = {0};
    Map map = {0};
    uint32_t distinct = 0;
    for (uint64_t i = 0; i < OPS; i++) {
        int64_t k = rng_range(4, 0, i, 0, KEYS);
        snprintf(name[k], sizeof name[k], "key%d", (int)k);
        uint32_t got = 12345, value = (uint32_t)rng_u64(4, 1, i);
        bool found = map_get(&map, str_from(name[k]), &got);
        CHECK_EQ_INT(found, model[k] >= 0);
        if (found)
            CHECK_EQ_INT(got, model[k]);
        if (rng_range(4, 2, i, 0, 3) == 0) {
            distinct += model[k] < 0;
            map_put(&arena, &map, str_from(name[k]), value);
            model[k] = value;
        }
        CHECK_EQ_INT(map.len, distinct);
    }
    arena_drop(&arena);
}

T_TEST(map_knows_the_empty_key_and_embedded_zeros)
{
    Arena arena = {0};
    Map map = {0};
    uint32_t value = 0;
    CHECK(!map_get(&map, (Str){0}, &value));
    map_put(&arena, &map, (Str){0}, 5);
    map_put(&arena, &map, STR("a\0b"), 6);
    map_put(&arena, &map, STR("a"), 7);
    CHECK(map_get(&map, STR(""), &value) && value == 5);
    CHECK(map_get(&map, STR("a\0b"), &value) && value == 6);
    CHECK(map_get(&map, STR("a"), &value) && value == 7);
    arena_drop(&arena);
}

/* ---- meter ---- */

static void exit_over(void) { _exit(7); }

/* The exit status of a process that takes `pieces` pieces of 100 bytes under a limit of 10 units. */
static int status_of_pieces(int pieces)
{
    int status;
    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0) {
        Arena arena = {0};
        meter_start(10, exit_over);
        for (int i = 0; i < pieces; i++)
            arena_alloc(&arena, 100);
        _exit(meter_left() == 10 - (uint64_t)pieces ? 0 : 1);
    }
    REQUIRE(pid > 0 && waitpid(pid, &status, 0) == pid);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

T_TEST(a_meter_ends_work_after_so_many_allocations)
{
    CHECK_EQ_INT(status_of_pieces(9), 0);
    CHECK_EQ_INT(status_of_pieces(10), 7);
    meter_add(1000); /* no limit here */
    CHECK_EQ_INT(meter_left(), 0);
}
