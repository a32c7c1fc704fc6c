/* The runtime of a host program: main for an operator's op_host code, and the C ABI it answers
 * through (acraft/host/entry.cpp), in one object that is compiled once. In: a word that says what is
 * wanted and a request (twin/rt/host_share.h). Out: the answer, through its own descriptor, since
 * the operator's code may print. */
#include "acraft/host/entry.cpp"
#include "twin/rt/host_share.h"
#include "twin/rt/watch_host.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <new>
#include <sys/mman.h>
#include <unistd.h>

namespace {

void write_all(const void *from, size_t bytes)
{
    const char *at = static_cast<const char *>(from);
    while (bytes > 0) {
        ssize_t wrote = write(HOST_FD_ANSWER, at, bytes);
        if (wrote <= 0) _exit(3);
        at += wrote;
        bytes -= size_t(wrote);
    }
}

const HostRequest *map_request()
{
    void *head = mmap(nullptr, sizeof(HostRequest), PROT_READ, MAP_PRIVATE, HOST_FD_REQUEST, 0);
    if (head == MAP_FAILED) _exit(3);
    size_t bytes = static_cast<HostRequest *>(head)->bytes;
    void *at = mmap(reinterpret_cast<void *>(HOST_REQUEST_ADDRESS), bytes, PROT_READ,
                    MAP_PRIVATE | MAP_FIXED_NOREPLACE, HOST_FD_REQUEST, 0);
    if (at != reinterpret_cast<void *>(HOST_REQUEST_ADDRESS)) _exit(3);
    return static_cast<HostRequest *>(at);
}

// What a text leaves uninitialised is the same in every call.
__attribute__((noinline)) void clear_stack()
{
    volatile uint8_t below[64 << 10];
    for (size_t i = 0; i < sizeof below; i++)
        below[i] = 0;
}

int call_tiling(AcraftTilingRequest request, uint8_t (&room)[HOST_TILING_ROOM], AcraftTilingResult &result)
{
    std::memset(&result, 0, sizeof result);
    request.tiling = room;
    request.tiling_room = sizeof room;
    clear_stack();
    watch_course = 0;
    int code = acraft_host_tiling(&request, &result);
    if (result.tiling_bytes > sizeof room) result.tiling_bytes = 0;
    return code;
}

// A tiling function is called again for every launch, in one process: it may not count its calls. As often
// as a benchmark warms up and measures it is called here.
int run_tiling(const AcraftTilingRequest &request)
{
    static uint8_t room[HOST_TILING_ROOM], other[HOST_TILING_ROOM];
    AcraftTilingResult result, again;
    int code = call_tiling(request, room, result);
    uint64_t course = 0;
    for (int call = 0; code == 0 && call < HOST_CALLS; call++) {
        bool same = call_tiling(request, other, again) == 0 && std::memcmp(&result, &again, sizeof result) == 0 &&
                    std::memcmp(room, other, result.tiling_bytes) == 0;
        course = call == 0 ? watch_course : course;
        if (same && watch_course == course)
            continue;
        std::fputs("the tiling function decides otherwise when it is called again", stdout);
        std::fflush(stdout);
        return 1;
    }
    write_all(&result, sizeof result);
    write_all(room, result.tiling_bytes);
    return code;
}

int run_infer(const AcraftTilingRequest &request)
{
    static HostInferred answer;
    answer.count = request.output_count < HOST_MOST_OUTPUTS ? request.output_count : HOST_MOST_OUTPUTS;
    for (int32_t i = 0; i < answer.count; i++)
        answer.outputs[i] = request.outputs[i];
    answer.code = acraft_host_infer(&request, answer.outputs, answer.error);
    write_all(&answer, sizeof answer);
    return answer.code;
}

int answer(const char *wanted)
{
    if (std::strcmp(wanted, HOST_DESCRIBE) == 0) return acraft_host_describe(HOST_FD_ANSWER);
    const HostRequest *request = map_request();
    if (std::strcmp(wanted, HOST_HEADER) == 0) return acraft_host_header(HOST_FD_ANSWER, request->tiling.op);
    if (std::strcmp(wanted, HOST_TILING) == 0) return run_tiling(request->tiling);
    return run_infer(request->tiling);
}

}  // namespace

int main(int argc, char **argv)
{
    std::set_new_handler([] { _exit(97); }); /* BOX_STATUS_MEMORY */
    watch_into(HOST_FD_SEEN);
    try {
        _exit(argc > 1 ? answer(argv[1]) : 3);
    } catch (const std::exception &) {
        _exit(1);
    }
}
