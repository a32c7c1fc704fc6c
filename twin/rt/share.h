/* What the tool, its simulator's process and the core processes of one launch share, and who may write it.
 *
 *   launch memory   the simulator writes, core processes see it read-only: ShareLaunch at 0, then
 *                   what its *_at offsets name, the on-chip memories and views among them
 *   ring memory     one ShareRing per core, which alone the core sees; it writes records, the zygote
 *                   how it ended. The simulator copies records out before it looks at them and
 *                   trusts nothing here
 *   GM memory       of tool and simulator; core processes get single elements through their view.
 *                   Without data there is nothing to hide: arbitrary bytes are mapped read-only
 *
 * A record travels like this: the core writes it after `published`, moves `published` and
 * `event`; the simulator executes it and moves `executed`. Counters wrap at 2^32; the ring is far
 * smaller. Each side sleeps on the other's counter (futex) after saying so in its own flag. */
#ifndef TWIN_SHARE_H
#define TWIN_SHARE_H

#include "sim/record.h"
#include "twin/rt/slots.h"

#include <stdatomic.h>
#include <stdint.h>

#define SHARE_RING_RECORDS 2048u /* a power of two */
#define SHARE_WINDOW 128u        /* records written between two publications */
#define SHARE_GM_BASE 0x100000000000ull /* GM addresses lie in [base, base + span) */
#define SHARE_GM_SPAN 0x100000000000ull
#define SHARE_MOST_ARGS 1024u
#define SHARE_MOST_CORES 4096u

/* Descriptors of the kernel program, in the order in which the tool hands them over; tensors with
 * memory of their own follow. */
enum { SHARE_FD_LAUNCH = 3, SHARE_FD_RINGS = 4, SHARE_FD_GM = 5, SHARE_FD_FIRST_TENSOR = 6 };
#define SHARE_MOST_FDS 48u

/* Exit statuses of a core process. */
enum {
    SHARE_EXIT_DONE = 0,       /* the kernel returned, or the simulator stopped it */
    SHARE_EXIT_TRAP = 1,       /* acraft_exit(1) */
    SHARE_EXIT_LACK = 2,       /* acraft_exit(2) */
    SHARE_EXIT_SETUP = 96,     /* the runtime could not set itself up */
    SHARE_EXIT_FORBIDDEN = 98, /* a system call that cores may not make; see ShareRing */
};

/* A piece of GM as the core process maps it. */
typedef struct ShareMap {
    uint64_t address, bytes, at; /* at: offset in the file */
    int32_t fd;                  /* SHARE_FD_GM, or that of a tensor; where GM is hidden: none */
    uint32_t fixed;              /* no core may write it: a read need not wait for anything */
    uint64_t repeat; /* above 0: these many bytes of the file over and over */
} ShareMap;

/* One launch argument; data_at and data_bytes for numbers and structs passed by value. */
typedef struct ShareArg {
    uint64_t value;
    uint64_t data_at;
    uint32_t data_bytes, pad;
} ShareArg;

typedef struct ShareLaunch {
    uint32_t abi, core_count;
    uint64_t launch_bytes, ring_bytes;
    uint64_t cores_at;     /* ShareCore[core_count] */
    uint64_t order_at[2];  /* by role (0 AIV, 1 AIC): uint32 core numbers in starting order */
    uint32_t order_count[2];
    uint64_t maps_at;
    uint32_t map_count, arg_count;
    uint64_t args_at, filter_at;
    uint64_t left_at[2]; /* by role: RecordLeft[left_count], variables as an earlier launch left them */
    uint32_t left_count[2];
    uint32_t filter_steps;
    uint32_t spins; /* pauses before a core sleeps; 0 where it would hold up the simulator */
    uint32_t time_only; /* values are arbitrary: no read waits for the simulator */
    uint32_t hidden;    /* there are values: GM is not mapped */
    uint32_t pad;
    _Atomic uint32_t boxes_over; /* from the tool to the simulator: no core will send more */
    uint64_t tiling, tiling_bytes, tiling_key; /* tiling: GM address */
    uint64_t tiling_at; /* its bytes once more, where GM is hidden */
    uint64_t workspace, workspace_bytes, system_workspace_bytes;
    uint64_t cycles; /* that the device counted before this launch */
    _Atomic uint32_t start_count[2]; /* how many of order[] the zygote may have started */
} ShareLaunch;

typedef struct ShareCore {
    uint32_t role, block_idx, block_num, sub_block_idx, sub_block_num, task_ratio;
    uint64_t view_at;
    uint64_t memory_at[NPU_SPACE_COUNT], memory_bytes[NPU_SPACE_COUNT]; /* bytes 0: none */
    _Atomic uint32_t executed; /* records the simulator is done with */
    _Atomic uint32_t tool_sleeps;
    _Atomic uint32_t stopped; /* the simulator takes no more: leave */
    _Atomic uint32_t turn;    /* the simulator is at this core's records: spinning pays */
} ShareCore;

typedef struct ShareRing {
    _Atomic uint32_t published;
    _Atomic uint32_t event; /* moves with `published` and at the end */
    _Atomic uint32_t core_sleeps; /* 0: no; else 1 + the records not executed at which to wake it */
    _Atomic uint32_t ended;
    int32_t wait_status;
    int32_t forbidden_call; /* number of a refused system call, -1: none */
    int32_t fault_signal;   /* noted by the core's own handler; 0: none */
    uint32_t stack_overflow;
    uint64_t fault_address;
    uint64_t reads; /* scalar reads of data */
    uint32_t seen_from, seen_to; /* slots of `seen` that are not all zero lie in here */
    uint8_t pad[4096 - 56];
    Record records[SHARE_RING_RECORDS];
    uint8_t seen[WATCH_SLOTS]; /* where the kernel's code went: see watch_code.h */
    int32_t gap[WATCH_SLOTS];  /* what its comparisons lacked to be equal */
} ShareRing;

/* The tool and the runtime are compiled at different times: both must mean the same layout. */
#define SHARE_ABI                                                                             \
    ((uint32_t)(sizeof(ShareLaunch) * 31 + sizeof(ShareCore) * 37 + sizeof(ShareMap) * 41 +   \
                sizeof(ShareArg) * 43 + NPU_OP_COUNT))

_Static_assert(sizeof(ShareRing) == 4096 + SHARE_RING_RECORDS * sizeof(Record) + WATCH_BYTES,
               "ring layout");

#endif
