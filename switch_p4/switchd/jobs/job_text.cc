#include "switch_p4/switchd/jobs/job_text.h"

#include <fmt/format.h>

#include <array>
#include <bitset>
#include <charconv>
#include <vector>

#include "core/net/udp/udp_address.h"

namespace tributary::switchd {
namespace {

constexpr std::array<std::string_view, 9> kKeys = {
    "handle", "epoch", "agents", "granularity", "table", "slots", "places", "sources", "values"};
constexpr std::size_t kRequired = 7;

std::vector<std::string_view> words_of(std::string_view text, char separator) {
  std::vector<std::string_view> words;
  while (!text.empty()) {
    const std::size_t end = text.find(separator);
    if (end != 0) words.push_back(text.substr(0, end));
    if (end == std::string_view::npos) break;
    text.remove_prefix(end + 1);
  }
  return words;
}

Status bad_word(std::string_view key, std::string expected, std::string_view got) {
  return Status(StatusCode::invalid_argument, {.what = fmt::format("'{}' of a job", key),
                                               .expected = std::move(expected),
                                               .got = fmt::format("'{}'", got)});
}

template <typename Number>
Status read_number(std::string_view key, std::string_view text, Number& target) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), target);
  if (error == std::errc() && end == text.data() + text.size()) return {};
  return bad_word(key, fmt::format("0 to {}", std::numeric_limits<Number>::max()), text);
}

Status read_places(std::string_view text, in_network::SlotJob& job) {
  const std::vector<std::string_view> words = words_of(text, ',');
  if (words.size() != job.places.size()) return bad_word("places", "16 numbers", text);
  for (std::size_t i = 0; i < words.size(); ++i) {
    TRIBUTARY_TRY(read_number("places", words[i], job.places[i]));
  }
  return {};
}

Status read_sources(std::string_view text, in_network::SlotJob& job) {
  for (const std::string_view word : words_of(text, ',')) {
    TRIBUTARY_ASSIGN(const UdpAddress address, UdpAddress::parse(word));
    job.sources.push_back(address.number());
  }
  return {};
}

Status read_value(std::size_t key, std::string_view value, in_network::SlotJob& job) {
  switch (key) {
    case 0:
      return read_number(kKeys[key], value, job.handle);
    case 1:
      return read_number(kKeys[key], value, job.epoch);
    case 2:
      return read_number(kKeys[key], value, job.agents);
    case 3:
      return read_number(kKeys[key], value, job.granularity);
    case 4:
      return read_number(kKeys[key], value, job.table);
    case 5:
      return read_number(kKeys[key], value, job.slots);
    case 6:
      return read_places(value, job);
    case 7:
      return read_sources(value, job);
    default:
      return read_number(kKeys[key], value, job.packet_values);
  }
}

}  // namespace

Result<in_network::SlotJob> parse_job(std::string_view text) {
  in_network::SlotJob job;
  std::bitset<kKeys.size()> given;
  for (const std::string_view word : words_of(text, ' ')) {
    const std::size_t equals = word.find('=');
    const std::string_view key = word.substr(0, equals);
    std::size_t at = 0;
    while (at < kKeys.size() && kKeys[at] != key) ++at;
    if (at == kKeys.size() || equals == std::string_view::npos || given[at]) {
      return bad_word(key, "each key once, of " + fmt::format("{}", fmt::join(kKeys, ", ")), word);
    }
    given.set(at);
    TRIBUTARY_TRY(read_value(at, word.substr(equals + 1), job));
  }
  for (std::size_t at = 0; at < kRequired; ++at) {
    if (!given[at]) return bad_word(kKeys[at], "a value", "none");
  }
  return job;
}

}  // namespace tributary::switchd
