/* TPipe, TQue, TQueBind, TBuf, TBufPool: buffers handed out in order from each memory, and the
 * flags their hand-over really is. In: InitBuffer, AllocTensor, EnQue, DeQue, FreeTensor. Out:
 * bookkeeping records, and SET_FLAG / WAIT_FLAG records marked REC_FROM_QUEUE.
 *
 *     AllocTensor   waits for the flag left by FreeTensor of the same buffer   (consumer -> producer)
 *     EnQue         sets the flag of the finished buffer                       (producer -> consumer)
 *     DeQue         waits for it
 *     FreeTensor    sets the flag for the next AllocTensor */
#ifndef ACRAFT_PIPE_H
#define ACRAFT_PIPE_H

#include "acraft/tensor.h"

#include <tuple>

namespace AscendC {

struct TQueConfig {
    bool nd2nz = false;
    bool nz2nd = false;
    bool scmBlockGroup = false;
    uint32_t bufferLen = 0;
    uint32_t bufferNumber = 0;
    uint32_t consumerSize = 0;
    TPosition consumer[8] = {};
    bool enableStaticEvtId = false;
    bool enableLoopQueue = false;
};

constexpr TQueConfig GetTQueConfig(const int32_t mask)
{
    TQueConfig c;
    c.nd2nz = mask & 1;
    c.nz2nd = mask & 2;
    c.scmBlockGroup = mask & 4;
    return c;
}
constexpr TQueConfig GetTQueConfig(const TQueConfig *config) { return *config; }
constexpr TQueConfig GetTQueConfig(bool nd2nzIn, bool nz2ndIn, bool scmBlockGroupIn, uint32_t bufferLenIn,
                                   uint32_t bufferNumberIn, uint32_t consumerSizeIn, const TPosition consumerIn[])
{
    TQueConfig c;
    c.nd2nz = nd2nzIn;
    c.nz2nd = nz2ndIn;
    c.scmBlockGroup = scmBlockGroupIn;
    c.bufferLen = bufferLenIn;
    c.bufferNumber = bufferNumberIn;
    c.consumerSize = consumerSizeIn;
    for (uint32_t i = 0; i < consumerSizeIn && i < 8; i++) c.consumer[i] = consumerIn[i];
    return c;
}

/* One buffer of a queue. */
struct TBufType {
    TBufState state = TBufState::FREE;
    HardEvent freeBufEvt = HardEvent::MAX;
    TEventID enQueEvtID = INVALID_TEVENTID;
    TEventID freeBufEvtID = INVALID_TEVENTID;
    uint32_t address = 0;
    uint32_t dataLen = 0;
    TTagType usertag = -1;
};

constexpr TPosition GetBufferLogicPos(TPosition pos, bool isSrc)
{
    switch (pos) {
    case TPosition::A1: case TPosition::B1: case TPosition::C1: case TPosition::VECIN:
        return isSrc ? TPosition::GM : pos;
    case TPosition::A2: return isSrc ? TPosition::A1 : pos;
    case TPosition::B2: return isSrc ? TPosition::B1 : pos;
    case TPosition::C2: return isSrc ? TPosition::C1 : pos;
    case TPosition::C2PIPE2GM: return isSrc ? TPosition::B1 : pos;
    case TPosition::CO1: return isSrc ? pos : TPosition::CO2;
    case TPosition::CO2: case TPosition::VECOUT: case TPosition::SPM:
        return isSrc ? pos : TPosition::GM;
    default: return pos;
    }
}

/* Where the buffer of a queue from src to dst lies: the on-chip end. */
constexpr TPosition GetPosition(TPosition src, TPosition dst)
{
    return dst == TPosition::GM || dst == TPosition::CO2 ? src : dst;
}
constexpr Hardware GetBufferPos(TPosition src, TPosition dst) { return GetPhyType(GetPosition(src, dst)); }

/* Which pipes a queue lies between: forward for EnQue/DeQue, backward for FreeTensor/AllocTensor. */
constexpr HardEvent GetQueEvt(Hardware src, Hardware dst, bool forward, bool = false, bool = false)
{
    using E = HardEvent;
    struct Row { Hardware src, dst; E forward, back; };
    constexpr Row rows[] = {
        {Hardware::GM, Hardware::UB, E::MTE2_V, E::V_MTE2},
        {Hardware::GM, Hardware::L1, E::MTE2_MTE1, E::MTE1_MTE2},
        {Hardware::GM, Hardware::L0A, E::MTE2_M, E::M_MTE2},
        {Hardware::GM, Hardware::L0B, E::MTE2_M, E::M_MTE2},
        {Hardware::UB, Hardware::GM, E::V_MTE3, E::MTE3_V},
        {Hardware::UB, Hardware::L1, E::MTE3_MTE1, E::MTE1_MTE3},
        {Hardware::UB, Hardware::UB, E::MTE2_MTE3, E::MTE3_MTE2},
        {Hardware::L1, Hardware::UB, E::MTE1_V, E::V_MTE1},
        {Hardware::L1, Hardware::L0A, E::MTE1_M, E::M_MTE1},
        {Hardware::L1, Hardware::L0B, E::MTE1_M, E::M_MTE1},
        {Hardware::L1, Hardware::BIAS, E::MTE1_M, E::M_MTE1},
        {Hardware::L1, Hardware::FIXBUF, E::MTE1_FIX, E::FIX_MTE1},
        {Hardware::L0C, Hardware::GM, E::M_FIX, E::FIX_M},
        {Hardware::L0C, Hardware::UB, E::M_FIX, E::FIX_M},
        {Hardware::L0C, Hardware::L1, E::M_FIX, E::FIX_M},
    };
    for (const Row &r : rows)
        if (r.src == src && r.dst == dst) return forward ? r.forward : r.back;
    return HardEvent::MAX;
}

class TPipe;
}  // namespace AscendC

