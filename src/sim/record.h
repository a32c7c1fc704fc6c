/* Instruction records: what a core tells the simulator, one per instruction. Version 1.
 *
 * A stream belongs to one core and is an array of 128-byte records in program order, in the byte
 * order of the machine. C17 and C++17 include this file; it needs only <stdint.h>. The reader
 * trusts nothing in it. Layout (docs/formats.md repeats it):
 *
 *     0 op u16 | 2 pipe u8 | 3 flags u8 | 4 dtype dst, src0, src1 u8 | 7 mode u8
 *     8 api u16 | 10 file u16 | 12 line u32
 *    16 operand[4]: address u64, bytes u32, block_stride u16, repeat_stride u16
 *    80 mask u64[2] | 96 scalar u64 | 104 n u32[6] | 128
 *
 * An address holds the memory in its top byte and a byte address below. On-chip addresses count
 * from the start of the core's own memory, GM addresses are the kernel's. `bytes` is how far the
 * tensor reaches from that address; 0: not known. Unused fields are zero. Of an operand in GM the strides
 * are the places (REC_TEXT_PLACE) of SetGlobalBuffer and of the last operator[]; 0: not known.
 *
 * Vector forms: n[0] repeats, strides of the operands in 32-byte blocks (result strides of
 * reductions in their own unit), mask the 128 bits of Normal mode or, with REC_COUNTER, the
 * element count of the whole call in mask[0] (n[0] then means nothing). `scalar` holds the bits
 * of the scalar in the operand's own type.
 *
 * A record whose op has REC_TEXT set is a RecordText instead.
 *
 * What else the fields mean, by operation (operands d s0 s1 s2 = operand[0..3]):
 *   CAST              dtype dst, src0; mode NpuRound
 *   CAST_DEQ          dtype dst i8 or u8, src0 i16; DEQ_SCALE holds f32 bits | offset (9 bits)
 *                     << 37; mode bit 0: upper half of each destination block
 *   REPEAT_MAX/MIN    mode RecReduceOrder; REPEAT_SUM mode 1: the repeats are only added up, in
 *                     order, into the accumulator (RecordView.accumulated); d is not written
 *   COMPARE*          mode NpuCompare; COMPARE_REGISTER writes the compare register
 *   SELECT            mode NpuSelect; s0, s1 (or scalar), selection bits at s2; for
 *                     NPU_SEL_REGISTER without s2 the compare register is used
 *   GATHER            s0 table, s1 byte offsets (u32); scalar = base byte offset
 *   GATHER_BLOCK      s0 table, s1 block offsets (u32), n[0] repeats of 8 blocks
 *   GATHER_MASK       s1 pattern bits when mode 0, else mode 1..7 the built-in pattern; n[0]
 *                     repeats; REC_COUNTER: mask[0] elements used of each repeat
 *   BRCB              n[0] repeats of 8 elements
 *   TO_5HD            addresses from REC_REG_VA; n[0] repeats; d, s0 repeat strides in blocks;
 *                     mode bit 0 dst high half, bit 1 src high half (8-bit types)
 *   SORT32            s0 values, s1 indices (u32), n[0] repeats of 32
 *   MERGE_SORT        s0, s1, s2 and n[5] (UB address) the four lists, n[1..4] their lengths in
 *                     structures, mode bits 0-3 valid lists, bit 4 stop when one runs out;
 *                     n[0] repeats
 *   RP_SORT16         n[0] repeats of 16 proposals; MERGE_SORT4 as MERGE_SORT
 *   PROPOSAL_*        mode = number of the field 0..5; n[0] repeats of 16
 *   BILINEAR          s0 image, s1 offsets, s2 weights; n[0] horizontal repeats, mode 1 weights
 *                     per element, n[1] vertical repeats, n[2] dst block stride, n[3] vertical
 *                     repeat stride
 *   COPY_x_y          n[0] bursts, n[1] bytes of a burst, n[2] source gap, n[3] destination gap
 *                     (bytes, end to start)
 *   PAD_GM_UB         as COPY, n[4] left | right << 16 padding elements, mode 1: pad with
 *                     `scalar`; UB side rounds every burst up to 32 bytes before the gap
 *   PAD_UB_GM         as COPY
 *   ND2NZ_GM_L1       n[0] matrices, n[1] rows, n[2] columns, n[3] source matrix stride
 *                     (elements), n[4] source row length (elements), n[5] column-block stride
 *                     (C0 units); mask[0] = row stride | matrix stride << 32 (C0 units, elements)
 *   LOAD2D, LOAD2D_GM n[0] start index, n[1] repeats, n[2] source stride, n[3] destination gap
 *                     (fractals of 512 bytes), mode bit 0 transpose, bit 1 addresses decrease
 *   LOAD_TRANSPOSE    n[0] start index, n[1] repeats, n[2] source stride, n[3] dst gap, n[4] dst
 *                     fractal gap
 *   LOAD3D            n[0] k extension, n[1] m extension, n[2] k start, n[3] m start,
 *                     n[4] channels, n[5] filter w | h << 16; mask[0] = stride w | stride h << 8
 *                     | dilation w << 16 | dilation h << 24; mode bit 0 transpose, bit 1 uses
 *                     the second feature-map register
 *   FILL              n[0] repeats, n[1] blocks of a repeat, n[2] gap in blocks, scalar the value
 *   MMAD              n[0] m, n[1] n, n[2] k; s2 bias (L0C or BT) when mode bit 1; mode bit 0
 *                     starts from zero; n[3] unit flag; dtypes dst, src0, src1
 *   FIXPIPE_*         n[0] n, n[1] m, n[2] source stride (16-element units between columns of
 *                     fractals, in rows), n[3] destination stride (elements for rows, blocks for
 *                     fractals); n[4] matrices | source matrix stride << 16, n[5] destination
 *                     matrix stride; mode bit 0 row-major output, bit 1 relu, bit 2 channel
 *                     split; mask[0] quantisation RecQuant; scalar its factor; s1 its vector
 *                     in FB; mask[1] unit flag
 *   SET/WAIT_FLAG     pipe source, mode target pipe, n[0] event id
 *   BARRIER           mode pipe
 *   CROSS_SET/WAIT    n[0] flag id, mode 0..2 (CROSS_WAIT: pipe that waits in `pipe`)
 *   SYNC_ALL          mode 0 AIV only, 1 AIC and AIV; soft form: d GM words, s0 UB words, n[0] cores
 *   CACHE_CLEAN       d address, mode 0 one line, 1 all
 *   LOCAL/GLOBAL_GET  s0 address, dtype src0; *_SET d address, dtype dst, scalar the value;
 *                     LOCAL: n[1] 1 + bytes behind the tensor's last block, 0: inside
 *   RAW_LOAD/STORE    s0 / d address (GM or on chip), n[0] bytes up to 16; value in mask[0], mask[1]
 *   SCALAR_WORK       n[0] scalar instructions
 *   SET_REGISTER      mode RecRegister, value in scalar (and mask[0..1])
 *   PIPE_OPEN/CLOSE   n[0] id of the TPipe object
 *   BUFFER_INIT       d first buffer (bytes = one buffer), n[0] id, n[1] position, n[2] buffers,
 *                     n[3] 0 queue 1 TBuf, n[4] destination position, n[5] depth
 *   BUFFER_GET        d tensor, n[0] buffer id
 *   QUEUE_*           d tensor, n[0] queue id, n[1] position
 *   EVENT_*           pipe, mode, n[0] as SET_FLAG
 *   DUMP              s0 tensor, dtype src0, n[0] elements, n[1] description
 *   UNSUPPORTED       api names what we lack
 *
 * The queue calls are bookkeeping; the flags they expand to are SET_FLAG and WAIT_FLAG records
 * of their own with REC_FROM_QUEUE set. */
