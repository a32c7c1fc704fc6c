/* Compiler attributes, in one place so that no other file spells __attribute__. */
#ifndef BASE_ATTR_H
#define BASE_ATTR_H

#define ATTR_PRINTF(text, first) __attribute__((format(printf, text, first)))
#define ATTR_CONSTRUCTOR __attribute__((constructor))
#define ATTR_UNUSED __attribute__((unused))
/* An instruction set for one function; its callers ask __builtin_cpu_supports first. */
#define ATTR_TARGET(set) __attribute__((target(set)))
/* A loop compiled for several instruction sets, chosen when the program starts. clang 14 names
 * such a function f.ifunc, which no other file can link to. */
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#define ATTR_CLONES __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define ATTR_CLONES
#endif
#define ATTR_NORETURN _Noreturn

/* Defined when AddressSanitizer watches this build. */
#ifdef __SANITIZE_ADDRESS__
#define ATTR_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define ATTR_ASAN 1
#endif
#endif

#endif
