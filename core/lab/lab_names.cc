#include "core/lab/lab_names.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace tributary {
namespace {

// All namespaces begin with it, so that labs do not collide with other users of namespaces.
constexpr std::string_view kPrefix = "trib-";
constexpr std::string_view kHub = "hub";
constexpr std::size_t kNameMax = 24;

bool is_small_letter(char c) { return c >= 'a' && c <= 'z'; }
bool may_follow(char c) { return is_small_letter(c) || (c >= '0' && c <= '9') || c == '-'; }

bool is_lab_name(std::string_view name) {
  return !name.empty() && name.size() <= kNameMax && is_small_letter(name.front()) &&
         std::ranges::all_of(name, may_follow);
}

std::optional<std::uint32_t> node_number(std::string_view text) {
  std::uint32_t node = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), node);
  const bool whole = error == std::errc() && end == text.data() + text.size();
  // A number with leading zeros is not a name that this file creates.
  if (!whole || node >= kLabNodesMax || fmt::format("{}", node) != text) return std::nullopt;
  return node;
}

}  // namespace

Status check_lab_name(std::string_view name) {
  if (is_lab_name(name)) return {};
  return Status(
      StatusCode::invalid_argument,
      {.what = "a lab's name",
       .expected = fmt::format("a small letter, then small letters, digits and dashes, at "
                               "most {} in all",
                               kNameMax),
       .got = fmt::format("'{}'", name.substr(0, 2 * kNameMax)),
       .remedy = {}});
}

std::string hub_namespace(std::string_view lab) {
  return fmt::format("{}{}-{}", kPrefix, lab, kHub);
}

std::string node_namespace(std::string_view lab, std::uint32_t node) {
  return fmt::format("{}{}-{}", kPrefix, lab, node);
}

// The lab's name may contain dashes, so the part after the last dash is the node.
std::optional<LabNamespace> parse_lab_namespace(std::string_view name) {
  const std::size_t dash = name.rfind('-');
  if (!name.starts_with(kPrefix) || dash < kPrefix.size()) return std::nullopt;
  const std::string_view lab = name.substr(kPrefix.size(), dash - kPrefix.size());
  const std::string_view part = name.substr(dash + 1);
  if (!is_lab_name(lab)) return std::nullopt;
  if (part == kHub) return LabNamespace{.lab = std::string(lab), .node = std::nullopt};
  const std::optional<std::uint32_t> node = node_number(part);
  if (!node) return std::nullopt;
  return LabNamespace{.lab = std::string(lab), .node = node};
}

// Nodes count from 0, addresses from 10.77.0.1.
std::string node_address(std::uint32_t node) { return fmt::format("10.77.0.{}", node + 1); }
std::string node_mac(std::uint32_t node) { return fmt::format("02:74:72:69:62:{:02x}", node + 1); }
std::string uplink_mac() { return node_mac(kLabNodesMax); }
std::string hub_port(std::uint32_t node) { return fmt::format("port{}", node); }
std::string node_host_name(std::uint32_t node) { return fmt::format("node-{}", node); }

std::string hosts_file(std::uint32_t nodes) {
  std::string text = "127.0.0.1 localhost\n::1 localhost\n";
  for (std::uint32_t node = 0; node < nodes; ++node) {
    text += fmt::format("{} {}\n", node_address(node), node_host_name(node));
  }
  return text;
}

}  // namespace tributary