#ifndef SIM_RECORD_H
#define SIM_RECORD_H

#include "npu/isa.h"
#include <stdint.h>

#define REC_VERSION 1u
#define REC_BYTES 128u

/* Bits of `flags`. */
#define REC_COUNTER 1u       /* the mask is an element count */
#define REC_TRAP_DIVISION 1u /* mode of NPU_TRAP: not Trap itself but an integer division by zero */
#define REC_FROM_QUEUE 2u    /* put in by TQue, not written by hand */
#define REC_L2_BYPASS 4u     /* the copy's cache hint */
#define REC_OPEN_TENSOR 8u   /* a fixed-address tensor, outside the queue framework */
#define REC_UNCACHED 16u     /* a scalar access of the library that passes the data cache by */
#define REC_MASK_OVER 32u    /* the call asks for more lanes than the mask has bits */

/* Set in `op`: the record is a RecordText. */
#define REC_TEXT 0x8000u

typedef struct RecordOperand {
    uint64_t address;
    uint32_t bytes;
    uint16_t block_stride, repeat_stride;
} RecordOperand;

typedef struct Record {
    uint16_t op;  /* NpuOp */
    uint8_t pipe; /* NpuPipe that executes it */
    uint8_t flags;
    uint8_t dtype[3]; /* NpuDType of d, s0, s1 */
    uint8_t mode;
    uint16_t api;  /* name id of the call in the source; 0: the operation's own name */
    uint16_t file; /* name id of the source file; 0: not known */
    uint32_t line; /* 0: not known */
    RecordOperand operand[4];
    uint64_t mask[2];
    uint64_t scalar;
    uint32_t n[6];
} Record;

