/* How the tool asks a host program for a tiling. The request is one block of memory, mapped at a
 * fixed address in the host program so that pointers in it are plain pointers; the answer is
 * written to a descriptor: AcraftTilingResult, then the tiling bytes. */
#ifndef TWIN_HOST_SHARE_H
#define TWIN_HOST_SHARE_H

#include "twin/include/acraft/host.h"

#define HOST_REQUEST_ADDRESS 0x200000000000ull
#define HOST_TILING_ROOM (256u << 10)
#define HOST_MOST_OUTPUTS 64
/* How often a tiling function is called again, and how much it may print in each call. One that
 * counts its calls is found in its third call (watch_host.h). */
#define HOST_CALLS 40
#define HOST_PRINTED (64u << 10)
/* HOST_SCAN: sizes of inputs at which the tiling function goes where it went nowhere so far. Each size of an input,
 * and whatever equals it, is set to 1, 2, ... HOST_SCAN_SIZES, all others staying as they are. */
#define HOST_SCAN_SIZES 2048
#define HOST_SCAN_MOST 16
#define HOST_SCAN_ALONE 2 /* of these by what it decides, not by where it goes; for each size */

/* The third is a byte for each slot of watch_code.h. */
enum { HOST_FD_REQUEST = 3, HOST_FD_ANSWER = 4, HOST_FD_SEEN = 5, HOST_FD_COUNT = 3 };

/* The first word on the command line. */
#define HOST_DESCRIBE "describe"
#define HOST_HEADER "header"
#define HOST_TILING "tiling"
#define HOST_SCAN "scan"
#define HOST_INFER "infer"

typedef struct HostRequest {
    uint64_t bytes; /* of the whole block */
    AcraftTilingRequest tiling;
} HostRequest;

/* The answer to HOST_SCAN. */
typedef struct HostScannedSize {
    int64_t from, to;
} HostScannedSize;
typedef struct HostScanned {
    int32_t count, pad;
    HostScannedSize sizes[HOST_SCAN_MOST];
} HostScanned;

/* The answer to HOST_INFER. */
typedef struct HostInferred {
    int32_t code, count;
    char error[256];
    AcraftHostTensor outputs[HOST_MOST_OUTPUTS];
} HostInferred;

#endif
