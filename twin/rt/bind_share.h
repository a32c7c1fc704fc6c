/* How the tool and a binding program talk. A binding is host code that gets tensors and launches
 * operators or kernels; it sees shapes and addresses, never elements. The tool asks for one call:
 *
 *     request (descriptor 3)   name, arguments, answers to earlier reads
 *     events  (descriptor 4)   what the call did, in order; the last one is DONE or FAILED
 *     seen    (descriptor 5)   where its code went: a byte for each slot of watch_code.h
 *
 * Events are executed by the tool after the program has ended. Where the program wants elements it
 * says READ and ends; the tool executes what came before and calls again with the answer, so a call
 * is replayed until it needs nothing more.
 *
 * Both streams: u8 tags, u32 and u64 little-endian, text as u32 length and bytes. A value is
 *     BIND_NONE | BIND_INT i64 | BIND_FLOAT f64 | BIND_BOOL u8 | BIND_TEXT text
 *     BIND_TENSOR: u64 address of the storage, i64 offset in elements, u32 dtype (ScalarType of
 *                  PyTorch), u32 rank, i64 sizes, i64 strides
 *     BIND_LIST u32 count, values
 * Request: u64 bytes that follow; text function, u64 first free address; the chip: text name, u32 AIC and AIV cores, u64
 * bytes of UB, L1, L0A, L0B, L0C, L2 and the system's workspace; u32 count of arguments, each text
 * name (may be empty) and value; u32 count of answers, each text; u8: call it once before, unheard. */
#ifndef TWIN_BIND_SHARE_H
#define TWIN_BIND_SHARE_H

enum { BIND_FD_REQUEST = 3, BIND_FD_EVENTS = 4, BIND_FD_SEEN = 5, BIND_FD_COUNT = 3 };
enum { BIND_MOST_RANK = 16 };
/* Calls of a function before the one that counts, as often as a benchmark warms up and measures, and what
 * each may print. */
enum { BIND_UNHEARD_CALLS = 40, BIND_PRINTED = 64 << 10 };

enum BindValue {
    BIND_NONE = 'n',
    BIND_INT = 'i',
    BIND_FLOAT = 'f',
    BIND_BOOL = 'b',
    BIND_TEXT = 's',
    BIND_TENSOR = 't',
    BIND_LIST = 'l'
};

enum BindEvent {
    BIND_ALLOC = 'A',       /* u64 address, u64 bytes */
    BIND_OPERATOR = 'X',    /* text name (aclnnAdd), u32 count, values */
    BIND_KERNEL = 'K',      /* text name, u32 blocks, u32 count, each u8 'p' u64 or 'v' text */
    BIND_COPY = 'C',        /* tensor to, tensor from: element by element, cast */
    BIND_FILL = 'F',        /* tensor to, f64 */
    BIND_SET = 'M',         /* u64 address, u64 bytes, u8 value */
    BIND_WRITE = 'W',       /* u64 address, text: host memory to the device */
    BIND_MOVE = 'D',        /* u64 to, u64 from, u64 bytes: device to device */
    BIND_READ = 'R',        /* u64 address, u64 bytes: the program ended, waiting for these */
    BIND_FILE = 'I',        /* text path, u64 most bytes: the same for an input file */
    BIND_OUTPUT = 'O',      /* text path, text: an output file was written */
    BIND_COUNTS = 'G',      /* it does something else when it is called again */
    BIND_COMPUTE = 'Q',     /* text name: PyTorch itself was asked to compute */
    BIND_UNSUPPORTED = 'U', /* text name: something of PyTorch or ACL that we lack */
    BIND_FAILED = 'E',      /* text: an error the program raised */
    BIND_FUNCTION = 'N',    /* text name, u32 count of arguments, u32 count and values: the names they
                             * have, none where the binding gives none: an answer to "" */
    BIND_DONE = 'Z'         /* value: the result */
};

#endif
