/* System calls that fail for one file: FAULT is `call:errno:ending of the path`. Loaded with LD_PRELOAD. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <fcntl.h>

static int ends(const char *path) {
    char *fault = getenv("FAULT"), *ending = fault ? strrchr(fault, ':') + 1 : "";
    size_t have = strlen(path), want = strlen(ending);
    return have >= want && !strcmp(path + have - want, ending);
}

static int fails(const char *call, int descriptor, const char *name) {
    char *fault = getenv("FAULT"), path[4096], link[64];
    size_t size = strlen(call);
    if (!fault || strncmp(fault, call, size) || fault[size] != ':') return 0;
    if (!name) {
        snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
        ssize_t count = readlink(link, path, sizeof path - 1);
        if (count < 0) return 0;
        path[count] = 0;
        name = path;
    }
    if (!ends(name)) return 0;
    errno = atoi(fault + size + 1);
    return 1;
}

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

ssize_t read(int descriptor, void *buffer, size_t size) {
    return fails("read", descriptor, 0) ? -1 : REAL(read)(descriptor, buffer, size);
}

ssize_t write(int descriptor, const void *buffer, size_t size) {
    return fails("write", descriptor, 0) ? -1 : REAL(write)(descriptor, buffer, size);
}

int flock(int descriptor, int operation) {
    int (*real)(int, int) = dlsym(RTLD_NEXT, "flock");
    return fails("flock", descriptor, 0) ? -1 : real(descriptor, operation);
}

static int opened(const char *call, int folder, const char *path, int flags, va_list more) {
    int (*real)(int, const char *, int, ...) = dlsym(RTLD_NEXT, call);
    return fails("open", 0, path) ? -1 : real(folder, path, flags, va_arg(more, int));
}

int openat(int folder, const char *path, int flags, ...) {
    va_list more;
    va_start(more, flags);
    return opened("openat", folder, path, flags, more);
}

int openat64(int folder, const char *path, int flags, ...) {
    va_list more;
    va_start(more, flags);
    return opened("openat64", folder, path, flags, more);
}
