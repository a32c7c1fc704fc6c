/* The twin: compiles AscendC text against our headers and runs it on simulated cores.
 *
 *     TwinKernel *k = twin_compile(arena, &source, &options, &verdict, &diag);
 *     if (k) {
 *         twin_run(arena, k, &launch, &options, &run, &verdict);
 *         ... launch.tensors[i].data now holds the outputs ...
 *         twin_release(k);
 *     }
 *
 * In: text, a launch (tensors as raw bytes, tiling, blocks). Out: output bytes and a verdict: how
 * far it came, what was found, what is unsupported. Everything of the text (compiling, tiling
 * function, kernel) happens in boxed children; the simulator, in a process of its own too, stands
 * between them and the verdict, and no reference value ever comes near it. */
#ifndef TWIN_TWIN_H
#define TWIN_TWIN_H

#include "base/dtype.h"
#include "base/file.h"
#include "npu/npu.h"
#include "sim/sim.h"
#include "verdict/verdict.h"

enum { TWIN_MOST_DIMS = 16 };

/* One file of AscendC text. */
/* The cores that run a kernel, as __vector__, __cube__, __mix__ or the host side say. */
typedef enum TwinCores {
    TWIN_CORES_UNSAID,
    TWIN_CORES_VECTOR,
    TWIN_CORES_CUBE,
    TWIN_CORES_MIX_1_1,
    TWIN_CORES_MIX_1_2
} TwinCores;

typedef struct TwinSource {
    const char *path; /* as messages and records show it */
    Str text;
    const char *dir;                 /* where #include "..." looks; NULL: nowhere */
    const char *const *include_dirs; /* ends with NULL; NULL: none */
    const char *const *defines;      /* "NAME" or "NAME=value", ends with NULL; NULL: none */
    Str prelude;        /* C++ put before the text: tiling structs of the host side, ... */
    const char *kernel; /* the entry; NULL: the only one in the text */
    const char
        *template_args; /* of the entry, where it is a template and `kernel` has none; or NULL */
    TwinCores cores;    /* that run it, where the host side says so */
} TwinSource;

/* What launches left in the variables of kernels' texts: a later launch of the same program starts from
 * it. All launches of one candidate share one of these. */
typedef struct TwinLeft {
    VEC(RecordLeft) of[2]; /* by role: AIV, AIC */
} TwinLeft;
typedef struct TwinKeptProgram {
    uint64_t program; /* hash of its bytes */
    TwinLeft left;
} TwinKeptProgram;
typedef struct TwinKept {
    Arena *arena;
    VEC(TwinKeptProgram) programs;
} TwinKept;

/* Where the code of a candidate's programs went in one or more runs: kernels, tiling functions, bindings.
 *
 *     TwinSeen small = {.arena = a}, full = {.arena = a};
 *     options.seen = &small; ... run with values ...
 *     options.seen = &full;  ... run without values, larger ...
 *     if (!twin_seen_in(&full, &small)) ... it does at full size what it does not do in the other */
typedef struct TwinSeenProgram {
    uint64_t program; /* hash of its bytes */
    uint8_t *slots;   /* WATCH_SLOTS of them, see twin/rt/watch_code.h */
    int32_t *gaps;    /* of each slot: twin/rt/slots.h */
} TwinSeenProgram;
typedef struct TwinSeen {
    Arena *arena;
    VEC(TwinSeenProgram) programs;
} TwinSeen;
/* Whether every edge and outcome of `full` is in `seen`. */
bool twin_seen_in(const TwinSeen *full, const TwinSeen *seen);
/* How many edges and outcomes of `one` are in none of `seen`. */
uint32_t twin_seen_new(const TwinSeen *one, TwinSeen *const *seen, uint32_t n);
/* A comparison that was equal in no run: what its first number lacks. */
typedef struct TwinGap {
    uint64_t place; /* which one */
    int64_t gap;
    bool constant; /* the other number is one of the text */
    bool beyond;   /* one of less and more is missing, too */
} TwinGap;
/* All runs, and those whose equal comparisons count as covered. */
typedef struct TwinRuns {
    TwinSeen *const *all;
    uint32_t count;
    TwinSeen *const *had;
    uint32_t had_count;
} TwinRuns;
/* Those of `one` that were equal in no run that counts and change from one run to another; at most so many, constant ones
 * first. */
