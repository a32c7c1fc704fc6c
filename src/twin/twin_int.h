/* Inside the twin: places, the scanned text, the object file, the compiled kernel. */
#ifndef TWIN_TWIN_INT_H
#define TWIN_TWIN_INT_H

#include "box/box.h"
#include "twin/twin.h"

/* Where the headers and the compilers are on this machine (home.c). */
typedef struct TwinPlaces {
    const char *home;     /* holds twin/include and src */
    const char *cache;    /* NULL: no cache */
    const char *compiler; /* real path of clang++ or g++ */
    bool is_clang;
    const char *linker;    /* "-fuse-ld=lld" or NULL */
    char headers_hash[65]; /* hash of all our headers, the runtime and the compiler's identity */
} TwinPlaces;
bool twin_places_find(Arena *arena, const TwinOptions *options, TwinPlaces *places,
                      Verdict *verdict);

/* The places with g++ where clang was. False: g++ is missing, or ACRAFT_CXX names the compiler. */
bool twin_places_other(Arena *arena, const TwinPlaces *places, TwinPlaces *other);

/* Writes "M=V" or "M", as -D takes it, as a #define line (compile.c). */
void twin_add_define(Buf *out, const char *define);

/* The text without a byte order mark, which a compiler takes only at the beginning of a file
 * (compile.c). */
Str twin_without_mark(Str text);

/* The kernel entries that a text declares (entry.c). */
typedef struct TwinEntry {
    const char *name;
    uint32_t line;
    bool is_template;
    bool two_heads; /* declared more than once, for different cores */
    TwinCores cores;
    TwinParams params;
} TwinEntry;
typedef VEC(TwinEntry) TwinEntries;
void twin_entry_scan(Arena *arena, Str text, TwinEntries *entries);
/* Characters between <<< and >>>, or of a launched name: beyond, it is no launch, and a text full of
 * them is read in no time. */
enum { TWIN_LAUNCH_MOST = 2048 };
/* The text with `name<<<blocks, l2, stream>>>(args)` turned into calls that C++ accepts; the same
 * number of lines. */
Str twin_entry_rewrite_launches(Arena *arena, Str text, uint32_t *count);
/* The text with "return 0" at the end of its main, which is about to lose its name and with it the
 * right to end without. */
Str twin_entry_end_main(Arena *arena, Str text);

/* What an object file imports and declares (object.c). */
typedef struct TwinTask {
    uint64_t key;
    uint32_t type;
} TwinTask;
typedef struct TwinObject {
    VEC(const char *) imports; /* undefined symbols */
    VEC(TwinTask) tasks;
    const char *odd;             /* a reason to refuse it outright; NULL: none */
    const char *threads;         /* the first thread_local variable; NULL: none */
    VEC(const char *) variables; /* that can be written, by their names in the text */
} TwinObject;
bool twin_object_read(Arena *arena, Str bytes, TwinObject *object);
/* Keeps only the imports that the kernel's entry can reach, and marks the host's constructors as
 * not to be linked (object_reach.c). */
bool twin_object_reach(Arena *arena, Str *bytes, TwinObject *object);
/* An import that kernel code has no business with, or NULL. */
const char *twin_object_foreign_import(Arena *arena, const TwinObject *object);

/* The first name in a candidate's text that belongs to the headers; NULL: none (names.c). */
const char *twin_names_foreign(Arena *arena, Str text);
/* The first name in a kernel's text that tells what machine it is compiled or run on; NULL: none. */
const char *twin_names_machine(Arena *arena, Str text);
void twin_names_refuse(Arena *arena, const char *name, const char *path, Verdict *verdict);

/* Turns a compiler's output into diagnostics at the user's own lines (messages.c). */
void twin_messages_read(Arena *arena, Str output, const char *shown_path, Verdict *verdict,
                        Diag *diag);

