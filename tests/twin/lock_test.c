/* Locks of the cache: one holder a key, none for another key, and none once the holder is dead. */
#include "twin/twin_int.h"

#include "base/file.h"
#include "tests/t.h"
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

static const char *new_cache(Arena *arena)
{
    Diag diag = diag_make(arena, "", (Str){0});
    const char *dir;
    REQUIRE(file_temp_dir(arena, "acraft-locks", &dir, &diag));
    return dir;
}

static void drop_cache(Arena *arena, const char *dir)
{
    Diag diag = diag_make(arena, dir, (Str){0});
    file_remove_tree(dir, &diag);
    arena_drop(arena);
}

static bool is_free(Arena *arena, const char *cache, const char *key)
{
    TwinLock lock = twin_lock(arena, cache, key, false);
    bool held = lock.held;
    twin_unlock(&lock);
    return held;
}

T_TEST(lock_is_held_by_one)
{
    Arena arena = {0};
    const char *cache = new_cache(&arena);
    TwinLock lock = twin_lock(&arena, cache, "a", true);
    CHECK(lock.held);
    CHECK(!is_free(&arena, cache, "a"));
    CHECK(is_free(&arena, cache, "b"));
    twin_unlock(&lock);
    CHECK(is_free(&arena, cache, "a"));
    drop_cache(&arena, cache);
}

T_TEST(lock_of_the_dead_is_free)
{
    Arena arena = {0};
    const char *cache = new_cache(&arena);
    int ready[2];
    char byte;
    REQUIRE(pipe(ready) == 0);
    pid_t child = fork();
    if (child == 0) {
        twin_lock(&arena, cache, "a", true);
        if (write(ready[1], "r", 1) == 1)
            pause();
        _exit(0);
    }
    REQUIRE(read(ready[0], &byte, 1) == 1);
    CHECK(!is_free(&arena, cache, "a"));
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    TwinLock lock = twin_lock(&arena, cache, "a", true);
    CHECK(lock.held);
    twin_unlock(&lock);
    close(ready[0]);
    close(ready[1]);
    drop_cache(&arena, cache);
}

T_TEST(lock_without_a_folder_stops_nobody)
{
    Arena arena = {0};
    TwinLock lock = twin_lock(&arena, "/nonexistent/cache", "a", true);
    CHECK(lock.held);
    twin_unlock(&lock);
    twin_unlock(&(TwinLock){.fd = -1}); /* where there is no cache */
    arena_drop(&arena);
}
