/* One maker at a time. In: the cache's folder and the key of a thing. Out: a lock on one byte of the
 * file `locks`, at a place the key gives: no file for each, and the kernel lifts it when its holder
 * dies. Two keys at one place only wait for each other. */
#include "twin/twin_int.h"

#include "base/file.h"
#include "base/hash.h"
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { NAP_MS = 5, MOST_MS = 60000 }; /* a holder that takes longer is no reason to wait */

static struct flock byte_of(const char *key, short type)
{
    char hex[65];
    Sha256 sha = sha256_begin();
    sha256_add(&sha, key, strlen(key));
    sha256_end(&sha, hex);
    hex[15] = 0; /* 60 bits: a place in a file */
    return (struct flock){.l_type = type,
                          .l_whence = SEEK_SET,
                          .l_start = (off_t)strtoull(hex, NULL, 16),
                          .l_len = 1};
}

TwinLock twin_lock(Arena *arena, const char *cache, const char *key, bool wait)
{
    struct timespec nap = {.tv_nsec = NAP_MS * 1000000};
    struct flock one = byte_of(key, F_WRLCK);
    TwinLock lock = {open(path_join(arena, cache, "locks"), O_RDWR | O_CREAT | O_CLOEXEC, 0644),
                     key, true};
    for (int waited = 0; lock.fd >= 0; waited += NAP_MS) {
        lock.held = fcntl(lock.fd, F_OFD_SETLK, &one) == 0;
        if (lock.held || !wait || waited >= MOST_MS)
            break;
        nanosleep(&nap, NULL);
    }
    return lock;
}

/* Released explicitly, since a process of ours may still have the descriptor. */
void twin_unlock(TwinLock *lock)
{
    if (lock->fd < 0)
        return;
    struct flock none = byte_of(lock->key, F_UNLCK);
    fcntl(lock->fd, F_OFD_SETLK, &none);
    close(lock->fd);
    lock->fd = -1;
}