namespace acraft {
inline ACRAFT_KEPT AscendC::TPipe *current_pipe = nullptr;
inline ACRAFT_KEPT uint32_t next_pipe_id = 1;
inline ACRAFT_KEPT uint32_t next_buffer_id = 1;

/* Buffer states outlive the queue objects: a TPipe declared before its queues is destroyed after
 * them and still looks at their flags. Old ones are used again when a pipe is reset in a loop. */
inline ACRAFT_KEPT AscendC::TBufType buffer_states[1024];
inline ACRAFT_KEPT uint32_t buffer_states_used = 0;
inline AscendC::TBufType *take_buffers(uint32_t count)
{
    if (buffer_states_used + count > 1024u) buffer_states_used = 0;
    buffer_states_used += count;
    return buffer_states + buffer_states_used - count;
}

constexpr uint32_t align32(uint32_t bytes) { return (bytes + 31u) / 32u * 32u; }

inline void put_buffer_init(uint32_t id, AscendC::TPosition pos, AscendC::TPosition dst, uint32_t address, uint32_t bytes,
                            uint32_t count, bool tbuf, uint32_t depth, const Site &site)
{
    if (not_my_memory(space_of(pos))) return;
    Record &r = put(NPU_BUFFER_INIT, site);
    r.operand[0] = operand(rec_address(space_of(pos), address), bytes, 0, 0);
    r.n[0] = id;
    r.n[1] = uint32_t(pos);
    r.n[2] = count;
    r.n[3] = tbuf;
    r.n[4] = uint32_t(dst);
    r.n[5] = depth;
}
}  // namespace acraft

inline AscendC::TPipe *GetTPipePtr() { return acraft::current_pipe; }

namespace AscendC {

template <TPosition src, TPosition dst, int32_t depth, auto mask> class TQueBind;
template <TPosition pos> class TBuf;

/* Bump allocation in each memory and the event numbers in use. */
class TPipe {
public:
    explicit TPipe(ACRAFT_SITE)
    {
        Init(site);
    }
    ~TPipe()
    {
        if (!destroyed_) Destroy(acraft::site_of_last());
    }
    TPipe(const TPipe &) = delete;

