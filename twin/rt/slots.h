/* Places in a program that are told apart when it is watched (watch_code.h): one for four bytes of it, as a
 * byte of bits. */
#ifndef TWIN_SLOTS_H
#define TWIN_SLOTS_H

#define WATCH_SLOTS 262144u

#endif
