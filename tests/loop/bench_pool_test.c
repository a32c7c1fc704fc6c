/* Worker processes: every request gets one reply, whatever becomes of its worker. */
#include "loop/bench_pool.h"

#include "tests/t.h"
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* "crash", "exit", "sleep" do so; everything else comes back, twice. */
static void echo(void *context, Str request, Buf *reply)
{
    (void)context;
    if (str_is(request, "crash"))
        raise(SIGKILL);
    if (str_is(request, "exit"))
        _exit(7);
    if (str_is(request, "sleep"))
        sleep(60);
    if (str_is(request, "who"))
        buf_printf(reply, "%ld", (long)getpid());
    else
        buf_printf(reply, "%.*s%.*s", STR_ARG(request), STR_ARG(request));
}

static PoolReply ask(Pool *pool, uint64_t id, const char *text)
{
    PoolReply reply = {0};
    REQUIRE(pool_send(pool, id, str_from(text)));
    REQUIRE(pool_next(pool, 30, -1, &reply));
    CHECK(reply.id == id && pool_busy(pool) == 0);
    return reply;
}

T_TEST(pool_answers)
{
    PoolSpec spec = {.jobs = 2, .seconds = 20, .work = echo};
    Pool *pool = pool_open(&spec);
    PoolReply r = ask(pool, 5, "ab");
    CHECK(r.end == POOL_DONE);
    CHECK_EQ_SLICE(r.text, "abab");
    r = ask(pool, 6, "");
    CHECK(r.end == POOL_DONE && r.text.len == 0);
    pool_close(pool);
}

T_TEST(pool_carries_large_messages)
{
    PoolSpec spec = {.jobs = 1, .seconds = 20, .work = echo};
    Pool *pool = pool_open(&spec);
    char *large = malloc((4 << 20) + 1);
    memset(large, 'x', 4 << 20);
    large[4 << 20] = 0;
    PoolReply r = ask(pool, 1, large);
    CHECK_EQ_INT(r.text.len, 8 << 20);
    free(large);
    pool_close(pool);
}

T_TEST(pool_outlives_its_workers)
{
    PoolSpec spec = {.jobs = 1, .seconds = 0.5, .work = echo};
    Pool *pool = pool_open(&spec);
    PoolReply r = ask(pool, 1, "crash");
    CHECK(r.end == POOL_DIED && r.signal == SIGKILL);
    r = ask(pool, 2, "exit");
    CHECK(r.end == POOL_DIED && r.status == 7);
    r = ask(pool, 3, "sleep");
    CHECK(r.end == POOL_LATE && r.seconds < 20);
    r = ask(pool, 4, "fine");
    CHECK(r.end == POOL_DONE);
    CHECK_EQ_SLICE(r.text, "finefine");
    CHECK(!pool_next(pool, 0.1, -1, &r));
    pool_close(pool);
}

T_TEST(pool_replaces_workers)
{
    PoolSpec spec = {.jobs = 1, .recycle = 2, .work = echo};
    Pool *pool = pool_open(&spec);
    char first[32] = {0}, second[32] = {0}, third[32] = {0};
    PoolReply r = ask(pool, 1, "who");
    memcpy(first, r.text.at, r.text.len);
    r = ask(pool, 2, "who");
    memcpy(second, r.text.at, r.text.len);
    r = ask(pool, 3, "who");
    memcpy(third, r.text.at, r.text.len);
    CHECK_EQ_STR(first, second);
    CHECK(strcmp(second, third) != 0);
    pool_close(pool);
}