/* Adds to the last diagnostic a hint how to repair what the compiler refused (hints.c). */
typedef struct TwinNoMatch {
    bool open;       /* the last error is a call that fits no form */
    Str name, types; /* the call; the first reason that speaks of types */
    Str plain;       /* a number's type where a tensor is expected */
    bool address;    /* a raw address is where a tensor is expected */
    uint64_t takes;  /* bit n: a form asks for n arguments */
    uint32_t given;
} TwinNoMatch;
void twin_hint_at_error(Diag *diag, Str text);
void twin_nomatch_begin(TwinNoMatch *nomatch, Str text);
void twin_nomatch_note(TwinNoMatch *nomatch, Str text);
void twin_nomatch_end(Arena *arena, Diag *diag, TwinNoMatch *nomatch);

/* Compiler runs, whose results are cached (build.c). */
typedef struct BuildText {
    Str text;          /* a whole translation unit */
    const char *shown; /* the user's path in it */
} BuildText;
typedef struct BuildUnit {
    const BuildText *texts; /* compiled one by one, linked together */
    uint32_t text_count;
    const char *const *flags;        /* ends with NULL */
    const char *const *include_dirs; /* ends with NULL; bound into the box */
    bool host;                       /* host side: full C++, other runtime */
    bool binding;                    /* host side that launches: twin/rt/bind_rt.cpp */
    bool mixed;                      /* a kernel's text that holds host code, too */
} BuildUnit;
typedef struct BuildResult {
    int exe;           /* memfd; -1: none */
    TwinObject object; /* of the first text */
} BuildResult;
bool twin_build_program(Arena *arena, const TwinPlaces *places, const BuildUnit *unit,
                        const TwinOptions *options, BuildResult *result, Verdict *verdict,
                        Diag *diag);
/* The unit's first text preprocessed, macros of entries kept (ACRAFT_SCAN). False: it does not go through. */
bool twin_build_preprocess(Arena *arena, const TwinPlaces *places, const BuildUnit *unit,
                           const TwinOptions *options, Str *text);
/* Turns a failed box into the verdict; true when it ended well (exit status 0). */
bool twin_build_box_ok(Arena *arena, const BoxResult *box, VerdictStage stage, Verdict *verdict);

/* A hash of the program's bytes (seen.c). */
uint64_t twin_seen_program(int exe);
void twin_seen_add(TwinSeen *seen, uint64_t program, const uint8_t *slots, const int32_t *gaps);
int twin_seen_slots(void); /* a descriptor of empty ones; -1: none */
void twin_seen_add_file(TwinSeen *seen, int exe,
                        int slots); /* from a descriptor; seen may be NULL */
/* The slots before a program runs that looks for other ones: those of all its runs so far. */
bool twin_seen_fill(const TwinScan *scan, int exe, int slots);

/* Where the files of a folder hold more than `most` bytes, removes the oldest until at most
 * `keep` bytes are left. Returns the bytes that are left (prune.c). */
uint64_t twin_cache_prune(const char *dir, uint64_t most, uint64_t keep);

/* A process that makes the cache's entry `key` holds its lock, so that another one that needs
 * the entry waits instead of making it, too. Where no lock can be had, the lock counts as held
 * (lock.c). */
typedef struct TwinLock {
    int fd; /* -1: none */
    const char *key;
    bool held; /* false: another has it, and we did not wait or waited too long */
} TwinLock;
TwinLock twin_lock(Arena *arena, const char *cache, const char *key, bool wait);
void twin_unlock(TwinLock *lock);

struct TwinKernel {
    const char *name;
    const char *path; /* of the text, as records name it */
    Str text;
    TwinParams params;
    int exe[2]; /* by role: AIV, AIC; -1: the kernel has no such half */
    VEC(TwinTask) tasks;
    SimKind guess;               /* where the text names no task type */
    VEC(const char *) variables; /* of the text that can be written, by name */
};

/* Whether the text declares a task of vector cores or of cube cores alone (compile.c). */
bool twin_kernel_alone(const TwinKernel *kernel, uint64_t tiling_key);

const NpuChip *twin_chip(const TwinOptions *options);

#endif
