// Reads and writes complete files. A file is written under another name and replaces the target at
// the end, so a reader of the target sees either the old or the new content, never a part of it.
//
// Errors are not_found for a missing file or folder, io_error for other system errors, and
// resource_exhausted for a file above the limit. Functions may be called from any thread.
#pragma once

#include <cstdint>
#include <string>

#include "core/base/bytes/bytes.h"

namespace tributary {

// Reads a file. Also reads files without a size, such as pipes. A file larger than size_max bytes
// gives resource_exhausted.
Result<Bytes> read_file(const std::string& path, std::uint64_t size_max);

// Reads a file of little-endian float32 values. size_max is in bytes. A size that is not a multiple
// of 4 bytes gives corrupt_data.
Result<FloatVector> read_f32_file(const std::string& path, std::uint64_t size_max);

struct AtomicFileOptions {
  std::uint32_t mode_if_new = 0644;  // before the umask; an existing file keeps its mode
  bool unnamed = true;               // false: as on a file system without unnamed files
};

// A file that is being written. The target does not change before commit(). Without commit() no
// file remains, even after SIGKILL, if the file system has unnamed files (ext4, xfs, btrfs, tmpfs).
// A kill during commit(), or at any time on another file system, can leave a file ".NAME.HEX.tmp".
// A symbolic link is followed and kept. Targets other than regular files are refused
// (invalid_argument). Not thread-safe.
class AtomicFile {
 public:
  static Result<AtomicFile> open(const std::string& target, const AtomicFileOptions& options = {});

  AtomicFile(AtomicFile&& other) noexcept;
  AtomicFile& operator=(AtomicFile&& other) noexcept;
  ~AtomicFile();

  // Appends without a buffer, so pieces should be large. After an error the file can only be
  // discarded.
  Status append(ByteSpan bytes);

  // Syncs the content, replaces the target and syncs the folder. May be called once. After an error
  // the target is unchanged, with one exception: if only the last sync failed, the target has the
  // new content, which a power failure could still undo. The error text says so.
  Status commit();

 private:
  AtomicFile() = default;
  int create(unsigned mode, bool unnamed);
  Status give_name();
  Status fault(const char* doing, int error) const;
  void drop() noexcept;

  std::string target_;     // as the caller wrote it, for error texts
  std::string name_;       // within the folder
  std::string temporary_;  // within the folder; empty while the file has no name
  int folder_ = -1;
  int file_ = -1;
  bool failed_ = false;
};

// Writes a complete file by an AtomicFile.
Status write_file_atomically(const std::string& path, ByteSpan bytes,
                             const AtomicFileOptions& options = {});

}  // namespace tributary
