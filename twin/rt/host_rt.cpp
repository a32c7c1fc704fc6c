/* The runtime of a host program: main for an operator's op_host code, and the C ABI it answers
 * through (acraft/host/entry.cpp), in one object that is compiled once. In: a word that says what is
 * wanted and a request (twin/rt/host_share.h). Out: the answer, through its own descriptor, since
 * the operator's code may print. */
#include "acraft/host/entry.cpp"
#include "twin/rt/environment.h"
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

// Sets the size `from`, wherever it stands, to `to`.
void set_size(AcraftHostTensor *tensors, const AcraftHostTensor *as, int32_t count, int64_t from, int64_t to)
{
    for (int32_t i = 0; i < count; i++) {
        tensors[i] = as[i];
        for (int32_t d = 0; d < as[i].rank && d < ACRAFT_HOST_RANK; d++)
            if (as[i].dims[d] == from) tensors[i].dims[d] = to;
    }
}

// What a call decided, as words that can be compared with those of the sizes beside it.
struct Decided {
    uint32_t count; // 0: it refused
    uint32_t words[16 + 256];
};

void note_decided(const AcraftTilingResult &result, const uint8_t *room, Decided &d)
{
    const uint32_t head[] = {uint32_t(result.key), uint32_t(result.block_dim),
                             uint32_t(result.workspace_count ? result.workspace[0] : 0)};
    size_t bytes = result.tiling_bytes < 1024 ? result.tiling_bytes : 1024;
    d.count = 3 + uint32_t(bytes / 4);
    std::memcpy(d.words, head, sizeof head);
    std::memcpy(d.words + 3, room, bytes / 4 * 4);
}

// Some word goes in equal steps, but for the middle one of five.
bool stands_alone(const Decided *const (&d)[5])
{
    for (const Decided *one : d)
        if (!one->count || one->count != d[0]->count) return false;
    for (uint32_t i = 0; i < d[0]->count; i++) {
        uint32_t step = d[1]->words[i] - d[0]->words[i];
        if (d[4]->words[i] - d[3]->words[i] == step && d[3]->words[i] - d[1]->words[i] == 2 * step &&
            d[2]->words[i] - d[1]->words[i] != step)
            return true;
    }
    return false;
}

// What one size of the inputs leads to: sizes at which the function goes where it went nowhere, and a few at which
// what it decides is not between what it decides on either side. Sizes that it refuses say nothing.
void scan_size(const AcraftTilingRequest &request, int64_t from, HostScanned &found)
{
    static AcraftHostTensor inputs[HOST_MOST_OUTPUTS], outputs[HOST_MOST_OUTPUTS];
    static uint8_t room[HOST_TILING_ROOM];
    static Decided decided[5];
    int alone = 0;
    AcraftTilingResult result;
    AcraftTilingRequest other = request;
    other.inputs = inputs;
    other.outputs = outputs;
    for (int64_t to = 1; to <= HOST_SCAN_SIZES && found.count < HOST_SCAN_MOST; to++) {
        set_size(inputs, request.inputs, request.input_count, from, to);
        set_size(outputs, request.outputs, request.output_count, from, to);
        watch_fresh = 0;
        bool taken = call_tiling(other, room, result) == 0 && result.error[0] == 0;
        Decided &here = decided[to % 5];
        here.count = 0;
        if (taken) note_decided(result, room, here);
        bool is_alone = alone < HOST_SCAN_ALONE && to >= 5 &&
                        stands_alone({&decided[(to + 1) % 5], &decided[(to + 2) % 5], &decided[(to + 3) % 5],
                                      &decided[(to + 4) % 5], &here});
        alone += is_alone;
        if (is_alone) found.sizes[found.count++] = {from, to - 2};
        if (taken && watch_fresh > 0 && found.count < HOST_SCAN_MOST) found.sizes[found.count++] = {from, to};
    }
}

// The slots hold where it went so far, in all cases.
int run_scan(const AcraftTilingRequest &request)
{
    static HostScanned found;
    static uint8_t room[HOST_TILING_ROOM];
    int64_t done[HOST_MOST_OUTPUTS];
    int32_t count = 0;
    AcraftTilingResult result;
    close(1);
    close(2);
    bool fits = request.input_count <= HOST_MOST_OUTPUTS && request.output_count <= HOST_MOST_OUTPUTS;
    if (fits && call_tiling(request, room, result) == 0) {
        for (int32_t i = 0; i < request.input_count; i++)
            for (int32_t d = 0; d < request.inputs[i].rank && count < HOST_MOST_OUTPUTS; d++) {
                int64_t size = request.inputs[i].dims[d];
                bool again = size < 2;
                for (int32_t k = 0; k < count; k++)
                    again = again || done[k] == size;
                if (again) continue;
                done[count++] = size;
                scan_size(request, size, found);
            }
    }
    write_all(&found, sizeof found);
    return 0;
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
    if (std::strcmp(wanted, HOST_SCAN) == 0) return run_scan(request->tiling);
    return run_infer(request->tiling);
}

}  // namespace

static bool is_running = false;

extern "C" char *getenv(const char *name) noexcept
{
    if (!is_running || !environment_always_has(name)) return nullptr;
    std::printf("it asks for the environment variable '%s', which every board has set and nobody here", name);
    std::fflush(stdout);
    _exit(1);
}

extern "C" char *secure_getenv(const char *name) noexcept { return getenv(name); }

int main(int argc, char **argv)
{
    std::set_new_handler([] { _exit(97); }); /* BOX_STATUS_MEMORY */
    watch_into(HOST_FD_SEEN);
    is_running = true;
    try {
        _exit(argc > 1 ? answer(argv[1]) : 3);
    } catch (const std::exception &) {
        _exit(1);
    }
}