    void Init(ACRAFT_SITE)
    {
        id_ = acraft::next_pipe_id++;
        Record &r = acraft::put(NPU_PIPE_OPEN, site);
        r.n[0] = id_;
        destroyed_ = false;
        reset_pool();
        acraft::current_pipe = this;
        open_matmul_events(site);
    }

    template <class T> bool InitBuffer(T &que, uint8_t num, uint32_t len, ACRAFT_SITE)
    {
        static_assert(T::isTQue, "acraft: InitBuffer(que, num, len) does not take a TBuf");
        constexpr TPosition pos = GetPosition(T::srcPosition, T::dstPosition);
        uint32_t &top = top_of(pos);
        len = aligned<pos>(len);
        que.init_buffers(top, num, len, site);
        top += num * len;
        remember(que.bufs_, que.bufNum_);
        return true;
    }
    template <TPosition pos> bool InitBuffer(TBuf<pos> &buf, uint32_t len, ACRAFT_SITE)
    {
        uint32_t &top = top_of(pos);
        len = aligned<pos>(len);
        buf.init(top, len, site);
        top += len;
        return true;
    }
    template <class T> bool InitBufPool(T &pool, uint32_t len, ACRAFT_SITE)
    {
        uint32_t &top = top_of(T::poolPos);
        len = acraft::align32(len);
        pool.open(top, len);
        top += len;
        (void)site;
        return true;
    }
    template <class T, class U> bool InitBufPool(T &pool, uint32_t len, U &shareBuf, ACRAFT_SITE)
    {
        pool.open(shareBuf.start(), acraft::align32(len));
        (void)site;
        return true;
    }

    template <HardEvent evt> TEventID AllocEventID(ACRAFT_SITE)
    {
        TEventID id = FetchEventID(evt);
        events_[size_t(evt)] |= uint16_t(1u << id);
        put_event(NPU_EVENT_ALLOC, evt, id, site);
        return id;
    }
    template <HardEvent evt> void ReleaseEventID(TEventID id, ACRAFT_SITE)
    {
        events_[size_t(evt)] &= uint16_t(~(1u << id));
        put_event(NPU_EVENT_RELEASE, evt, id, site);
    }
    template <HardEvent evt> TEventID FetchEventID() { return FetchEventID(evt); }
    TEventID FetchEventID(HardEvent evt)
    {
        TEventID id = 0;
        while (id < 15 && (events_[size_t(evt)] >> id & 1)) id++;
        return id;
    }

    template <TPosition pos, typename T> LocalTensor<T> GetAbsAddr(int32_t offset, int32_t size) const
    {
        return LocalTensor<T>(pos, uint32_t(offset), uint32_t(size));
    }

    void Reset(ACRAFT_SITE)
    {
        wait_for_frees(0, UINT32_MAX, site);
        reset_pool();
        open_matmul_events(site);
    }
    void Destroy(ACRAFT_SITE)
    {
        DestroyWithoutPipeAll(site);
        acraft::put_barrier(NPU_PIPE_ALL, site);
        Record &r = acraft::put(NPU_PIPE_CLOSE, site);
        r.n[0] = id_;
    }
    void DestroyWithoutPipeAll(ACRAFT_SITE)
    {
        destroyed_ = true;
        wait_for_frees(0, UINT32_MAX, site);
        if (g_coreType == AIC)
            for (int32_t id = 0; id < 3; id++) flag(NPU_WAIT_FLAG, HardEvent::M_MTE1, id, site);
        if (acraft::current_pipe == this) acraft::current_pipe = nullptr;
    }

    /* For the queues: reserve and give back a flag number without a record of its own. */
    TEventID take_event(HardEvent evt)
    {
        TEventID id = FetchEventID(evt);
        events_[size_t(evt)] |= uint16_t(1u << id);
        return id;
    }
    void drop_event(HardEvent evt, TEventID id) { events_[size_t(evt)] &= uint16_t(~(1u << id)); }