uint32_t twin_seen_gaps(const TwinSeen *one, const TwinRuns *runs, TwinGap *gaps, uint32_t most);

/* Sizes at which a tiling function goes where it went in no run so far: it is called again and again with other sizes, and
 * no kernel is run (twin/rt/host_share.h). */
typedef struct TwinScanSize {
    int64_t from, to; /* a size of the inputs, and what it is to be instead */
} TwinScanSize;
typedef struct TwinScan {
    Arena *arena;
    TwinSeen *const *seen; /* runs so far */
    uint32_t count;
    VEC(TwinScanSize) sizes; /* found */
} TwinScan;

/* Some blocks of a launch, drawn by the seed, and of each core so many records: enough to see values of tensors that
 * are too large for all of them. Nothing is found in such a run. Tensors of twin_tensor_alloc hold what these cores wrote;
 * what else there is in the pages they touched is TWIN_SAMPLE_MARK. */
enum { TWIN_SAMPLE_MARK = 0xff };
typedef struct TwinSample {
    uint32_t blocks; /* 0: all of them, to their end */
    uint64_t records, seed;
} TwinSample;

typedef struct TwinOptions {
    const NpuChip *chip; /* NULL: 910B2 */
    TwinSample sample;
    uint64_t seed;  /* 0: cores in order; else their order is permuted */
    uint64_t place; /* of the addresses of tensors in GM; 0: one after the other from a fixed one */
    uint64_t nudge; /* 0: none; else last bits vary within isa.def's accuracy */
    double compile_seconds, run_seconds; /* 0: 30 and 60 */
    uint64_t memory; /* host bytes of all cores together, or of the compiler; 0: 2 GiB */
    bool trust;      /* go on where the machine gives no full sandbox */
    bool keep_going; /* after a fault look for more */
    bool no_cache;
    /* The same program without values: tensors need no data, scalar reads return arbitrary bytes
     * drawn from the seed. The run is made with two of them; when the records differ the verdict
     * is VERDICT_NEEDS_DATA. Bounds, coverage, hazards and cycles are as with data. An input that
     * has data keeps it (indices): what is computed from such inputs and constants alone is known. */
    bool time_only;
    bool no_memo;      /* with time_only: execute every record, also those that only repeat */
    bool steady;       /* with time_only: it does the same whatever the values; that is not tried */
    bool any_import;   /* tests of the walls only: the kernel may call whatever links */
    TwinKept *kept;    /* by earlier launches; NULL: there were none to remember */
    TwinSeen *seen;    /* gets where the code goes; NULL: nobody asks */
    TwinScan *scan;    /* gets sizes from a project's tiling function; NULL: nobody asks */
    const char *home;  /* tree with twin/ and src/; NULL: $ACRAFT_HOME, or found from the program */
    const char *cache; /* NULL: $XDG_CACHE_HOME/acraft or ~/.cache/acraft */
    /* The simulator has a process of its own. There `prepare` is called before the first record and
     * `inspect` after the last one; what that puts into *seen comes to `receive` in this process.
     * Nothing else they change comes back. */
    void (*prepare)(void *context, Sim *sim);
    void (*inspect)(void *context, Sim *sim, Buf *seen);
    void (*receive)(void *context, Str seen);
    void *context;
    double sim_seconds;  /* of that process; 0: run_seconds and 30 more */
    uint64_t sim_memory; /* its private bytes beside four times the tensors' own; 0: 8 GiB */
} TwinOptions;

/* A parameter of the kernel entry, as its text declares it. */
typedef struct TwinParam {
    const char *name, *type;
    bool pointer;
} TwinParam;

typedef VEC(TwinParam) TwinParams;

typedef struct TwinKernel TwinKernel;

/* NULL: the verdict says why, `diag` holds the compiler's messages at the text's own lines. */
TwinKernel *twin_compile(Arena *arena, const TwinSource *source, const TwinOptions *options,
                         Verdict *verdict, Diag *diag);
void twin_release(TwinKernel *kernel);
const char *twin_kernel_name(const TwinKernel *kernel);
const TwinParams *twin_kernel_params(const TwinKernel *kernel);
/* Which cores a launch with this tiling key has. */
SimKind twin_kernel_kind(const TwinKernel *kernel, uint64_t tiling_key);

