// What is written down about labs, under /run/tributary/lab. Only for people and for `lab list`: a
// lab is found and taken down without it.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/base/status.h"
#include "core/lab/lab_plan.h"

namespace tributary {

struct LabState {
  std::string name;
  std::uint32_t mtu_bytes = 0;
  std::vector<std::string> links;  // of each node, as link_text() writes them
  std::string congestion_control;
  pid_t relay = 0;  // 0: the lab needs none
};

// One program at a time makes labs or takes them down; the others wait until it is done.
class LabLock {
 public:
  static Result<LabLock> take();
  ~LabLock();
  LabLock(LabLock&& other) noexcept;
  LabLock& operator=(LabLock&&) = delete;

 private:
  explicit LabLock(int file) : file_(file) {}
  int file_;
};

std::string lab_counts_path(const std::string& lab);
Status write_lab_state(const LabState& state);
// Nothing where there is none, or one that makes no sense.
std::optional<LabState> read_lab_state(const std::string& lab);
// Of all labs that something is written about.
std::vector<std::string> lab_state_names();
void remove_lab_state(const std::string& lab);

// Whether the lab's relay, if it needs one, is still there.
bool relay_is_alive(const LabState& state);

}  // namespace tributary
