#include "switch_p4/xdp/gateway.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <fmt/format.h>
#include <linux/if_link.h>
#include <net/if.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <span>
#include <vector>

#include "switch_p4/xdp/gateway_object.h"

namespace tributary::switch_xdp {
namespace {

static_assert(kXdpReasons == in_network::kDropReasons);
static_assert(kXdpPacketBytesMax == in_network::kPacketBytesMax);
static_assert(kXdpAgentsMax == in_network::kAgentsMax);

constexpr std::array<std::string_view, 3> kModeNames = {"any", "native", "generic"};

// The last complaint of libbpf, which has no other way to say why.
thread_local std::string libbpf_complaint;

[[gnu::format(printf, 2, 0)]] int keep_complaint(libbpf_print_level level, const char* format,
                                                 va_list arguments) {
  if (level != LIBBPF_WARN) return 0;
  std::array<char, 512> text = {};
  std::vsnprintf(text.data(), text.size(), format, arguments);
  libbpf_complaint = text.data();
  while (!libbpf_complaint.empty() && libbpf_complaint.back() == '\n') libbpf_complaint.pop_back();
  return 0;
}

Status refused(std::string what, std::string expected, int error, std::string remedy) {
  const bool right = error == EPERM || error == EACCES;
  std::string got = std::strerror(error);
  if (!libbpf_complaint.empty()) got += fmt::format(" ({})", libbpf_complaint);
  return Status(right ? StatusCode::permission_denied : StatusCode::io_error,
                {.what = std::move(what),
                 .expected = std::move(expected),
                 .got = std::move(got),
                 .remedy = std::move(remedy)});
}

int attach_link(int program, unsigned device, XdpMode mode) {
  bpf_link_create_opts options = {};
  options.sz = sizeof(options);
  options.flags = mode == XdpMode::native ? XDP_FLAGS_DRV_MODE : XDP_FLAGS_SKB_MODE;
  return bpf_link_create(program, static_cast<int>(device), BPF_XDP, &options);
}

}  // namespace

std::string_view name(XdpMode mode) { return kModeNames[static_cast<std::size_t>(mode)]; }

Result<XdpMode> parse_mode(std::string_view text) {
  for (std::size_t i = 0; i < kModeNames.size(); ++i) {
    if (text == kModeNames[i]) return static_cast<XdpMode>(i);
  }
  return Status(StatusCode::invalid_argument,
                {.what = "a mode of XDP",
                 .expected = fmt::format("one of {}", fmt::join(kModeNames, ", ")),
                 .got = fmt::format("'{}'", text)});
}

void Gateway::ObjectEnd::operator()(bpf_object* object) const { bpf_object__close(object); }
void Gateway::RingEnd::operator()(ring_buffer* ring) const { ring_buffer__free(ring); }

Result<std::unique_ptr<Gateway>> Gateway::load(const GatewayOptions& options) {
  if (options.slots == 0 || options.slots > in_network::kSlotsMax) {
    return Status(StatusCode::invalid_argument,
                  {.what = "slots of the gateway",
                   .expected = fmt::format("1 to {}", in_network::kSlotsMax),
                   .got = fmt::format("{}", options.slots)});
  }
  std::unique_ptr<Gateway> gateway(new Gateway(options.slots));
  TRIBUTARY_TRY(gateway->open(options));
  TRIBUTARY_TRY(gateway->open_maps());
  return gateway;
}

Status Gateway::open(const GatewayOptions& options) {
  libbpf_set_print(keep_complaint);
  libbpf_complaint.clear();
  const ByteSpan object = gateway_object();
  object_.reset(bpf_object__open_mem(object.data(), object.size(), nullptr));
  if (object_ == nullptr) {
    return refused("the XDP program of the gateway", "an object that libbpf reads", errno,
                   "build it again with Debian's clang");
  }
  const XdpConfig config = {.listen_ip = options.listen.ip,
                            .group_ip = options.group.ip,
                            .listen_port = options.listen.port,
                            .group_port = options.group.port};
  bpf_map* const constants = bpf_object__find_map_by_name(object_.get(), ".rodata");
  bpf_map* const slots = bpf_object__find_map_by_name(object_.get(), "slots");
  int error = bpf_map__set_initial_value(constants, &config, sizeof(config));
  if (error == 0) error = bpf_map__set_max_entries(slots, options.slots);
  if (error == 0) error = bpf_object__load(object_.get());
  if (error == 0) return {};
  return refused(
      "loading the XDP program of the gateway", "the kernel to take it", -error,
      "run as root, or with CAP_BPF, CAP_PERFMON and CAP_NET_ADMIN, on Linux 5.12 or later");
}

Status Gateway::open_maps() {
  const auto map = [this](const char* name) {
    return bpf_object__find_map_fd_by_name(object_.get(), name);
  };
  program_ = bpf_program__fd(bpf_object__find_program_by_name(object_.get(), "tributary_switch"));
  handles_ = map("handles");
  jobs_ = map("jobs");
  counts_ = map("counts");
  void* const entries =
      ::mmap(nullptr, sizeof(XdpJob) * kXdpJobs, PROT_READ | PROT_WRITE, MAP_SHARED, jobs_, 0);
  if (entries == MAP_FAILED) {
    return refused("the jobs of the gateway", "a map that can be read", errno, {});
  }
  entries_ = static_cast<XdpJob*>(entries);
  const auto on_reply = [](void* context, void* data, std::size_t bytes) {
    Gateway* const self = static_cast<Gateway*>(context);
    if (bytes >= sizeof(XdpReply) && self->visit_ != nullptr) {
      (*self->visit_)(*static_cast<const XdpReply*>(data));
    }
    return 0;
  };
  ring_.reset(ring_buffer__new(map("replies"), on_reply, this, nullptr));
  if (ring_ == nullptr) return refused("the replies of the gateway", "a ring buffer", errno, {});
  return {};
}

Gateway::~Gateway() {
  if (link_ >= 0) ::close(link_);
  if (entries_ != nullptr) {
    ::munmap(entries_, sizeof(XdpJob) * kXdpJobs);
  }
}

Result<XdpMode> Gateway::attach(const std::string& device, XdpMode mode) {
  const unsigned index = ::if_nametoindex(device.c_str());
  if (index == 0) {
    return Status(StatusCode::not_found, {.what = fmt::format("network device '{}'", device),
                                          .expected = "a device of this machine"});
  }
  libbpf_complaint.clear();
  XdpMode tried = mode == XdpMode::any ? XdpMode::native : mode;
  link_ = attach_link(program_, index, tried);
  if (link_ < 0 && mode == XdpMode::any && errno != EBUSY) {
    tried = XdpMode::generic;
    link_ = attach_link(program_, index, tried);
  }
  if (link_ >= 0) return tried;
  return refused(fmt::format("attaching XDP to '{}' in {} mode", device, name(tried)),
                 "the device to take the program", errno,
                 errno == EBUSY ? "detach the program that the device has" : "try another mode");
}

Status Gateway::write(int map, std::uint32_t key, const void* value) {
  if (bpf_map_update_elem(map, &key, value, BPF_ANY) == 0) return {};
  return refused("a job of the gateway", "a map that can be written", errno, {});
}

// The entry is complete before the handle refers to it.
Status Gateway::install(const in_network::SlotJob& job) {
  TRIBUTARY_ASSIGN(JobTable::Placed placed, table_.install(job));
  placed.entry.unicast = uses_group_ ? 0 : 1;
  TRIBUTARY_TRY(write(jobs_, placed.index, &placed.entry));
  const std::uint32_t reference = placed.index + 1;
  return write(handles_, job.handle, &reference);
}

// One byte of each entry. The program reads it while it is written: either value is right.
void Gateway::use_group(bool use) {
  uses_group_ = use;
  for (XdpJob& entry : std::span(entries_, kXdpJobs)) entry.unicast = use ? 0 : 1;
}

Status Gateway::remove(std::uint16_t handle) {
  TRIBUTARY_TRY(table_.remove(handle));
  const std::uint32_t none = 0;
  return write(handles_, handle, &none);
}

Status Gateway::take_replies(Visit visit) {
  visit_ = &visit;
  const int taken = ring_buffer__consume(ring_.get());
  visit_ = nullptr;
  if (taken >= 0) return {};
  return refused("the replies of the gateway", "a ring buffer that can be read", -taken, {});
}

int Gateway::replies_file() const { return ring_buffer__epoll_fd(ring_.get()); }

GatewayCounters Gateway::counters() const {
  const int processors = libbpf_num_possible_cpus();
  std::vector<XdpCounts> each(static_cast<std::size_t>(processors > 0 ? processors : 0));
  const std::uint32_t key = 0;
  if (each.empty() || bpf_map_lookup_elem(counts_, &key, each.data()) != 0) return {};
  XdpCounts all = {};
  for (const XdpCounts& one : each) {
    for (std::size_t i = 0; i < kXdpCounters; ++i) all.value[i] += one.value[i];
  }
  GatewayCounters counters = {
      .rules = {.contributions = all.value[kXdpContributions],
                .repeats = all.value[kXdpRepeats],
                .results = all.value[kXdpResults],
                .resent = all.value[kXdpResent],
                .refusals = all.value[kXdpRefusals]},
      .reflected = all.value[kXdpReflected],
      .handed_over = all.value[kXdpHandedOver],
      .unsent = all.value[kXdpUnsent],
  };
  for (std::size_t i = 0; i < in_network::kDropReasons; ++i) {
    counters.rules.drops[i] = all.value[kXdpDrops + i];
  }
  return counters;
}

}  // namespace tributary::switch_xdp
