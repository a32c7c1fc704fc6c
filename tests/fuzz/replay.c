/* main() for a fuzzer without libFuzzer: gives it every file of the directories named, so that
 * inputs found once are tried in every check. A crash ends it by signal. A file NAME.pack holds many
 * inputs, each after a line with its length in bytes; tools/pack-corpus writes it. */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

/* A copy of exactly that size, so that a read past the end is seen. */
static void replay_bytes(const uint8_t *bytes, size_t size)
{
    uint8_t *exact = malloc(size ? size : 1);
    if (!exact)
        abort();
    memcpy(exact, bytes, size);
    LLVMFuzzerTestOneInput(exact, size);
    free(exact);
}

static void replay_pack(const char *path, const uint8_t *bytes, size_t size)
{
    for (size_t at = 0; at < size;) {
        size_t len = 0;
        while (at < size && bytes[at] >= '0' && bytes[at] <= '9' && len <= size)
            len = len * 10 + (size_t)(bytes[at++] - '0');
        if (at == size || bytes[at++] != '\n' || len > size - at) {
            fprintf(stderr, "%s: broken at byte %zu\n", path, at);
            exit(1);
        }
        replay_bytes(bytes + at, len);
        at += len;
    }
}

static void replay_file(const char *path)
{
    FILE *file = fopen(path, "rb");
    if (!file) {
        perror(path);
        exit(1);
    }
    static uint8_t bytes[1 << 20];
    size_t size = fread(bytes, 1, sizeof bytes, file), name = strlen(path);
    fclose(file);
    if (name > 5 && strcmp(path + name - 5, ".pack") == 0)
        replay_pack(path, bytes, size);
    else
        replay_bytes(bytes, size);
}

static void replay_directory(const char *path)
{
    DIR *dir = opendir(path);
    if (!dir)
        return;
    const struct dirent *entry;
    while ((entry = readdir(dir))) {
        char name[4096];
        snprintf(name, sizeof name, "%s/%s", path, entry->d_name);
        if (entry->d_name[0] != '.')
            replay_file(name);
    }
    closedir(dir);
}

int main(int argc, char **argv)
{
    LLVMFuzzerTestOneInput((const uint8_t *)"", 0);
    for (int i = 1; i < argc; i++)
        replay_directory(argv[i]);
    puts("1 passed, 0 failed");
    return 0;
}
