/* The mailbox between the vector cores of a block and its cube core, in the system workspace:
 *
 *     vector core                       cube core (inside REGIST_MATMUL_OBJ)
 *     write the job, raise `posted`  -> poll `posted`, do the jobs in order
 *     poll `finished`                <- raise `finished`
 *
 * It holds a few jobs, so that a kernel may start one product while another runs. */
#ifndef ACRAFT_MATMUL_MAIL_H
#define ACRAFT_MATMUL_MAIL_H

#include "acraft/matmul_core.h"

namespace AscendC {

namespace mailbox {

/* 128 words of 8 bytes per vector core: the posted and the finished count, each in a cache line of
 * its own, then the jobs in turn. */
enum { WORDS = 128, POSTED = 0, FINISHED = 8, JOBS = 4, FIRST_JOB = 16, JOB_WORDS = 16 };
enum { KIND = 0, OBJECT = 1, ONLY = 2, SIZES = 3 }; /* words of a job */
enum { RUN = 1, STOP = 2, READY_FLAG = 10, BOXES_BYTES = 128 << 10 };

inline uint32_t ratio() { return acraft_core.sub_block_num ? acraft_core.sub_block_num : 1; }

inline GlobalTensor<uint64_t> slot(uint32_t cube, uint32_t sub)
{
    GlobalTensor<uint64_t> t;
    t.SetGlobalBuffer(reinterpret_cast<uint64_t *>(acraft_core.workspace) + (uint64_t(cube) * 2 + sub) * WORDS);
    return t;
}
inline GlobalTensor<uint64_t> mine()
{
    return slot(acraft_core.block_idx / ratio(), acraft_core.sub_block_idx);
}
/* Where the n-th job (from 1) lies in a mailbox. */
inline uint32_t job_at(uint64_t n) { return FIRST_JOB + uint32_t((n - 1) % JOBS) * JOB_WORDS; }
/* Scratch in GM after the mailboxes, 320 KB a vector core: for operands and results that the kernel keeps in UB. */
enum { SCRATCH_A = 0, SCRATCH_B = 64 << 10, SCRATCH_BIAS = 128 << 10, SCRATCH_C = 136 << 10, SCRATCH_END = 320 << 10 };
inline uint64_t scratch(uint32_t from, uint32_t to, uint64_t bytes, const acraft::Site &s)
{
    if (bytes > to - from) acraft::unsupported("Matmul with operands or results of this size in UB", s);
    uint64_t index = uint64_t(acraft_core.block_idx / ratio()) * 2 + acraft_core.sub_block_idx;
    return reinterpret_cast<uintptr_t>(acraft_core.workspace) + BOXES_BYTES + index * SCRATCH_END + from;
}

inline void write_job(GlobalTensor<uint64_t> &to, uint32_t at, const acraft::MatmulJob &j, const acraft::Site &s)
{
    const uint64_t words[] = {j.a, j.b, j.bias, j.c, j.quant, j.m | uint64_t(j.n) << 32, j.k | uint64_t(j.lda) << 32,
                              j.ldb | uint64_t(j.ldc) << 32, j.base_m | uint64_t(j.base_n) << 32, j.base_k | uint64_t(j.flags) << 32, j.user, j.data};
    for (uint32_t i = 0; i < 12; i++) to.SetValue(at + SIZES + i, words[i], s);
    uint64_t steps;
    std::memcpy(&steps, &j.steps, sizeof steps);
    to.SetValue(at + SIZES + 12, steps, s);
}
inline acraft::MatmulJob read_job(const GlobalTensor<uint64_t> &from, uint32_t at, const acraft::Site &s)
{
    uint64_t w[13];
    for (uint32_t i = 0; i < 13; i++) w[i] = from.GetValue(at + SIZES + i, s);
    acraft::MatmulJob j = {};
    j.a = w[0];
    j.b = w[1];
    j.bias = w[2];
    j.c = w[3];
    j.quant = w[4];
    j.m = uint32_t(w[5]);
    j.n = uint32_t(w[5] >> 32);
    j.k = uint32_t(w[6]);
    j.lda = uint32_t(w[6] >> 32);
    j.ldb = uint32_t(w[7]);
    j.ldc = uint32_t(w[7] >> 32);
    j.base_m = uint32_t(w[8]);
    j.base_n = uint32_t(w[8] >> 32);
    j.base_k = uint32_t(w[9]);
    j.flags = uint32_t(w[9] >> 32);
    j.user = w[10];
    j.data = w[11];
    std::memcpy(&j.steps, &w[12], sizeof j.steps);
    return j;
}

/* Where the vector core's call stands goes with the kind of the job, so that the cube core can name
 * it: 8 bits of kind, 32 of line, 24 that tell the files apart. */
inline uint64_t file_mark(const char *file)
{
    uint32_t hash = 2166136261u;
    for (; *file; file++) hash = (hash ^ uint8_t(*file)) * 16777619u;
    return uint64_t(hash & 0xFFFFFF) << 40;
}
inline uint64_t with_place(uint64_t kind, const acraft::Site &s) { return kind | uint64_t(s.line) << 8 | file_mark(s.file); }
inline acraft::Site place_in(uint64_t word, const acraft::Site &s)
{
    acraft::Site at = s;
    if (word >> 40 << 40 == file_mark(s.file)) at.line = uint32_t(word >> 8);
    return at;
}

inline ACRAFT_KEPT uint64_t acraft_posted = 0;

inline ACRAFT_KEPT uint64_t acraft_finished = 0; /* as far as this core has seen */

inline void wait(uint64_t number, const acraft::Site &s)
{
    GlobalTensor<uint64_t> box = mine();
    do acraft_finished = box.GetValue(FINISHED, s);
    while (acraft_finished < number);
}
/* On a vector core: what went before must have arrived in GM. Returns the job's number. */
inline uint64_t post(uint64_t kind, uint64_t object, const acraft::MatmulJob &j, int64_t only, bool compact, const acraft::Site &s)
{
    GlobalTensor<uint64_t> box = mine();
    acraft::put_barrier(NPU_PIPE_ALL, s);
    if (acraft_posted >= acraft_finished + JOBS) wait(acraft_posted + 1 - JOBS, s);
    uint32_t at = job_at(++acraft_posted);
    box.SetValue(at + KIND, with_place(kind, s), s);
    box.SetValue(at + OBJECT, object, s);
    box.SetValue(at + ONLY, uint64_t(only + 1) | uint64_t(compact) << 63, s);
    write_job(box, at, j, s);
    box.SetValue(POSTED, acraft_posted, s);
    DataCacheCleanAndInvalid<uint64_t, CacheLine::ENTIRE_DATA_CACHE, DcciDst::CACHELINE_OUT>(box, s);
    return acraft_posted;
}

}  // namespace mailbox

}  // namespace AscendC

#endif
