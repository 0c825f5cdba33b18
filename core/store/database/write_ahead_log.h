// The write-ahead log of a connection that writes: when it is copied into the file, when its space
// is freed, and whether the disk has room for the copy.
//
// SQLite appends each commit to the log, and only a copy ends up in the file. Copying is under our
// control, because SQLite's automatic checkpoint counts pages and hides its errors. A log that has
// filled the disk could never be copied, so a commit is refused before that.
//
// Lasts as long as the connection, which is borrowed. Used by the thread of its Database. Errors
// are those of sqlite_status.h.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "core/base/status.h"

struct sqlite3;

namespace tributary {

class WriteAheadLog {
 public:
  struct Limits {
    // Length at which the log is copied, or less where the disk has less room
    // (log_bytes_allowed()). The log can exceed it by one transaction, or for as long as a reader's
    // transaction lasts.
    std::uint64_t bytes_max = 0;
    bool measures_space = false;  // the file is one of the operating system's
  };
  // Gives the connection a write-ahead log. The page size of a new file must be set already. Fails
  // with unsupported on a file system without shared memory.
  static Result<std::unique_ptr<WriteAheadLog>> open(sqlite3* connection, std::string path,
                                                     const Limits& limits);
  WriteAheadLog(const WriteAheadLog&) = delete;
  WriteAheadLog& operator=(const WriteAheadLog&) = delete;

  // --- between transactions ---
  // Before a transaction: copies a long log. If the last transaction was rolled back, frees all
  // space that readers do not need: a full disk may have been the reason.
  void prepare();
  // Copies the log into the file as far as readers allow.
  Status copy();
  // Copies the log if it is long. The next transaction does so otherwise, so a host calls this
  // while no commit is waiting. Returns whether the log was long: once copied, it is short again
  // after the next commit, unless a reader's transaction prevents it.
  bool copy_if_long();
  // How far a copy has come: the log begins anew with the next commit if it has all bytes.
  struct Copied {
    std::uint64_t log_bytes = 0;  // of the log when the copy ended
    std::uint64_t bytes = 0;      // of them, those that are in the file
  };
  // As copy(). Another connection to the same file can do this on another thread meanwhile.
  Result<Copied> copy_counted();
  // From now on another connection copies the log, so a transaction waits for no copy. The owner
  // must see to it that a long log is copied.
  void leave_to_another_connection() { left_ = true; }
  // Length from which on the log is long, and whether that is because the disk has little room.
  struct Allowed {
    std::uint64_t bytes = 0;
    bool limited_by_space = false;
  };
  Allowed allowed() const;
  // Copies the log and frees its space: the log alone may have filled the disk. Does not wait for
  // readers, because a commit may wait for this. Fails with unavailable if a transaction of another
  // connection prevents it; the log is then copied as far as possible.
  Status empty();
  std::uint64_t bytes() const { return bytes_; }  // written since the log was last reset
  // Makes all commits durable, which DatabaseOptions::sync may have left to the next copy.
  Status sync();
  // The log's file. Syncing it in another way, on any thread, is as good as sync().
  std::string file() const;

  // --- within a transaction ---
  // Before its commit. Fails with resource_exhausted if the disk would have too little room to copy
  // the log afterwards.
  Status check_space();
  void rolled_back() { rolled_back_ = true; }

 private:
  WriteAheadLog(sqlite3* connection, std::string path, const Limits& limits)
      : connection_(connection), path_(std::move(path)), limits_(limits) {}
  Status begin();
  Status copy(int manner);
  void cut();
  std::uint64_t file_size_of_log() const;
  std::uint64_t free_space() const;
  Status error(std::string_view doing) const;

  sqlite3* connection_;
  std::string path_;
  Limits limits_;
  std::uint64_t page_bytes_ = 0;
  std::uint64_t bytes_ = 0;        // written since the log was last reset
  std::int64_t data_version_ = 0;  // changes when another connection writes the file
  bool rolled_back_ = false;       // the last transaction
  bool left_ = false;              // to another connection
};

}  // namespace tributary
