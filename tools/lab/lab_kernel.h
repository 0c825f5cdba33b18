// The network namespaces of labs in the kernel, and the processes in them.
//
// All functions need root (check_lab_is_possible()) and fail with io_error, or with not_found if
// iproute2 is missing. Namespaces belong to threads, so an object of InNamespace must stay on its
// thread.
#pragma once

#include <sys/types.h>

#include <map>
#include <string>
#include <vector>

#include "core/base/status.h"
#include "core/lab/lab_plan.h"

namespace tributary {

// Fails with unsupported unless the process runs as root.
Status check_lab_is_possible();

// Moves the calling thread to a namespace and back at the end of the object's life.
class InNamespace {
 public:
  static Result<InNamespace> enter(const std::string& name);
  ~InNamespace();
  InNamespace(InNamespace&& other) noexcept;
  InNamespace& operator=(InNamespace&&) = delete;

 private:
  explicit InNamespace(int home) : home_(home) {}
  int home_;
};

// Moves the calling thread, and processes that it starts, to the namespace for good.
Status enter_namespace(const std::string& name);

// The namespaces that exist of a lab.
struct FoundLab {
  bool has_hub = false;
  std::vector<std::uint32_t> nodes;  // in ascending order

  bool complete() const { return has_hub && !nodes.empty() && nodes.back() + 1 == nodes.size(); }
  std::vector<std::string> namespaces(const std::string& lab) const;
};
// Finds all labs by the names of their namespaces. A lab that a crash left may be incomplete.
std::map<std::string, FoundLab> find_labs();

// All processes in these namespaces, except the calling one.
std::vector<pid_t> processes_in(const std::vector<std::string>& namespaces);

// Creates the namespaces of hub and nodes, with their sysctls and /etc/hosts. `congestion_control`
// may be empty: the system's default.
Status make_namespaces(const LabPlan& plan, const std::string& congestion_control);
// Creates bridge, links, addresses and rates. The TAPs of links in user space exist already.
Status make_links(const LabPlan& plan);

// Ends the processes in the lab's namespaces and removes these. Namespaces that do not exist are no
// error.
Status remove_namespaces(const std::string& lab, const FoundLab& found);

}  // namespace tributary
