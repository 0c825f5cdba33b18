// An allow-list as a running daemon has it: of the file it was started with, read again when
// somebody says so, and changed by operators. Without encryption there is none, and everybody is
// who they say they are.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include "core/base/log/log.h"
#include "core/base/status.h"
#include "core/net/access/allow_list.h"

namespace tributary {

// Any thread.
class AllowFile {
 public:
  AllowFile(std::string path, std::string whose)
      : path_(std::move(path)), whose_(std::move(whose)) {}

  // An empty path: nobody is on it.
  Status read();
  // The same, of a daemon that goes on with the list that it has if this fails.
  void read_again(Log& log);
  // Into the file and then into the list, from where it counts for the next message.
  Status allow(const AllowedAgent& agent);
  Status revoke(std::string_view id);

  const std::shared_ptr<AllowList>& list() const { return list_; }

 private:
  Status check_path() const;
  Status read_locked();

  const std::string path_;
  const std::string whose_;
  std::mutex mutex_;  // the list is of the file's newest state
  const std::shared_ptr<AllowList> list_ = std::make_shared<AllowList>();
};

}  // namespace tributary
