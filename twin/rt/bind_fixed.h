/* A call of a binding is made again until nothing is missing (bind_share.h), so what host code draws
 * must be the same each time: clocks that count their readings, and a random device with a seed. */
#pragma once
#include <cstdint>
#include <ctime>
#include <random>
#include <sys/time.h>

namespace {

uint64_t readings = 0;

timespec next_reading()
{
    uint64_t micros = ++readings;
    return {static_cast<time_t>(1700000000 + micros / 1000000), static_cast<long>(micros % 1000000 * 1000)};
}

}  // namespace

extern "C" int clock_gettime(clockid_t, timespec *to) noexcept
{
    *to = next_reading();
    return 0;
}
extern "C" time_t time(time_t *to) noexcept
{
    time_t now = next_reading().tv_sec;
    if (to) *to = now;
    return now;
}
extern "C" int gettimeofday(timeval *to, void *) noexcept
{
    timespec now = next_reading();
    to->tv_sec = now.tv_sec;
    to->tv_usec = now.tv_nsec / 1000;
    return 0;
}

void std::random_device::_M_init(const std::string &) { _M_mt.seed(5489u); }
void std::random_device::_M_init_pretr1(const std::string &) { _M_mt.seed(5489u); }
void std::random_device::_M_fini() {}
std::random_device::result_type std::random_device::_M_getval() { return _M_mt(); }
std::random_device::result_type std::random_device::_M_getval_pretr1() { return _M_mt(); }
double std::random_device::_M_getentropy() const noexcept { return 0; }
