// A coordinator that runs as a child process with a temporary folder. The destructor ends the
// process and removes the folder.
//
// The process listens on this machine only, at a port that the system picks. Keys are made for it
// and vanish with the folder. One thread at a time.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "cli/process/child_process.h"
#include "core/base/status.h"
#include "core/net/keys/keys.h"

namespace tributary {

// Without encryption the agents' keys are still made, but the coordinator does not check them.
struct ChildCoordinatorOptions {
  std::string program;  // empty: the program installed with this one
  std::uint32_t agents = 1;
  bool encrypted = true;
  std::vector<std::string> settings = {};  // KEY=VALUE; they override the defaults
};

class ChildCoordinator {
 public:
  // Starts the coordinator and returns when it listens. Fails like ChildProcess::start() and
  // wait_for_endpoint().
  static Result<std::unique_ptr<ChildCoordinator>> start(const ChildCoordinatorOptions& options);
  ~ChildCoordinator();
  ChildCoordinator(const ChildCoordinator&) = delete;
  ChildCoordinator& operator=(const ChildCoordinator&) = delete;

  const std::string& endpoint() const { return endpoint_; }
  const PublicKey& key() const { return keys_.public_key; }
  // The keys of the agents "load-0", "load-1", and so on.
  const std::vector<KeyPair>& agent_keys() const { return agent_keys_; }

  // Fails if the process has ended; the error contains the end of its log.
  Status check() { return process_->check_running(); }
  std::uint64_t peak_memory_bytes() const { return process_->peak_memory_bytes(); }

 private:
  explicit ChildCoordinator(KeyPair keys) : keys_(std::move(keys)) {}
  Status write_files(const ChildCoordinatorOptions& options);
  Status spawn(const ChildCoordinatorOptions& options);

  std::filesystem::path folder_;
  KeyPair keys_;
  std::vector<KeyPair> agent_keys_;
  std::string endpoint_;
  std::unique_ptr<ChildProcess> process_;
};

}  // namespace tributary