/* Text in chunks: those with `more` set are continued by the next RecordText of the same kind
 * and id. A name must be defined before a record uses its id. */
enum RecTextKind {
    REC_TEXT_NAME,   /* id -> file or API name */
    REC_TEXT_PRINT,  /* printf of the kernel */
    REC_TEXT_ASSERT, /* a failed assertion's text; the core stops */
    REC_TEXT_PLACE,  /* id -> this record's file and line; the text is a RecordWindow */
    REC_TEXT_LEFT,   /* a RecordLeft: what the launch leaves in variables of the kernel's text */
    REC_TEXT_KIND_COUNT
};
/* GM as SetGlobalBuffer declared it at a place; bytes 0: not known, or different each time. */
typedef struct RecordWindow {
    uint64_t base, bytes;
} RecordWindow;
/* Variables of the kernel's text that a launch has changed; bit i of `changed`: byte i has; of `back`: to what
 * the text says, which it was not when the launch began. On the device they lie in GM and keep their values
 * until the next launch. */
#define REC_LEFT_BYTES 64u
#define REC_LEFT_MOST 4096u /* pieces that a core tells */
typedef struct RecordLeft {
    uint64_t address, changed, back;
    uint8_t byte[REC_LEFT_BYTES];
} RecordLeft;
#define REC_TEXT_BYTES 112u
#define REC_TEXT_LONGEST 65536u

typedef struct RecordText {
    uint16_t op; /* REC_TEXT */
    uint8_t kind;
    uint8_t more;
    uint16_t id;
    uint16_t length; /* bytes used of text */
    uint16_t file, pad;
    uint32_t line;
    char text[REC_TEXT_BYTES];
} RecordText;