    static void flag(NpuOp op, HardEvent evt, int32_t id, const acraft::Site &site)
    {
        acraft::put_flag(op, acraft::event_pipes[size_t(evt)], id, REC_FROM_QUEUE, site);
    }

    /* Queues of a pool share one memory with others: only buffers in [from, to) are meant. */
    ACRAFT_OWN void wait_for_frees(uint32_t from, uint32_t to, const acraft::Site &site)
    {
        for (uint32_t i = 0; i < made_; i++) {
            TBufType &b = *all_[i];
            if (b.freeBufEvtID == INVALID_TEVENTID || b.state != TBufState::FREE || b.address < from || b.address >= to) continue;
            flag(NPU_WAIT_FLAG, b.freeBufEvt, b.freeBufEvtID, site);
            b.freeBufEvtID = INVALID_TEVENTID;
        }
    }
    void remember(TBufType *bufs, uint32_t count)
    {
        for (uint32_t i = 0; i < count && made_ < max_buffers; i++) all_[made_++] = &bufs[i];
    }
    uint32_t &top_of(TPosition pos) { return top_[size_t(GetPhyType(pos))]; }

private:
    static constexpr uint32_t max_buffers = 64;

    template <TPosition pos> static uint32_t aligned(uint32_t len)
    {
        return pos == TPosition::C2 ? (len + 63u) / 64u * 64u : acraft::align32(len);
    }
    void put_event(NpuOp op, HardEvent evt, TEventID id, const acraft::Site &site)
    {
        acraft::put_flag(op, acraft::event_pipes[size_t(evt)], id, 0, site);
    }
    void reset_pool()
    {
        for (uint32_t &t : top_) t = 0;
        for (uint16_t &e : events_) e = 0;
        made_ = 0;
    }
    /* The matrix classes count on three flags from M to MTE1 that are up from the start. */
    void open_matmul_events(const acraft::Site &site)
    {
        if (g_coreType != AIC) return;
        for (int32_t id = 0; id < 3; id++) {
            events_[size_t(HardEvent::M_MTE1)] |= uint16_t(1u << id);
            flag(NPU_SET_FLAG, HardEvent::M_MTE1, id, site);
        }
    }

