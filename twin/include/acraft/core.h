/* The boundary between a kernel executable and its runtime (src/twin/core_rt.c), as a C ABI.
 *
 * A core process runs the kernel's code and nothing else. It holds no simulator state and
 * does not see GM; memories on chip it sees read-only. It appends records (sim/record.h) to a window of the shared ring,
 * and elements it asks for come back one by one. The runtime fills `acraft_core` before the kernel
 * entry runs and moves the window; the headers only write [cursor, limit) and advance `cursor`.
 *
 *     append:       if (cursor == limit) acraft_ring_full();  write *cursor;  cursor++
 *     scalar read:  append LOCAL_GET or GLOBAL_GET, then acraft_ring_read(its address, bytes)
 *     registers:    acraft_ring_flush();  then read *view
 *
 * The kernel's GM addresses are plain pointers, in records rec_address(NPU_GM, pointer); memory[space]
 * is where on-chip memory is mapped read-only. GM is mapped nowhere: the compiler calls
 * the runtime before each load and store, which fetches just those bytes into a private page. */
#ifndef ACRAFT_CORE_H
#define ACRAFT_CORE_H

#include "sim/record.h"

#ifdef __cplusplus
extern "C" {
#endif

#define ACRAFT_CORE_ABI 1u
#define ACRAFT_ROLE_AIC 1u
#define ACRAFT_ROLE_AIV 2u

typedef struct AcraftCore {
    uint32_t abi;  /* ACRAFT_CORE_ABI of the runtime */
    uint32_t role; /* ACRAFT_ROLE_*; the executable is compiled for one role */
    uint32_t block_idx;     /* GetBlockIdx: of an AIV in a mixed kernel idx * ratio + sub */
    uint32_t block_num;     /* GetBlockNum: blocks launched */
    uint32_t sub_block_idx; /* 0 or 1: which AIV of the block; 0 for AIC */
    uint32_t sub_block_num; /* AIVs per block: 2 in a 1:2 mixed kernel, else 1 */
    uint32_t task_ratio;    /* GetTaskRatio */
    uint32_t stop;          /* set by the runtime: leave the kernel as soon as convenient */

    Record *cursor; /* next record to write */
    Record *limit;  /* end of the part of the ring that may be written now */
    const RecordView *view; /* results the core may read, valid after a flush */

    const uint8_t *memory[NPU_SPACE_COUNT];   /* where its plain pointers start; NULL: none */
    uint64_t memory_bytes[NPU_SPACE_COUNT];   /* size of each on-chip memory */

    const uint8_t *tiling; /* the tiling data as the host wrote it, copied to GM */
    uint64_t tiling_bytes;
    uint64_t tiling_key;
    uint8_t *workspace; /* GM: system part first; GetUserWorkspace skips it */
    uint64_t workspace_bytes;
    uint64_t system_workspace_bytes;
    uint64_t cycles; /* of the device before the launch */
} AcraftCore;

/* What headers and runtime keep is apart from the variables of the kernel's own text: those outlive a
 * launch, and the runtime says how the launch has left them. A text may have no such variables. */
#define ACRAFT_KEPT __thread

extern ACRAFT_KEPT AcraftCore acraft_core;

/* Publish what was written, wait for room, set cursor and limit so that cursor < limit. */
void acraft_ring_full(void);

/* Publish what was written and wait until the simulator has executed all of it. */
void acraft_ring_flush(void);

/* The bytes at a record's address, which the record written last reads; valid until the next call. */
const void *acraft_ring_read(uint64_t address, uint32_t bytes);

/* Publish, then end this core process; never returns. code 0: kernel returned; 1: it trapped or
 * an assertion failed; 2: it needs something we lack (an UNSUPPORTED record came before). */
void acraft_exit(int code) __attribute__((noreturn));

/* The kernel's task types, one entry per KERNEL_TASK_TYPE* macro in its text, gathered by the
 * linker in section acraft_task; key is ~0 for the default. */
typedef struct AcraftTaskType {
    uint64_t key;
    uint32_t type; /* KernelMetaType_ in acraft/base.h */
    uint32_t pad;
} AcraftTaskType;

/* One argument of a kernel launch, in the order of the entry function's parameters. A pointer
 * parameter takes `value` as the address; a number or struct takes the bytes at `data`. */
typedef struct AcraftArg {
    uint64_t value;
    const void *data;
    uint32_t bytes;
    uint32_t pad;
} AcraftArg;

/* Defined by the trampoline that the tool generates beside the kernel file with
 * ACRAFT_ENTRY(name) of acraft/launch.h: calls the entry, returns the number of parameters it
 * has (call with args NULL to learn it without running). */
int acraft_entry(const AcraftArg *args, int count);

#ifdef __cplusplus
}
#endif

#endif
