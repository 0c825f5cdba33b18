// A disk of SLOW_DISK_BYTES_PER_S for the files of one process, by LD_PRELOAD: a sync of a file
// takes as long as the bytes that were written to it since its last sync take at that rate.
// bench/daemon_rounds.py compiles and uses it.
//
// A page that is overwritten before a sync goes to a disk once, so a sync counts at most the size
// of the file. Thread-safe. Files beyond the first 64 are as fast as without it.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

#define FILES_MAX 64

struct written {
  dev_t device;
  ino_t number;
  long long bytes;
};

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static struct written files[FILES_MAX];
static int count;

// Requires the mutex. Returns NULL for a full table.
static struct written* find(const struct stat* status) {
  for (int i = 0; i < count; ++i) {
    if (files[i].device == status->st_dev && files[i].number == status->st_ino) return &files[i];
  }
  if (count == FILES_MAX) return NULL;
  files[count] = (struct written){.device = status->st_dev, .number = status->st_ino, .bytes = 0};
  return &files[count++];
}

static bool is_file(int file, struct stat* status) {
  return fstat(file, status) == 0 && S_ISREG(status->st_mode);
}

static ssize_t add(int file, ssize_t written) {
  const int error = errno;
  struct stat status;
  if (written > 0 && is_file(file, &status)) {
    pthread_mutex_lock(&mutex);
    struct written* const found = find(&status);
    if (found != NULL) found->bytes += written;
    pthread_mutex_unlock(&mutex);
  }
  errno = error;
  return written;
}

static long long take(int file) {
  struct stat status;
  if (!is_file(file, &status)) return 0;
  long long bytes = 0;
  pthread_mutex_lock(&mutex);
  struct written* const found = find(&status);
  if (found != NULL) {
    bytes = found->bytes < status.st_size ? found->bytes : status.st_size;
    found->bytes = 0;
  }
  pthread_mutex_unlock(&mutex);
  return bytes;
}

static void wait_for_disk(int file) {
  const char* const rate = getenv("SLOW_DISK_BYTES_PER_S");
  const long long per_s = rate == NULL ? 0 : atoll(rate);
  if (per_s <= 0) return;
  const long long bytes = take(file);
  struct timespec left = {.tv_sec = bytes / per_s, .tv_nsec = bytes % per_s * 1000000000LL / per_s};
  while (nanosleep(&left, &left) != 0 && errno == EINTR) {
  }
}

#define REAL(name, ...) ((__VA_ARGS__)dlsym(RTLD_NEXT, name))

ssize_t write(int file, const void* bytes, size_t size) {
  return add(file, REAL("write", ssize_t(*)(int, const void*, size_t))(file, bytes, size));
}

ssize_t pwrite(int file, const void* bytes, size_t size, off_t at) {
  return add(file,
             REAL("pwrite", ssize_t(*)(int, const void*, size_t, off_t))(file, bytes, size, at));
}

ssize_t pwrite64(int file, const void* bytes, size_t size, off64_t at) {
  return add(
      file, REAL("pwrite64", ssize_t(*)(int, const void*, size_t, off64_t))(file, bytes, size, at));
}

int fsync(int file) {
  wait_for_disk(file);
  return REAL("fsync", int (*)(int))(file);
}

int fdatasync(int file) {
  wait_for_disk(file);
  return REAL("fdatasync", int (*)(int))(file);
}
