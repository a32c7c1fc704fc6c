/* A runtime for looking at records without a simulator: every record is printed, memories read as
 * zero. A test includes it after its kernel and names the entry. */
#ifndef TESTS_TWIN_RECORDER_H
#define TESTS_TWIN_RECORDER_H

#include "acraft/launch.h"

#include <cstdio>
#include <cstdlib>

AcraftCore acraft_core;
static Record recorder_ring[64];
static RecordView recorder_view;
static uint8_t recorder_memory[NPU_SPACE_COUNT][524288];
static bool recorder_quiet;
static long recorder_count;

static const char *recorder_op(unsigned op)
{
    static const char *names[] = {"none",
#define ISA(op, ...) #op,
#include "npu/isa.def"
#undef ISA
    };
    return op < NPU_OP_COUNT ? names[op] : "?";
}

static void recorder_print(const Record &r)
{
    recorder_count++;
    if (recorder_quiet) return;
    if (r.op & REC_TEXT) {
        const RecordText &t = reinterpret_cast<const RecordText &>(r);
        std::printf("text %u id %u: %.*s\n", t.kind, t.id, int(t.length), t.text);
        return;
    }
    std::printf("%-14s pipe %u file %u:%u dt %u,%u,%u mode %u flags %u", recorder_op(r.op), r.pipe, r.file, r.line, r.dtype[0],
                r.dtype[1], r.dtype[2], r.mode, r.flags);
    for (const RecordOperand &o : r.operand)
        if (o.address)
            std::printf(" [%u:%llx +%u s%u,%u]", rec_space(o.address), (unsigned long long)rec_byte(o.address), o.bytes,
                        o.block_stride, o.repeat_stride);
    std::printf(" mask %llx,%llx scalar %llx n", (unsigned long long)r.mask[0], (unsigned long long)r.mask[1],
                (unsigned long long)r.scalar);
    for (uint32_t n : r.n) std::printf(" %u", n);
    std::printf("\n");
}

extern "C" void acraft_ring_full(void)
{
    for (Record *r = recorder_ring; r < acraft_core.cursor; r++) recorder_print(*r);
    acraft_core.cursor = recorder_ring;
    acraft_core.limit = recorder_ring + 64;
}
extern "C" void acraft_ring_flush(void) { acraft_ring_full(); }
extern "C" const void *acraft_ring_read(uint64_t address, uint32_t)
{
    acraft_ring_full();
    return rec_space(address) == NPU_GM ? reinterpret_cast<const void *>(uintptr_t(rec_byte(address)))
                                        : acraft_core.memory[rec_space(address)] + rec_byte(address);
}
extern "C" void acraft_exit(int code)
{
    acraft_ring_full();
    std::exit(code);
}

static int recorder_main(int argc, char **argv)
{
    AcraftArg args[16] = {};
    static uint8_t gm[1 << 20];
    for (int i = 0; i < 16; i++) args[i].value = reinterpret_cast<uintptr_t>(gm) + uintptr_t(i) * 65536;
    recorder_quiet = argc > 1 && argv[1][0] == 'q';
    acraft_core.abi = ACRAFT_CORE_ABI;
    acraft_core.role = ACRAFT_ROLE_AIV;
    acraft_core.block_num = acraft_core.sub_block_num = acraft_core.task_ratio = 1;
    acraft_core.view = &recorder_view;
    for (int s = NPU_UB; s < NPU_SPACE_COUNT; s++) {
        acraft_core.memory[s] = recorder_memory[s];
        acraft_core.memory_bytes[s] = sizeof recorder_memory[s];
    }
    acraft_ring_full();
    acraft_entry(args, 16);
    acraft_ring_full();
    std::printf("%ld records\n", recorder_count);
    return 0;
}

#endif