    uint32_t top_[size_t(Hardware::MAX)] = {};
    uint16_t events_[size_t(HardEvent::MAX)] = {};
    TBufType *all_[max_buffers] = {};
    uint32_t made_ = 0;
    uint32_t id_ = 0;
    bool destroyed_ = true;
};

template <TPosition src, TPosition dst, int32_t depth, auto mask = 0> class TQueBind {
public:
    static constexpr bool isTQue = true;
    static constexpr TPosition srcPosition = src;
    static constexpr TPosition dstPosition = dst;
    static constexpr TQueConfig config = GetTQueConfig(mask);
    static constexpr TPosition position = GetPosition(src, dst);
    static constexpr HardEvent enQueEvt = GetQueEvt(GetPhyType(src), GetPhyType(dst), true);
    static constexpr HardEvent freeBufEvt = GetQueEvt(GetPhyType(src), GetPhyType(dst), false);
    static_assert(position != TPosition::GM, "acraft: a queue cannot lie in GM");

    TQueBind() {}

    template <typename T> LocalTensor<T> AllocTensor(ACRAFT_SITE)
    {
        static_assert(depth != 0, "acraft: a queue of depth 0 allocates with AllocTensor(LocalTensor&)");
        return tensor_of<T>(take(site), site);
    }
    template <typename T> void AllocTensor(LocalTensor<T> &tensor, ACRAFT_SITE) { tensor = tensor_of<T>(take(site), site); }

    template <typename T> void FreeTensor(LocalTensor<T> &tensor, ACRAFT_SITE)
    {
        note(NPU_QUEUE_FREE, tensor.operand(), site);
        give_back(buffer_of(tensor), site);
    }
    template <typename T> void FreeTensor(LocalTensor<T> &&tensor, ACRAFT_SITE) { FreeTensor(tensor, site); }

    template <typename T> bool EnQue(const LocalTensor<T> &tensor, ACRAFT_SITE)
    {
        return push(tensor.operand(), buffer_of(tensor), enQueEvt, site);
    }
    template <TPosition from, TPosition to, typename T> bool EnQue(const LocalTensor<T> &tensor, ACRAFT_SITE)
    {
        return push(tensor.operand(), buffer_of(tensor), user_event<from, to>(), site);
    }
    bool EnQue(TBufHandle buf, ACRAFT_SITE)
    {
        TBufType *b = reinterpret_cast<TBufType *>(buf);
        return push(buffer_operand(b), b, enQueEvt, site);
    }

    template <typename T> LocalTensor<T> DeQue(ACRAFT_SITE) { return shape_of<T>(pop(enQueEvt, site)); }
    template <typename T> void DeQue(LocalTensor<T> &tensor, ACRAFT_SITE)
    {
        if (depth != 0) {
            tensor = shape_of<T>(pop(enQueEvt, site));
            return;
        }
        TBufType *b = buffer_of(tensor);
        note(NPU_QUEUE_POP, tensor.operand(), site);
        wait_enqueued(b, enQueEvt, site);
    }
    template <TPosition from, TPosition to, typename T> LocalTensor<T> DeQue(ACRAFT_SITE)
    {
        return shape_of<T>(pop(user_event<from, to>(), site));
    }
    TBufHandle DeQue(ACRAFT_SITE) { return reinterpret_cast<TBufHandle>(pop(enQueEvt, site)); }

    bool VacantInQue() { return used_ < depth; }
    bool HasTensorInQue() { return used_ > 0; }
    int32_t GetTensorCountInQue() { return used_; }
    bool HasIdleBuffer() { return taken_ < bufNum_; }
    template <typename T> TBufState GetState(const LocalTensor<T> &tensor) const
    {
        TBufType *b = reinterpret_cast<TBufType *>(tensor.GetBufferHandle());
        return b ? b->state : TBufState::FREE;
    }
    void FreeAllEvent(ACRAFT_SITE)
    {
        for (uint32_t i = 0; i < bufNum_; i++) wait_freed(&bufs_[i], site);
    }
    void FreeBuffer(TBufHandle buf, ACRAFT_SITE)
    {
        TBufType *b = reinterpret_cast<TBufType *>(buf);
        note(NPU_QUEUE_FREE, buffer_operand(b), site);
        give_back(b, site);
    }
    TBuffAddr GetBufferAddr(TBufHandle buf)
    {
        return place_of(reinterpret_cast<TBufType *>(buf));
    }

    ACRAFT_OWN void init_buffers(uint32_t address, uint32_t num, uint32_t len, const acraft::Site &site)
    {
        id_ = acraft::next_buffer_id++;
        acraft::put_buffer_init(id_, position, dst, address, len, num, false, uint32_t(depth), site);
        bufNum_ = num < max_buffers ? num : max_buffers;
        head_ = tail_ = used_ = taken_ = cursor_ = 0;
        bufs_ = acraft::take_buffers(bufNum_);
        for (uint32_t i = 0; i < bufNum_; i++, address += len) {
            bufs_[i] = TBufType();
            bufs_[i].freeBufEvt = freeBufEvt;
            bufs_[i].address = address;
            bufs_[i].dataLen = len;
        }
    }

    static constexpr uint32_t max_buffers = 16;
    TBufType *bufs_ = nullptr;
    uint32_t bufNum_ = 0;

private:
    template <TPosition from, TPosition to> static constexpr HardEvent user_event()
    {
        constexpr Hardware a = GetPhyType(from), b = GetPhyType(to);
        static_assert(a != Hardware::GM || b != Hardware::GM, "acraft: EnQue/DeQue between GM and GM");
        return GetQueEvt(a, b, true);
    }
    ACRAFT_OWN void note(NpuOp op, const RecordOperand &tensor, const acraft::Site &site)
    {
        if (acraft::not_my_memory(acraft::space_of(position))) return;
        Record &r = acraft::put(op, site);
        r.operand[0] = tensor;
        r.n[0] = id_;
        r.n[1] = uint32_t(position);
    }
    RecordOperand buffer_operand(const TBufType *b) const
    {
        return b ? acraft::operand(rec_address(acraft::space_of(position), b->address), b->dataLen, 0, 0) : RecordOperand{};
    }
    template <typename T> TBufType *buffer_of(const LocalTensor<T> &t) const
    {
        return reinterpret_cast<TBufType *>(t.GetBufferHandle());
    }
    TBuffAddr place_of(TBufType *b) const
    {
        TBuffAddr a;
        if (!b) return a;
        a.dataLen = b->dataLen;
        a.bufferAddr = b->address;
        a.bufferHandle = reinterpret_cast<TBufHandle>(b);
        a.logicPos = uint8_t(position);
        return a;
    }
    template <typename T> LocalTensor<T> shape_of(TBufType *b) const
    {
        LocalTensor<T> t;
        t.SetAddr(place_of(b));
        return t;
    }
    template <typename T> LocalTensor<T> tensor_of(TBufType *b, const acraft::Site &site)
    {
        note(NPU_QUEUE_ALLOC, buffer_operand(b), site);
        return shape_of<T>(b);
    }

    /* The next free buffer. None free: the device would spin for ever; the second QUEUE_ALLOC of
     * an occupied buffer tells the simulator, which stops this core with its own verdict. */
    ACRAFT_OWN TBufType *take(const acraft::Site &site)
    {
        if (bufNum_ == 0) return nullptr;
        for (uint32_t tries = 0; tries < bufNum_; tries++) {
            TBufType *b = &bufs_[cursor_];
            cursor_ = (cursor_ + 1) % bufNum_;
            if (b->state != TBufState::FREE) continue;
            b->state = TBufState::OCCUPIED;
            taken_++;
            wait_freed(b, site);
            return b;
        }
        note(NPU_QUEUE_ALLOC, buffer_operand(&bufs_[cursor_]), site);
        acraft::flush();
        acraft_exit(1);
    }
    ACRAFT_OWN void wait_freed(TBufType *b, const acraft::Site &site)
    {
        if (b->freeBufEvtID == INVALID_TEVENTID) return;
        if (config.enableLoopQueue && b->freeBufEvt != freeBufEvt) {
            wait_foreign(b, site);
            return;
        }
        TPipe::flag(NPU_WAIT_FLAG, freeBufEvt, b->freeBufEvtID, site);
        GetTPipePtr()->drop_event(freeBufEvt, b->freeBufEvtID);
        b->freeBufEvtID = INVALID_TEVENTID;
    }
    /* A buffer shared by two queues of a loop, freed by the other one. */
    void wait_foreign(TBufType *b, const acraft::Site &site)
    {
        TPipe::flag(NPU_WAIT_FLAG, b->freeBufEvt, b->freeBufEvtID, site);
        GetTPipePtr()->drop_event(b->freeBufEvt, b->freeBufEvtID);
        b->freeBufEvtID = INVALID_TEVENTID;
        if (b->freeBufEvt != HardEvent::MTE3_V) return;
        TEventID id = GetTPipePtr()->FetchEventID(HardEvent::MTE3_MTE2);
        TPipe::flag(NPU_SET_FLAG, HardEvent::MTE3_MTE2, id, site);
        TPipe::flag(NPU_WAIT_FLAG, HardEvent::MTE3_MTE2, id, site);
    }
    ACRAFT_OWN void give_back(TBufType *b, const acraft::Site &site)
    {
        if (!b || !GetTPipePtr()) return;
        if (freeBufEvt != HardEvent::MAX && b->state != TBufState::FREE) {
            b->freeBufEvtID = GetTPipePtr()->take_event(freeBufEvt);
            b->freeBufEvt = freeBufEvt;
            TPipe::flag(NPU_SET_FLAG, freeBufEvt, b->freeBufEvtID, site);
        }
        if (b->state != TBufState::FREE && taken_ > 0) taken_--;
        b->state = TBufState::FREE;
    }
    ACRAFT_OWN bool push(const RecordOperand &tensor, TBufType *b, HardEvent evt, const acraft::Site &site)
    {
        note(NPU_QUEUE_PUSH, tensor, site);
        if (!b || !GetTPipePtr()) return false;
        b->state = TBufState::ENQUE;
        if (evt != HardEvent::MAX) {
            b->enQueEvtID = GetTPipePtr()->take_event(evt);
            TPipe::flag(NPU_SET_FLAG, evt, b->enQueEvtID, site);
        }
        if (depth == 0) return true;
        waiting_[tail_] = b;
        tail_ = (tail_ + 1) % slots;
        used_++;
        return true;
    }
    ACRAFT_OWN TBufType *pop(HardEvent evt, const acraft::Site &site)
    {
        if (used_ == 0) {
            note(NPU_QUEUE_POP, RecordOperand{}, site);
            acraft::flush();
            acraft_exit(1);
        }
        TBufType *b = waiting_[head_];
        head_ = (head_ + 1) % slots;
        used_--;
        note(NPU_QUEUE_POP, buffer_operand(b), site);
        wait_enqueued(b, evt, site);
        return b;
    }
    ACRAFT_OWN void wait_enqueued(TBufType *b, HardEvent evt, const acraft::Site &site)
    {
        if (!b || b->enQueEvtID == INVALID_TEVENTID) return;
        TPipe::flag(NPU_WAIT_FLAG, evt, b->enQueEvtID, site);
        GetTPipePtr()->drop_event(evt, b->enQueEvtID);
        b->enQueEvtID = INVALID_TEVENTID;
        b->state = TBufState::DEQUE;
    }

    static constexpr uint32_t slots = 32;
    TBufType *waiting_[slots] = {};
    uint32_t head_ = 0, tail_ = 0, cursor_ = 0;
    int32_t used_ = 0;
    uint32_t taken_ = 0;
    uint32_t id_ = 0;
};

template <TPosition pos, int32_t depth, auto mask = 0>
class TQue : public TQueBind<GetBufferLogicPos(pos, true), GetBufferLogicPos(pos, false), depth, mask> {
    static_assert(pos != TPosition::GM && pos != TPosition::MAX, "acraft: TQue on this position does not exist");
};

template <TPosition pos, int32_t depth = 1, auto mask = 0> using TSCM = TQueBind<pos, TPosition::TSCM, depth, mask>;

template <TPosition pos = TPosition::LCM> class TBuf {
public:
    static constexpr bool isTQue = false;
    static constexpr TPosition srcPosition = pos;
    static constexpr TPosition dstPosition = pos;

    template <typename T> LocalTensor<T> Get(ACRAFT_SITE) { return window<T>(0, bytes_, site); }
    template <typename T> LocalTensor<T> Get(uint32_t len, ACRAFT_SITE)
    {
        return window<T>(0, uint32_t(acraft::bytes_for<T>(len)), site);
    }
    template <typename T> LocalTensor<T> GetWithOffset(uint32_t size, uint32_t bufOffset, ACRAFT_SITE)
    {
        return window<T>(bufOffset, uint32_t(acraft::bytes_for<T>(size)), site);
    }
    template <typename T> LocalTensor<T> AllocTensor(ACRAFT_SITE) { return window<T>(0, bytes_, site); }
    template <typename T> void FreeTensor(LocalTensor<T> &) {}
    template <typename T> void EnQue(const LocalTensor<T> &) {}
    template <typename T> LocalTensor<T> DeQue(ACRAFT_SITE) { return window<T>(0, bytes_, site); }
    uint32_t GetBufLen() const { return bytes_; }

    void init(uint32_t address, uint32_t len, const acraft::Site &site)
    {
        id_ = acraft::next_buffer_id++;
        address_ = address;
        bytes_ = len;
        acraft::put_buffer_init(id_, pos, pos, address, len, 1, true, 0, site);
    }
    uint32_t start() const { return address_; }

private:
    template <typename T> ACRAFT_OWN LocalTensor<T> window(uint32_t offset, uint32_t bytes, const acraft::Site &site)
    {
        LocalTensor<T> t;
        TBuffAddr a;
        a.dataLen = bytes;
        a.bufferAddr = address_ + offset;
        a.logicPos = uint8_t(pos);
        t.SetAddr(a);
        if (acraft::not_my_memory(acraft::space_of(pos))) return t;
        Record &r = acraft::put(NPU_BUFFER_GET, site);
        r.operand[0] = t.operand();
        r.n[0] = id_;
        return t;
    }
    uint32_t address_ = 0, bytes_ = 0, id_ = 0;
};

/* A piece of one memory with buffers of its own; Reset makes it empty again. */
template <TPosition pos, uint32_t bufIDSize = 4> class TBufPool {
public:
    static constexpr TPosition poolPos = pos;
    static constexpr bool isTbufPool = true;

    template <class T> bool InitBuffer(T &que, uint8_t num, uint32_t len, ACRAFT_SITE)
    {
        len = acraft::align32(len);
        que.init_buffers(top_, num, len, site);
        top_ += num * len;
        GetTPipePtr()->remember(que.bufs_, que.bufNum_);
        return true;
    }
    template <TPosition p> bool InitBuffer(TBuf<p> &buf, uint32_t len, ACRAFT_SITE)
    {
        len = acraft::align32(len);
        buf.init(top_, len, site);
        top_ += len;
        return true;
    }
    template <class T> bool InitBufPool(T &pool, uint32_t len, ACRAFT_SITE)
    {
        pool.open(top_, acraft::align32(len));
        top_ += acraft::align32(len);
        (void)site;
        return true;
    }
    template <class T, class U> bool InitBufPool(T &pool, uint32_t len, U &share, ACRAFT_SITE)
    {
        pool.open(share.start(), acraft::align32(len));
        (void)site;
        return true;
    }
    void Reset(ACRAFT_SITE)
    {
        GetTPipePtr()->wait_for_frees(start_, top_, site);
        top_ = start_;
    }
    void open(uint32_t address, uint32_t len)
    {
        start_ = top_ = address;
        len_ = len;
    }
    uint32_t start() const { return start_; }

private:
    uint32_t start_ = 0, top_ = 0, len_ = 0;
};

/* The rest of UB as scratch, from the end of what TPipe handed out. */
template <typename T, TPosition pos> inline bool PopStackBuffer(LocalTensor<T> &popBuffer)
{
    uint32_t top = GetTPipePtr()->top_of(pos);
    popBuffer = LocalTensor<T>(pos, top, (uint32_t(TOTAL_UB_SIZE) - top) / uint32_t(sizeof(T)));
    popBuffer.open_ = false;
    return true;
}

template <Hardware hard = Hardware::UB> class LocalMemAllocator {
public:
    uint32_t GetCurAddr() const { return head_; }
    template <TPosition pos, class T, uint32_t tileSize> LocalTensor<T> Alloc() { return Alloc<pos, T>(tileSize); }
    template <TPosition pos, class T> LocalTensor<T> Alloc(uint32_t tileSize)
    {
        LocalTensor<T> t(pos, head_, tileSize);
        head_ += acraft::align32(uint32_t(acraft::bytes_for<T>(tileSize)));
        return t;
    }
    template <class T, uint32_t tileSize> LocalTensor<T> Alloc() { return Alloc<default_pos(), T>(tileSize); }
    template <class T> LocalTensor<T> Alloc(uint32_t tileSize) { return Alloc<default_pos(), T>(tileSize); }

private:
    static constexpr TPosition default_pos()
    {
        switch (hard) {
        case Hardware::L1: return TPosition::A1;
        case Hardware::L0A: return TPosition::A2;
        case Hardware::L0B: return TPosition::B2;
        case Hardware::L0C: return TPosition::CO1;
        case Hardware::BIAS: return TPosition::C2;
        case Hardware::FIXBUF: return TPosition::C2PIPE2GM;
        default: return TPosition::VECCALC;
        }
    }
    uint32_t head_ = 0;
};

}  // namespace AscendC

#endif
