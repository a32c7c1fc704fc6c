/* The host runtime (ACL) as far as programs that launch kernels use it: device memory is a range of
 * addresses, copies and fills are events. */
#ifndef ACRAFT_BIND_ACL_H
#define ACRAFT_BIND_ACL_H

#include "acraft/bind/runtime.h"

#include <cstdlib>
#include <cstring>

typedef void *aclrtStream;
typedef void *aclrtContext;
typedef void *aclrtEvent;
typedef int aclError;
enum { ACL_SUCCESS = 0, ACL_ERROR_NONE = 0 };
typedef enum aclrtMemMallocPolicy {
    ACL_MEM_MALLOC_HUGE_FIRST,
    ACL_MEM_MALLOC_HUGE_ONLY,
    ACL_MEM_MALLOC_NORMAL_ONLY
} aclrtMemMallocPolicy;
typedef enum aclrtMemcpyKind {
    ACL_MEMCPY_HOST_TO_HOST,
    ACL_MEMCPY_HOST_TO_DEVICE,
    ACL_MEMCPY_DEVICE_TO_HOST,
    ACL_MEMCPY_DEVICE_TO_DEVICE
} aclrtMemcpyKind;

inline aclError aclInit(const char *) { return 0; }
inline aclError aclFinalize() { return 0; }
inline aclError aclrtSetDevice(int32_t) { return 0; }
inline aclError aclrtResetDevice(int32_t) { return 0; }
inline aclError aclrtGetDevice(int32_t *id)
{
    *id = 0;
    return 0;
}
inline aclError aclrtGetDeviceCount(uint32_t *count)
{
    *count = 1;
    return 0;
}
inline aclError aclrtCreateContext(aclrtContext *context, int32_t)
{
    *context = nullptr;
    return 0;
}
inline aclError aclrtDestroyContext(aclrtContext) { return 0; }
inline aclError aclrtSetCurrentContext(aclrtContext) { return 0; }
inline aclError aclrtCreateStream(aclrtStream *stream)
{
    *stream = nullptr;
    return 0;
}
inline aclError aclrtDestroyStream(aclrtStream) { return 0; }
inline aclError aclrtSynchronizeStream(aclrtStream) { return 0; }
inline aclError aclrtSynchronizeDevice() { return 0; }

/* Launches and copies happen in the order of the calls, whatever their stream: events order nothing. */
inline aclError aclrtCreateEvent(aclrtEvent *event)
{
    *event = nullptr;
    return 0;
}
inline aclError aclrtCreateEventWithFlag(aclrtEvent *event, uint32_t) { return aclrtCreateEvent(event); }
inline aclError aclrtCreateEventExWithFlag(aclrtEvent *event, uint32_t) { return aclrtCreateEvent(event); }
inline aclError aclrtDestroyEvent(aclrtEvent) { return 0; }
inline aclError aclrtRecordEvent(aclrtEvent, aclrtStream) { return 0; }
inline aclError aclrtStreamWaitEvent(aclrtStream, aclrtEvent) { return 0; }
inline aclError aclrtSynchronizeEvent(aclrtEvent) { return 0; }
typedef enum aclrtLastErrLevel { ACL_RT_THREAD_LEVEL = 0 } aclrtLastErrLevel;
inline aclError aclrtGetLastError(aclrtLastErrLevel) { return 0; }

inline aclError aclrtMalloc(void **at, size_t bytes, aclrtMemMallocPolicy = ACL_MEM_MALLOC_HUGE_FIRST)
{
    *at = reinterpret_cast<void *>(acraft::bind::alloc(bytes));
    return 0;
}
inline aclError aclrtFree(void *) { return 0; }
inline aclError aclrtMallocHost(void **at, size_t bytes)
{
    *at = calloc(bytes ? bytes : 1, 1);
    return *at ? 0 : 1;
}
inline aclError aclrtFreeHost(void *at)
{
    free(at);
    return 0;
}

inline aclError aclrtMemcpy(void *to, size_t most, const void *from, size_t bytes,
                            aclrtMemcpyKind kind)
{
    using namespace acraft::bind;
    if (bytes > most) return 107002;
    switch (kind) {
    case ACL_MEMCPY_HOST_TO_HOST: memmove(to, from, bytes); break;
    case ACL_MEMCPY_DEVICE_TO_HOST: acraft::bind::read(reinterpret_cast<uint64_t>(from), bytes, to); break;
    case ACL_MEMCPY_HOST_TO_DEVICE:
        put_u8(BIND_WRITE);
        put_u64(reinterpret_cast<uint64_t>(to));
        put_bytes(from, bytes);
        break;
    case ACL_MEMCPY_DEVICE_TO_DEVICE:
        put_u8(BIND_MOVE);
        put_u64(reinterpret_cast<uint64_t>(to));
        put_u64(reinterpret_cast<uint64_t>(from));
        put_u64(bytes);
        break;
    }
    return 0;
}
inline aclError aclrtMemcpyAsync(void *to, size_t most, const void *from, size_t bytes,
                                 aclrtMemcpyKind kind, aclrtStream)
{
    return aclrtMemcpy(to, most, from, bytes, kind);
}
inline aclError aclrtMemset(void *at, size_t, int32_t value, size_t bytes)
{
    using namespace acraft::bind;
    put_u8(BIND_SET);
    put_u64(reinterpret_cast<uint64_t>(at));
    put_u64(bytes);
    put_u8(static_cast<uint8_t>(value));
    return 0;
}
inline aclError aclrtMemsetAsync(void *at, size_t most, int32_t value, size_t bytes, aclrtStream)
{
    return aclrtMemset(at, most, value, bytes);
}
/* Half precision of the host, as bits. */
typedef uint16_t aclFloat16;
inline float aclFloat16ToFloat(aclFloat16 value)
{
    int exponent = value >> 10 & 31, digits = value & 1023;
    float size = exponent == 31  ? (digits ? __builtin_nanf("") : __builtin_inff())
                 : exponent == 0 ? __builtin_ldexpf(static_cast<float>(digits), -24)
                                 : __builtin_ldexpf(static_cast<float>(digits + 1024), exponent - 25);
    return value >> 15 ? -size : size;
}

inline const char *aclGetRecentErrMsg() { return ""; }

#endif
