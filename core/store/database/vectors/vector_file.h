// Large values of a journal in a file beside its database, without a log: a value is written once,
// to bytes that no stored row refers to.
//
// The database's rows say where a value is, and have its length and checksum. A transaction adds
// values and removes others; the bytes of removed ones are used again only after it is committed.
// So the rows before a transaction and those after it both refer to complete values, whenever the
// process ends. For a power failure this holds if sync() precedes every commit, and if every commit
// is durable. Otherwise the rows may refer to other bytes, which their checksums reveal.
//
// Files are accessed through SQLite's VFS, so that a simulated disk can have them. Used by the
// thread of the database. Errors are those of sqlite_status.h and name the file.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/base/bytes/bytes.h"
#include "core/base/status.h"
#include "core/store/database/vectors/file_extents.h"

struct sqlite3_file;
struct sqlite3_vfs;

namespace tributary {

class VectorFile {
 public:
  // Opens or creates the file; a new one can be read by its owner only. `vfs` is the name of a
  // registered VFS; empty: the operating system's.
  static Result<std::unique_ptr<VectorFile>> open(std::string path, const std::string& vfs);
  // Opens a file that another process may write, only for read().
  static Result<std::unique_ptr<VectorFile>> open_to_read(std::string path);
  ~VectorFile();
  VectorFile(const VectorFile&) = delete;
  VectorFile& operator=(const VectorFile&) = delete;

  // The values that rows refer to. Call it once, before add(). Fails with corrupt_data if two of
  // them overlap.
  Status use(std::vector<FileExtent> values);

  // --- within a transaction ---
  Result<FileExtent> add(ByteSpan value);
  void remove(const FileExtent& value) { removed_.push_back(value); }
  // Makes all values durable.
  Status sync();

  // --- after a transaction ---
  void committed();
  // `status` is that of the commit; ok if the transaction was not to be committed. After an I/O
  // error a crash may still make the transaction visible, so its values stay until the next commit.
  void rolled_back(const Status& status);

  // Fails with corrupt_data if the file ends before.
  Status read(std::uint64_t begins_at, MutableByteSpan out);

  std::uint64_t bytes() const;  // length of the file; 0 if it is unknown
  const std::string& path() const { return path_; }

 private:
  explicit VectorFile(std::string path) : path_(std::move(path)) {}
  Status open_with(sqlite3_vfs& vfs, int how);
  Status error(int code, const char* doing) const;
  void give_back(std::vector<FileExtent>& extents);

  const std::string path_;
  std::vector<std::uint64_t> memory_;  // of the VFS's file object
  sqlite3_file* file_ = nullptr;       // in memory_
  FileExtents extents_;
  std::vector<FileExtent> added_;    // by the transaction
  std::vector<FileExtent> removed_;  // by the transaction
  std::vector<FileExtent> kept_;     // of transactions that a crash may make visible
  bool synced_ = false;              // nothing was written since the last sync()
};

}  // namespace tributary
