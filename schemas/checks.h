// The checks on a frame that FlatBuffers has verified, before any code acts on it. They establish
// what every reader would otherwise have to check. Internal to frame.cc.
//
// All functions are pure. They return corrupt_data, not_finite or resource_exhausted, with the name
// of the field. Only checks that depend on the state of the session are left to the receiver.
#pragma once

#include <cmath>
#include <cstdint>
#include <string>
#include <string_view>

#include "core/base/status.h"
#include "schemas/frame_generated.h"
#include "schemas/kinds.h"

namespace tributary::wire {

// Checks the rules for all fields: finite numbers, printable text, aligned lists, and no part of
// the frame that is used twice (a small frame would otherwise unpack into a huge one).
Status check_all_fields(const Frame& frame, std::size_t frame_bytes);
// Checks the fields of the envelope that this kind requires.
Status check_envelope(const Frame& frame);

Status check(const Hello& hello);
Status check(const Welcome& welcome);
Status check(const Refusal& refusal);
Status check(const Ack& ack);
Status check(const Heartbeat& heartbeat);
Status check(const LinkProbe& probe);
Status check(const PeerHello& hello);
Status check(const Leave& leave);
Status check(const Job& job);
Status check(const JobChange& change);
Status check(const Membership& membership);
Status check(const Plan& plan);
Status check(const Preliminary& preliminary);
Status check(const Update& update);
Status check(const Aggregate& aggregate);
Status check(const Receipt& receipt);
Status check(const Report& report);
Status check(const Commit& commit);
Status check(const Applied& applied);
Status check(const Abort& abort);
Status check(const TransferRequest& request);
Status check(const TransferOffer& offer);
Status check(const TransferFetch& fetch);
Status check(const TransferPart& part);
Status check(const Telemetry& telemetry);
Status check(const InstallEpoch& install);
Status check(const EpochInstalled& installed);
Status check(const SumsInNetwork& sums);
Status check(const SumsCheck& sums);
Status check(const CodecOffer& offer);
Status check(const Measure& measure);

// Values in a packet of sums in the network, or 0.
Status check_packet_values(std::uint32_t values);

// The building blocks of the checks. Each error names the field.

Status broken(std::string_view field, std::string expected, std::string got);
Status over_cap(std::string_view field, std::uint64_t max, std::uint64_t got);

template <typename Number>
std::uint64_t as_unsigned(Number number) {
  return static_cast<std::uint64_t>(number);
}

// Not 0 and not unspecified.
template <typename Number>
requires(std::is_arithmetic_v<Number> || std::is_enum_v<Number>) Status
    given(std::string_view field, Number number) {
  if (number != Number{}) return {};
  return broken(field, "a value", "none");
}
template <typename Object>
Status given(std::string_view field, const Object* object) {
  return object ? Status() : broken(field, "the field", "nothing");
}
Status given(std::string_view field, const flatbuffers::String* text);

template <typename Number>
Status at_most(std::string_view field, Number number, std::uint64_t max) {
  return as_unsigned(number) <= max ? Status() : over_cap(field, max, as_unsigned(number));
}
template <typename Item>
Status at_most(std::string_view field, const flatbuffers::Vector<Item>* items, std::uint64_t max) {
  return !items || items->size() <= max ? Status() : over_cap(field, max, items->size());
}

Status in_range(std::string_view field, std::uint64_t number, std::uint64_t min, std::uint64_t max);
// An index in a list or among members: less than `end`.
Status below(std::string_view field, std::uint64_t number, std::uint64_t end);
Status equal(std::string_view field, std::uint64_t number, std::uint64_t expected);
Status not_negative(std::string_view field, double number);
Status positive(std::string_view field, double number);
Status fraction(std::string_view field, double number);

// Letters, digits, dot, dash and underscore, because an id becomes part of file names and log
// lines.
Status agent_id(std::string_view field, const flatbuffers::String* id);
Status version_range(std::uint32_t min, std::uint32_t max);
Status round_id(const RoundId* id);

// Exactly one bit for each of `bits`, and no bit set beyond.
Status bitmap(std::string_view field, const flatbuffers::Vector<std::uint8_t>* bytes,
              std::uint64_t bits);
std::uint64_t bits_set(const flatbuffers::Vector<std::uint8_t>& bytes);

template <typename Item>
std::uint32_t size_of(const flatbuffers::Vector<Item>* items) {
  return items ? items->size() : 0;
}

// Calls check_item on each item, of which at most `max` are allowed. An error names the item.
template <typename Item, typename Function>
Status each(std::string_view field, const flatbuffers::Vector<Item>* items, std::uint64_t max,
            Function&& check_item) {
  TRIBUTARY_TRY(at_most(field, items, max));
  for (std::uint32_t i = 0; i < size_of(items); ++i) {
    if (Status status = check_item(*items->Get(i)); !status.ok()) {
      return std::move(status).at(std::string(field) + "[" + std::to_string(i) + "]");
    }
  }
  return {};
}
template <typename Item>
Status each(std::string_view field, const flatbuffers::Vector<Item>* items, std::uint64_t max) {
  return each(field, items, max, [](const auto& item) { return check(item); });
}

}  // namespace tributary::wire
