/* Compiler attributes, in one place so that no other file spells __attribute__. */
#ifndef BASE_ATTR_H
#define BASE_ATTR_H

#define ATTR_PRINTF(format, first) __attribute__((format(printf, format, first)))
#define ATTR_CONSTRUCTOR __attribute__((constructor))
#define ATTR_UNUSED __attribute__((unused))
#define ATTR_NORETURN _Noreturn

#endif
