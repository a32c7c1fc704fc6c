/* GM's bandwidth among requests in flight: a core alone has its whole port, nothing is given twice. */
#include "base/rng.h"
#include "sim/cycle_gm.h"
#include "tests/t.h"

static GmTime *open_time(void)
{
    return gm_time_open(
        &(GmRates){.ports = 4, .waves = 2, .vector_port = 32, .cube_port = 30, .chip = 60});
}

static double transfer_cycles(GmTime *gm, uint32_t port, double start, double bytes)
{
    return gm_time_take(gm, &(GmRequest){.port = port, .start = start, .bytes = bytes});
}

T_TEST(gm_a_core_alone_has_its_port)
{
    GmTime *gm = open_time();
    CHECK_NEAR(transfer_cycles(gm, 0, 100, 32768), 1024, 1);
    CHECK_NEAR(transfer_cycles(gm, 2, 100000, 30720), 1024, 1); /* of a cube core */
    gm_time_close(gm);
}

/* The other core of the port asks at the same time: together they take twice as long as one. */
T_TEST(gm_two_cores_share_a_port)
{
    GmTime *gm = open_time();
    double first = transfer_cycles(gm, 0, 0, 32768), second = transfer_cycles(gm, 0, 0, 32768);
    CHECK_NEAR(first, 1024, 1);
    CHECK_NEAR(second, 2048, 1);
    CHECK_NEAR(transfer_cycles(gm, 0, 4096, 32768), 1024, 1); /* later nobody is there any more */
    gm_time_close(gm);
}

T_TEST(gm_holds_back_what_the_other_core_takes)
{
    GmTime *gm = open_time();
    GmRequest r = {.start = 0, .bytes = 32768, .held = 16};
    CHECK_NEAR(gm_time_take(gm, &r), 2048, 1);
    CHECK_NEAR(transfer_cycles(gm, 0, 0, 32768), 2048, 1); /* which finds it */
    r.start = 10240;
    r.held_from = 20480; /* it is known to ask for nothing before that */
    CHECK_NEAR(gm_time_take(gm, &r), 1024, 1);
    gm_time_close(gm);
}

T_TEST(gm_the_chip_is_shared_by_ports_and_what_is_written_back)
{
    GmTime *gm = open_time();
    GmRequest back = {.port = 1, .start = 0, .back = 1024 * 44};
    CHECK_NEAR(gm_time_take(gm, &back), 1024 * 44 / 60.0, 8);
    /* the first 750 cycles are taken */
    CHECK_NEAR(transfer_cycles(gm, 0, 0, 3200), 850, 40);
    back.wave = 1; /* blocks that follow have a time of their own */
    CHECK_NEAR(gm_time_take(gm, &back), 1024 * 44 / 60.0, 8);
    gm_time_close(gm);
}

/* Whatever the order of the requests, a port and the chip never give more than they have. */
T_TEST(gm_gives_nothing_twice)
{
    for (uint64_t seed = 0; seed < 50; seed++) {
        GmTime *gm = open_time();
        double last = 0, bytes[4] = {0}, all = 0;
        for (uint64_t i = 0; i < 400; i++) {
            uint32_t port = (uint32_t)rng_range(seed, 0, i, 0, 3);
            double start = (double)rng_range(seed, 1, i, 0, 20000);
            double n = (double)rng_range(seed, 2, i, 1, 30000),
                   cycles = transfer_cycles(gm, port, start, n);
            CHECK(cycles >= n / 32 - 1);
            last = start + cycles > last ? start + cycles : last;
            bytes[port] += n;
            all += n;
        }
        CHECK_MSG(all <= 60 * (last + 256), "%g bytes in %g cycles", all, last);
        for (int p = 0; p < 4; p++)
            CHECK(bytes[p] <= 32 * (last + 256));
        gm_time_close(gm);
    }
}
