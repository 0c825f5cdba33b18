// The allow-list of a running daemon and the file behind it.
//
// The file is read at the start and on request, and operators change it. A daemon without
// encryption has no list; it cannot verify identities. All methods are thread-safe.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include "core/base/log/log.h"
#include "core/base/status.h"
#include "core/net/access/allow_list.h"

namespace tributary {

class AllowFile {
 public:
  AllowFile(std::string path, std::string subject)
      : path_(std::move(path)), subject_(std::move(subject)) {}

  // Reads the file. With an empty path the list stays empty. On an error the old list stays.
  Status read();
  // The same, but an error is logged and not returned.
  void read_again(Log& log);
  // Both change the file and then the list. The change takes effect with the next message. Without
  // a file they return unsupported.
  Status allow(const AllowedAgent& agent);
  Status revoke(std::string_view id);

  const std::shared_ptr<AllowList>& list() const { return list_; }

 private:
  Status check_path() const;
  Status read_locked();

  const std::string path_;
  const std::string subject_;
  std::mutex mutex_;  // held for a change of the file and the list together
  const std::shared_ptr<AllowList> list_ = std::make_shared<AllowList>();
};

}  // namespace tributary
