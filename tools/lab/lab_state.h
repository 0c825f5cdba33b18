// Descriptions of labs under /run/tributary/lab. They serve people and `lab list`; a lab is found
// and taken down without them.
//
// The functions do not check that a lab exists.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/base/status.h"
#include "core/lab/lab_plan.h"

namespace tributary {

// The description of a lab.
struct LabState {
  std::string name;
  std::uint32_t mtu_bytes = 0;
  std::vector<std::string> links;  // one per node, as link_text() writes them
  std::string congestion_control;
  pid_t relay = 0;  // process id; 0: the lab needs no relay
};

// A lock that lets only one program at a time create or remove labs; the others wait.
class LabLock {
 public:
  // Waits for the lock. Fails with cancelled after a stop signal, or with io_error.
  static Result<LabLock> take();
  ~LabLock();
  LabLock(LabLock&& other) noexcept;
  LabLock& operator=(LabLock&&) = delete;

 private:
  explicit LabLock(int file) : file_(file) {}
  int file_;
};

// The file of the relay's statistics (lab_counts.h).
std::string lab_counts_path(const std::string& lab);
// Writes the description atomically; fails with io_error.
Status write_lab_state(const LabState& state);
// Empty if the description is missing or invalid.
std::optional<LabState> read_lab_state(const std::string& lab);
// Names of all labs that have a description or counts.
std::vector<std::string> lab_state_names();
// Removes description and statistics; missing files are no error.
void remove_lab_state(const std::string& lab);

// True if the lab's relay is alive or not necessary.
bool relay_is_alive(const LabState& state);

}  // namespace tributary