typedef struct TwinTensor {
    const char *name;
    DType dtype;
    uint32_t rank;
    uint64_t shape[TWIN_MOST_DIMS];
    SimRole role; /* IN, OUT or INOUT */
    void *data;   /* dense, in C order; outputs are written here */
    size_t bytes;
    int fd; /* above 0: data came from twin_tensor_alloc and is used in place, not copied */
} TwinTensor;

/* Zeroed memory of `bytes` that a launch can share with its core processes. */
bool twin_tensor_alloc(TwinTensor *tensor);
/* The first bytes from *to on that have pages; false: there are none. */
bool twin_tensor_touched(const TwinTensor *tensor, size_t *from, size_t *to);
void twin_tensor_free(TwinTensor *tensor);

/* What a kernel parameter receives. */
typedef enum TwinArgKind {
    TWIN_ARG_TENSOR, /* address of tensors[index] */
    TWIN_ARG_LIST,   /* address of a list of tensors[index .. index + count - 1] */
    TWIN_ARG_WORKSPACE,
    TWIN_ARG_TILING, /* address of the tiling bytes */
    TWIN_ARG_VALUE,  /* a number or struct by value: `bytes` */
    TWIN_ARG_NULL,   /* an optional tensor that is absent */
} TwinArgKind;

typedef struct TwinArg {
    TwinArgKind kind;
    uint32_t index, count;
    Str bytes;
} TwinArg;

typedef struct TwinLaunch {
    TwinTensor *tensors;
    uint32_t tensor_count;
    const TwinArg *args;
    uint32_t arg_count;
    uint32_t blocks;
    Str tiling;
    uint64_t tiling_key;
    uint64_t workspace; /* bytes of the user's workspace */
} TwinLaunch;

typedef struct TwinRun {
    uint64_t records;
    uint32_t cores;
    Str printed;   /* the kernel's printf and DumpTensor */
    uint32_t left; /* bytes of the text's global variables that the launch has changed, in pieces */
    double seconds;
    /* where a project was run: the launch's tensors, and what the tiling function decided */
    const TwinTensor *tensors;
    uint32_t tensor_count;
    Str tiling;
    uint64_t tiling_key, workspace;
    uint32_t blocks;
} TwinRun;

/* True: the kernel ran to its end on every core (there may still be findings in the verdict). */
bool twin_run(Arena *arena, const TwinKernel *kernel, const TwinLaunch *launch,
              const TwinOptions *options, TwinRun *run, Verdict *verdict);

/* Binds parameters to tensors by name, then the rest in order; `workspace` and `tiling` by their
 * usual names. A number in `attrs` ("NAME=VALUE"; NULL: none) is the value of the parameter of its name. False with
 * an error when something is left over on either side. */
bool twin_bind(Arena *arena, const TwinParams *params, const TwinTensor *tensors,
               uint32_t tensor_count, const NameList *attrs, TwinArg **args, Diag *diag);
/* Warns of tensors that were bound by their order alone: a misspelt name looks like that. */
void twin_warn_of_order(const TwinParams *params, const TwinTensor *tensors, const TwinArg *args,
                        Diag *diag);

/* The bytes of a number: type "uint32_t" or "u32", text "8192". */
bool twin_value_parse(Arena *arena, const char *type, const char *text, Str *bytes, Diag *diag);
/* "u32:8192,f32:1e-6" as the bytes of a struct, each number aligned to its own size. */
bool twin_values_parse(Arena *arena, const char *text, Str *bytes, Diag *diag);

/* "x=f16[1024,4096]" (filled from the seed unless it is an output), "x=@x.npy",
 * "x=f32[8,8]@x.bin" (raw bytes). For outputs a file is where it goes: *file, NULL: nowhere. The
 * data is given back with twin_tensor_free. */
bool twin_tensor_parse(Arena *arena, const char *text, SimRole role, uint64_t seed,
                       TwinTensor *tensor, const char **file, Diag *diag);
/* Reads the shape alone and makes no data, for TwinOptions.time_only. */
bool twin_tensor_shape(Arena *arena, const char *text, SimRole role, TwinTensor *tensor,
                       Diag *diag);
/* Writes .npy where the name ends so, else raw bytes. */
bool twin_tensor_write(const TwinTensor *tensor, const char *path, Diag *diag);

#endif
