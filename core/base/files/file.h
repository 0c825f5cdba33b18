// Whole files in, whole files out. A file is written beside its target and put in its place at the
// end, so that whoever reads the target sees the old content or the new, never a part.
#pragma once

#include <cstdint>
#include <string>

#include "core/base/bytes/bytes.h"

namespace tributary {

// Also reads what has no size of its own (pipes); a file larger than size_max is an error.
Result<Bytes> read_file(const std::string& path, std::uint64_t size_max);

// Little-endian float32 values and nothing else; size_max is in bytes.
Result<FloatVector> read_f32_file(const std::string& path, std::uint64_t size_max);

struct AtomicFileOptions {
  std::uint32_t mode_if_new = 0644;  // less the umask; an existing file keeps its mode bits
  bool unnamed = true;               // false: as on a file system that has no unnamed files
};

// One file being written. Until commit() the target is untouched; without it nothing stays behind,
// not even after SIGKILL where the file system has unnamed files (ext4, xfs, btrfs, tmpfs). A kill
// inside of commit(), or anywhere on another file system, can leave a file ".NAME.HEX.tmp". A
// symbolic link is followed and stays; anything that is not a regular file is refused.
class AtomicFile {
 public:
  static Result<AtomicFile> open(const std::string& target, const AtomicFileOptions& options = {});

  AtomicFile(AtomicFile&& other) noexcept;
  AtomicFile& operator=(AtomicFile&& other) noexcept;
  ~AtomicFile();

  // Not buffered: give it large pieces. After an error the file can only be dropped.
  Status append(ByteSpan bytes);

  // Syncs the content, puts it in the target's place and syncs the folder. To be called once. After
  // an error the target is as it was, except that when only the last sync failed it is the new
  // content and not yet safe from a power cut; the error says so.
  Status commit();

 private:
  AtomicFile() = default;
  int create(unsigned mode, bool unnamed);
  Status give_name();
  Status fault(const char* doing, int error) const;
  void drop() noexcept;

  std::string target_;     // as the caller wrote it, for errors
  std::string name_;       // inside the folder
  std::string temporary_;  // inside the folder; empty while the file has no name
  int folder_ = -1;
  int file_ = -1;
  bool failed_ = false;
};

Status write_file_atomically(const std::string& path, ByteSpan bytes,
                             const AtomicFileOptions& options = {});

}  // namespace tributary
