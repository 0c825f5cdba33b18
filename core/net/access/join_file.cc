#include "core/net/access/join_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "core/base/blanks.h"
#include "core/base/nearest.h"
#include "core/net/access/allow_list.h"
#include "core/net/keys/secret_file.h"

namespace tributary {
namespace {

constexpr std::string_view kRemedy = "make a new one with 'tributary keys join'";
constexpr std::size_t kEndpointBytesMax = 300;  // longer than any host name with a port

constexpr std::string_view kAgentId = "agent_id";
constexpr std::string_view kCoordinator = "coordinator";
constexpr std::string_view kCoordinatorKey = "coordinator_key";
constexpr std::string_view kPublicKey = "public_key";
constexpr std::string_view kSecretKey = "secret_key";
constexpr std::array<std::string_view, 5> kNames = {kAgentId, kCoordinator, kCoordinatorKey,
                                                    kPublicKey, kSecretKey};

using Fields = std::map<std::string_view, std::string_view>;

Status bad_line(std::size_t number, std::string expected, std::string got,
                std::string remedy = std::string(kRemedy)) {
  return Status(StatusCode::corrupt_data, {.what = fmt::format("line {}", number),
                                           .expected = std::move(expected),
                                           .got = std::move(got),
                                           .remedy = std::move(remedy)});
}

// Returns the text within quotes. Returns nothing unless `text` is one quoted text, optionally
// followed by a comment.
std::optional<std::string_view> quoted(std::string_view text) {
  if (text.empty() || (text.front() != '"' && text.front() != '\'')) return {};
  const std::size_t end = text.find(text.front(), 1);
  if (end == std::string_view::npos) return {};
  const std::string_view inside = text.substr(1, end - 1);
  const std::string_view behind = without_blanks(text.substr(end + 1));
  // A TOML parser would read an escape sequence.
  if (inside.find('\\') != std::string_view::npos) return {};
  if (!behind.empty() && behind.front() != '#') return {};
  return inside;
}

// The form is a subset of TOML: NAME = "TEXT" with optional comments. A full TOML parser would keep
// copies of the secret key in memory and not overwrite them.
//
// Parses one line into `fields`. Errors name the line and never repeat its value.
Status parse_line(std::string_view line, std::size_t number, Fields& fields) {
  line = without_blanks(line);
  if (line.empty() || line.front() == '#') return {};
  const std::size_t equals = line.find('=');
  if (equals == std::string_view::npos) return bad_line(number, "NAME = \"TEXT\"", "no '='");
  const std::string_view name = without_blanks(line.substr(0, equals));
  const auto* const known = std::ranges::find(kNames, name);
  if (known == kNames.end()) {
    return bad_line(number, "a known name", "another", did_you_mean(name, kNames));
  }
  const std::optional<std::string_view> value = quoted(without_blanks(line.substr(equals + 1)));
  if (!value) return bad_line(number, fmt::format("a text in quotes for {}", name), "none");
  if (!fields.emplace(*known, *value).second) {
    return bad_line(number, fmt::format("{} once", name), "it again");
  }
  return {};
}

// Requires all names, each exactly once.
Result<Fields> parse_fields(std::string_view text) {
  Fields fields;
  for (std::size_t number = 1; !text.empty(); ++number) {
    const std::string_view line = text.substr(0, text.find('\n'));
    TRIBUTARY_TRY(parse_line(line, number, fields));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
  }
  for (const std::string_view name : kNames) {
    if (fields.contains(name)) continue;
    return Status(StatusCode::corrupt_data, {.what = std::string(name),
                                             .expected = "a line with it",
                                             .got = "none",
                                             .remedy = std::string(kRemedy)});
  }
  return fields;
}

constexpr std::string_view kDialScheme = "tcp://";

}  // namespace

// Quotes and backslashes are excluded, so that the text can be written between quotes without
// escapes.
Status check_dialled_endpoint(std::string_view endpoint) {
  const bool clean = std::ranges::all_of(
      endpoint, [](char c) { return c > ' ' && c < 0x7f && c != '"' && c != '\'' && c != '\\'; });
  const std::size_t colon = endpoint.rfind(':');
  if (clean && endpoint.size() <= kEndpointBytesMax && endpoint.starts_with(kDialScheme) &&
      colon > kDialScheme.size() && endpoint[kDialScheme.size()] != '*') {
    const std::string_view port = endpoint.substr(colon + 1);
    std::uint16_t number = 0;
    const auto [end, error] = std::from_chars(port.data(), port.data() + port.size(), number);
    if (error == std::errc() && end == port.data() + port.size() && number != 0) return {};
  }
  return Status(StatusCode::invalid_argument,
                {.what = "the coordinator's endpoint",
                 .expected = "tcp://HOST:PORT that the agent can reach",
                 .got = fmt::format("{} other bytes", endpoint.size()),
                 .remedy = "for example tcp://coordinator.lan:4640"});
}

Status check_listening_endpoint(std::string_view endpoint) {
  if (endpoint.starts_with("ipc://")) return {};
  const std::size_t colon = endpoint.rfind(':');
  if (endpoint.starts_with(kDialScheme) && colon > kDialScheme.size()) {
    const std::string_view port = endpoint.substr(colon + 1);
    std::uint16_t number = 0;
    const auto [end, error] = std::from_chars(port.data(), port.data() + port.size(), number);
    if (port == "*" || (error == std::errc() && end == port.data() + port.size())) return {};
  }
  return Status(StatusCode::invalid_argument, {.what = "endpoint",
                                               .expected = "tcp://ADDRESS:PORT",
                                               .got = fmt::format("'{}'", endpoint),
                                               .remedy = "for example tcp://*:4640"});
}

Result<JoinFile> parse_join_file(std::string_view text) {
  TRIBUTARY_ASSIGN(Fields fields, parse_fields(text));
  TRIBUTARY_TRY(check_agent_id(fields[kAgentId]));
  TRIBUTARY_TRY(check_dialled_endpoint(fields[kCoordinator]));
  Result<PublicKey> coordinator_key = parse_public_key(fields[kCoordinatorKey]);
  if (!coordinator_key.ok()) return std::move(coordinator_key).status().at(kCoordinatorKey);
  TRIBUTARY_ASSIGN(KeyPair keys, parse_key_pair(fields[kPublicKey], fields[kSecretKey]));
  return JoinFile{.agent_id = std::string(fields[kAgentId]),
                  .coordinator = std::string(fields[kCoordinator]),
                  .coordinator_key = *coordinator_key,
                  .keys = keys};
}

Result<JoinFile> read_join_file(const std::string& path) {
  Result<SecretText> text = read_secret_file(path, "join file");
  if (!text.ok()) {
    Status status = std::move(text).status();
    if (status.code() != StatusCode::not_found) return status;
    Fault fault = status.fault();
    fault.remedy = "'tributary keys join' makes one where the coordinator runs; put it there";
    return Status(StatusCode::not_found, std::move(fault));
  }
  Result<JoinFile> join = parse_join_file(text->view());
  if (!join.ok()) return std::move(join).status().at(path);
  return join;
}

// The text is built in a SecretText, so that no copy of the secret key stays in memory.
Status write_join_file(const std::string& path, const JoinFile& join) {
  TRIBUTARY_TRY(check_agent_id(join.agent_id));
  TRIBUTARY_TRY(check_dialled_endpoint(join.coordinator));
  SecretText text;
  const auto add = [&text](std::string_view name, std::string_view value) {
    for (const std::string_view part :
         {name, std::string_view(" = \""), value, std::string_view("\"\n")}) {
      text.append(part);
    }
  };
  text.append(
      "# Lets one agent into a federation. Anyone who can read this file can pose as that "
      "agent.\n");
  add(kAgentId, join.agent_id);
  add(kCoordinator, join.coordinator);
  add(kCoordinatorKey, key_text(join.coordinator_key));
  add(kPublicKey, key_text(join.keys.public_key));
  add(kSecretKey, secret_key_text(join.keys.secret_key).view());
  return write_secret_file(path, text);
}

}  // namespace tributary