/* Registers that outlive one instruction. */
enum RecRegister {
    REC_REG_MASK,       /* mask mode and bits; costs time, every record carries its own mask */
    REC_REG_ATOMIC,     /* scalar: RecAtomic | NpuDType << 8 */
    REC_REG_SATURATE,   /* scalar: 1 saturates half and integers, 0 keeps inf and wraps */
    REC_REG_DEQ_SCALE,  /* scalar: half bits of the scale, or for CAST_DEQ the packed form */
    REC_REG_PAD_VALUE,  /* scalar: bits used by PAD_GM_UB without a value of its own */
    REC_REG_COMPARE,    /* mask[0..1]: the compare register */
    REC_REG_FMATRIX_A,  /* mask[0] = h | w << 16, scalar = pads l | r << 8 | t << 16 | b << 24 */
    REC_REG_FMATRIX_B,  /* the same, second register */
    REC_REG_LOAD3D_PAD, /* scalar: bits of the padding element */
    REC_REG_HF32,       /* scalar: bit 0 on, bit 1 rounds ties towards zero instead of to even */
    REC_REG_VA,         /* operand[0..3].address -> address list slots 4 n[0] .. 4 n[0] + 3;
                           slots 0-15 destinations, 16-31 sources */
    REC_REG_CONTROL,    /* scalar: CTRL as a whole, kept for reading back */
    REC_REG_COUNT
};
enum RecAtomic {
    REC_ATOMIC_NONE,
    REC_ATOMIC_ADD,
    REC_ATOMIC_MAX,
    REC_ATOMIC_MIN,
    REC_ATOMIC_COUNT
};
enum RecReduceOrder {
    REC_VALUE_INDEX,
    REC_INDEX_VALUE,
    REC_ONLY_VALUE,
    REC_ONLY_INDEX,
    REC_REDUCE_ORDER_COUNT
};
enum RecQuant {
    REC_QUANT_NONE,
    REC_QUANT_F32_F16,
    REC_QUANT_F32_BF16,
    REC_QUANT_DEQ_F16,  /* s32 * scale -> f16, scalar */
    REC_QUANT_VDEQ_F16, /* as above, with a scale per column from FB */
    REC_QUANT_QF32_B8,  /* f32 * scale -> s8/u8 */
    REC_QUANT_VQF32_B8,
    REC_QUANT_REQ8, /* s32 * scale -> s8/u8 */
    REC_QUANT_VREQ8,
    REC_QUANT_COUNT
};

/* What a core may read back: the simulator keeps one of these per core in memory that the core
 * sees read-only. Cores see no other memory of the simulator's, so the elements that LOCAL_GET,
 * GLOBAL_GET and RAW_LOAD read travel in `answer`, one at a time. A core that has read a long run of
 * an input, one element after the other, gets an eighth of that run ahead, so that it need not
 * wait for each: what it could use without a record is at most that eighth. */
#define REC_ANSWER_BYTES 4096u
#define REC_AHEAD_LEAST 64u
#define REC_AHEAD_SHARE 8u
typedef struct RecordView {
    uint64_t done;          /* records of this core executed so far */
    uint64_t accumulated;   /* GetAccVal: bits of the last REPEAT_SUM in f32 or f16 */
    uint64_t max_min_count; /* GetReduceMaxMinCount: value bits | index << 32 */
    uint64_t kept;          /* GetRsvdCnt of the last GATHER_MASK */
    uint64_t compare[2];    /* GetCmpMask */
    uint64_t control;
    uint16_t merged[4]; /* GetMrgSortResult: structures read from each list */
    uint32_t stopped;   /* not 0: a fault ended this core; it should stop */
    uint32_t answer_bytes;
    uint64_t answer_at; /* the record's address */
    uint8_t answer[REC_ANSWER_BYTES];
} RecordView;

static inline uint64_t rec_address(uint32_t space, uint64_t byte)
{
    return ((uint64_t)space << 56) | (byte & 0x00ffffffffffffffull);
}
static inline uint32_t rec_space(uint64_t address) { return (uint32_t)(address >> 56); }
static inline uint64_t rec_byte(uint64_t address) { return address & 0x00ffffffffffffffull; }

#ifdef __cplusplus
static_assert(sizeof(Record) == REC_BYTES, "record layout");
static_assert(sizeof(RecordText) == REC_BYTES, "record layout");
#else
_Static_assert(sizeof(Record) == REC_BYTES, "record layout");
_Static_assert(sizeof(RecordText) == REC_BYTES, "record layout");
#endif

#endif
