// The network namespaces of labs as the kernel has them, and the processes in them.
#pragma once

#include <sys/types.h>

#include <map>
#include <string>
#include <vector>

#include "core/base/status.h"
#include "core/lab/lab_plan.h"

namespace tributary {

// Root with iproute2; an error says what to do.
Status check_lab_is_possible();

// For the life of this object the calling thread is in that namespace.
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

// The calling process is there from now on.
Status enter_namespace(const std::string& name);

struct FoundLab {
  bool has_hub = false;
  std::vector<std::uint32_t> nodes;  // ascending

  bool complete() const { return has_hub && !nodes.empty() && nodes.back() + 1 == nodes.size(); }
  std::vector<std::string> namespaces(const std::string& lab) const;
};
// By their names.
std::map<std::string, FoundLab> find_labs();

// All that are in one of these namespaces, but for this one.
std::vector<pid_t> processes_in(const std::vector<std::string>& namespaces);

Status make_namespaces(const LabPlan& plan, const std::string& congestion_control);
// Bridge, links, addresses and rates; what links in user space need is there already.
Status make_links(const LabPlan& plan);

// Ends what runs in them and takes them away; nothing there is no error.
Status remove_namespaces(const std::string& lab, const FoundLab& found);

}  // namespace tributary
