// The XDP program of the aggregator in the kernel, with its maps: loaded, attached, its jobs
// installed and its counters read.
//
// Everything in the kernel lives as long as this object: the program is detached and its maps are
// freed when the object, or the process, ends. Loading needs the rights of root (CAP_BPF,
// CAP_PERFMON and CAP_NET_ADMIN). Not thread-safe; the program itself runs on all processors.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "core/base/function_ref.h"
#include "core/base/status.h"
#include "core/collective/in_network/slot_rules.h"
#include "core/net/udp/udp_address.h"
#include "switch_p4/xdp/gateway_maps.h"
#include "switch_p4/xdp/job_table.h"

struct bpf_object;
struct ring_buffer;

namespace tributary::switch_xdp {

struct GatewayOptions {
  std::uint32_t slots = 2048;  // of all jobs
  UdpAddress listen;           // ip 0: packets for any address of the machine
  UdpAddress group;            // multicast; empty: each agent gets its result from the loader
};

// `native` runs in the driver, `generic` in the kernel's stack behind it.
enum class XdpMode : std::uint8_t { any, native, generic };
std::string_view name(XdpMode mode);
// Returns invalid_argument for a text that names no mode.
Result<XdpMode> parse_mode(std::string_view text);

struct GatewayCounters {
  in_network::SlotCounters rules;
  std::uint64_t reflected = 0;    // replies through XDP_TX
  std::uint64_t handed_over = 0;  // replies for the loader
  std::uint64_t unsent = 0;       // lost, because neither way had room; agents repeat
};

class Gateway {
 public:
  // Returns permission_denied if the kernel refuses to load programs, otherwise io_error.
  static Result<std::unique_ptr<Gateway>> load(const GatewayOptions& options);
  ~Gateway();
  Gateway(const Gateway&) = delete;
  Gateway& operator=(const Gateway&) = delete;

  // Attaches to a network device; `any` tries native mode first. Returns the mode.
  Result<XdpMode> attach(const std::string& device, XdpMode mode);

  // As SlotRules has them.
  Status check(const in_network::SlotJob& job) const { return table_.check(job); }
  Status install(const in_network::SlotJob& job);
  Status remove(std::uint16_t handle);

  // Passes the replies that wait for the loader to `visit`; they are valid during its call. Wait
  // on replies_file().
  using Visit = FunctionRef<void(const XdpReply&)>;
  Status take_replies(Visit visit);
  int replies_file() const;
  // Whether results to all go to the group, if there is one.
  void use_group(bool use);
  // The agents' sources, of an entry that a reply names.
  const XdpJob& job_entry(std::uint32_t index) const { return entries_[index % kXdpJobs]; }

  GatewayCounters counters() const;
  const JobTable& table() const { return table_; }
  // For BPF_PROG_TEST_RUN.
  int program_file() const { return program_; }

 private:
  struct ObjectEnd {
    void operator()(bpf_object* object) const;
  };
  struct RingEnd {
    void operator()(ring_buffer* ring) const;
  };

  explicit Gateway(std::uint32_t slots) : table_(slots) {}
  Status open(const GatewayOptions& options);
  Status open_maps();
  Status write(int map, std::uint32_t key, const void* value);

  std::unique_ptr<bpf_object, ObjectEnd> object_;
  std::unique_ptr<ring_buffer, RingEnd> ring_;
  Visit* visit_ = nullptr;  // during take_replies()
  JobTable table_;
  XdpJob* entries_ = nullptr;  // the map of jobs in this process
  bool uses_group_ = true;
  int program_ = -1;  // files of the object, which closes them
  int handles_ = -1;
  int jobs_ = -1;
  int counts_ = -1;
  int link_ = -1;  // the program is attached while it is open
};

}  // namespace tributary::switch_xdp
