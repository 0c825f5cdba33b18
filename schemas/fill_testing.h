// Frames in which every field of every table has a value, for tests.
//
// The code uses flatc's static reflection, so it fills all fields of whatever schemas a program is
// compiled with. A value is derived from the path of its field. Half of the enums get the last
// value that the program knows.
#pragma once

#include <charconv>
#include <deque>
#include <iterator>
#include <string>
#include <tuple>
#include <type_traits>
#include <vector>

#include "schemas/walk.h"

namespace tributary::wire {

// Values of fields for which the checks require more than "not 0", or which must agree with another
// field. `suffix` is the end of the path.
struct FixedValue {
  std::string_view suffix;
  unsigned value;
};
inline constexpr FixedValue kFixedValues[] = {
    {".agents", 2},
    {".agent_index", 1},
    {".quorum", 2},
    {".order[0]", 1},
    {".order[1]", 0},
    {".root", 1},
    {".contributors", 2},
    {".bits[0]", 3},
    {".contributor_bits[0]", 3},
    {".participants[0]", 3},
    {".buckets", 2},
    {".contributed_bits[0]", 3},
    {".version_min", 2},
    {".version_max", 3},
    {"Plan.model_version", 4},
    {".model_version", 5},
    {".rounds[0].round", 4},
    {".round", 5},
    {".first_round", 3},
    {".index", 1},
    {".groups[0].first", 0},
    {".groups[1].first", 1},
    {".groups[0].count", 1},
    {".groups[1].count", 1},
    {".segment", 1},
    {".segments", 2},
    {".from", 8},
    {".offset", 8},
    {".payload_bytes", 16},
    {".stage_bytes", 24},
    {".part_bytes", 16},
    {".bytes", 24},
    {".stage", 1},
    {".shape[0]", 2},
    {".shape[1]", 3},
    {".packet_values", 128},
    {".values", 6},
    {".buckets[0].first_value", 2},
    {".buckets[1].first_value", 8},
    {".exchange", 1},
    {".contributor_set", 1},
    {".exchanges_per_round", 2},
    {".sum_bits", 8},
    {".heartbeat_interval_ms", 100},
    {".heartbeat_timeout_ms", 300},
    {".granularity", 99},
    {".at_ns[0]", 7},
    {".at_ns[1]", 8},
};

// Lengths of lists that the checks require.
struct FixedSize {
  std::string_view suffix;
  std::size_t items;
};
inline constexpr FixedSize kFixedSizes[] = {
    {".public_key", 32},      {".bits", 1},
    {".contributor_bits", 1}, {".participants", 1},
    {".contributed_bits", 1}, {".artifact.content", 24},
    {".places", 16},
};

// From 2 to 99, so that no value equals the default of its field.
inline unsigned value_at(const std::string& path) {
  for (const FixedValue& fixed : kFixedValues) {
    if (path.ends_with(fixed.suffix)) return fixed.value;
  }
  unsigned mixed = 0;
  for (const char c : path) mixed = mixed * 31 + static_cast<unsigned char>(c);
  return 2 + mixed % 98;
}

inline std::size_t items_at(const std::string& path) {
  for (const FixedSize& fixed : kFixedSizes) {
    if (path.ends_with(fixed.suffix)) return fixed.items;
  }
  return 2;
}

// Derives values from the path of a field.
struct PathValues {
  template <typename Number>
  Number number(const Place& place) {
    const unsigned value = value_at(place.text());
    if constexpr (std::is_same_v<Number, bool>) return true;
    if constexpr (std::is_floating_point_v<Number>) return static_cast<Number>(value) / 128;
    if constexpr (std::is_enum_v<Number>) return value % 2 ? Number::MAX : static_cast<Number>(1);
    return static_cast<Number>(value);
  }
  // Valid as an agent id, because some fields are one.
  std::string text(const Place& place) {
    std::string path = place.text();
    for (char& c : path) {
      if (c == '[' || c == ']') c = '-';
    }
    return path;
  }
  std::size_t items(const Place& place) { return items_at(place.text()); }
};

// Writes a table whose fields all have a value from `values`.
template <typename Values>
class TableFiller {
 public:
  TableFiller(flatbuffers::FlatBufferBuilder& builder, Values& values)
      : builder_(builder), values_(values) {}

  template <HasFields Table>
  flatbuffers::Offset<Table> table(const Place& place) {
    return fields<Table>(
        place, [&](auto... values) { return Table::Traits::Create(builder_, values...); });
  }

 private:
  template <HasFields Struct>
  Struct structure(const Place& place) {
    return fields<Struct>(place, [](auto... values) { return Struct(values...); });
  }

  // Calls `make` with a value for each field, in the order of the fields.
  template <HasFields Object, typename Make>
  auto fields(const Place& place, Make&& make) {
    return [&]<std::size_t... I>(std::index_sequence<I...>) {
      using Fields =
          std::tuple<decltype(field<typename Object::Traits::template FieldType<I>>(place))...>;
      // Braces guarantee the order of evaluation: nested tables are written before their parents,
      // field by field.
      return std::apply(make, Fields{field<typename Object::Traits::template FieldType<I>>(Place{
                                  .outer = &place, .name = Object::Traits::field_names[I]})...});
    }
    (std::make_index_sequence<Object::Traits::fields_number>());
  }

  template <typename Field>
  auto field(const Place& place) {
    if constexpr (std::is_pointer_v<Field>) {
      return object(place, static_cast<Field>(nullptr));
    } else {
      return values_.template number<Field>(place);
    }
  }

  auto object(const Place& place, const flatbuffers::String*) {
    return builder_.CreateString(values_.text(place));
  }
  template <typename Item>
  flatbuffers::Offset<flatbuffers::Vector<Item>> object(const Place& place,
                                                        const flatbuffers::Vector<Item>*) {
    using Stored = typename flatbuffers::IndirectHelper<Item>::return_type;
    const auto items = static_cast<std::int64_t>(values_.items(place));
    if constexpr (std::is_pointer_v<Item>) {
      std::vector<std::remove_cv_t<std::remove_pointer_t<Item>>> structs;
      for (std::int64_t i = 0; i < items; ++i) {
        structs.push_back(
            structure<typename decltype(structs)::value_type>({.outer = &place, .item = i}));
      }
      return builder_.CreateVectorOfStructs(structs);
    } else {
      std::vector<Item> values;
      for (std::int64_t i = 0; i < items; ++i) {
        values.push_back(field<Stored>({.outer = &place, .item = i}));
      }
      return builder_.CreateVector(values);
    }
  }
  template <HasFields Object>
  auto object(const Place& place, const Object*) {
    if constexpr (std::is_base_of_v<flatbuffers::Table, Object>) {
      return table<Object>(place);
    } else {
      return keep(structure<Object>(place));
    }
  }

  // The generated Create functions take structs by pointer.
  template <typename Struct>
  const Struct* keep(const Struct& value) {
    static std::deque<Struct> kept;
    kept.push_back(value);
    return &kept.back();
  }

  flatbuffers::FlatBufferBuilder& builder_;
  Values& values_;
};

// Returns a finished frame with a message of type `Kind`.
template <HasFields Kind>
std::vector<std::uint8_t> filled_frame() {
  flatbuffers::FlatBufferBuilder builder;
  PathValues values;
  const flatbuffers::Offset<Kind> message =
      TableFiller(builder, values).template table<Kind>({.name = Kind::Traits::name});
  const Place root{.name = "Frame"};
  const auto number = [&](const char* name) {
    return values.number<std::uint64_t>({.outer = &root, .name = name});
  };
  FinishFrameBuffer(
      builder, CreateFrame(builder, number("session"), number("message_id"), number("in_reply_to"),
                           number("sent_at_ns"), MessageTraits<Kind>::enum_value, message.Union()));
  const auto bytes = builder.GetBufferSpan();
  return {bytes.begin(), bytes.end()};
}

// A frame and the name of its kind.
struct FilledFrame {
  std::string kind;
  std::vector<std::uint8_t> bytes;
};

// Returns one frame of every kind.
inline std::vector<FilledFrame> filled_frames() {
  std::vector<FilledFrame> frames;
#define TRIBUTARY_FILL(Kind) frames.push_back({#Kind, filled_frame<Kind>()});
  TRIBUTARY_MESSAGE_KINDS(TRIBUTARY_FILL)
#undef TRIBUTARY_FILL
  return frames;
}

// The contents of a frame as lines of the form "path=value".
class Dump {
 public:
  static std::vector<std::string> of(const Frame& frame) {
    Dump dump;
    ignore_error(walk_frame(frame, dump));  // this visitor never fails
    return std::move(dump.lines_);
  }
  template <HasFields Table>
  static std::vector<std::string> of(const Table& table) {
    Dump dump;
    ignore_error(walk(table, {.name = Table::Traits::name}, dump));
    return std::move(dump.lines_);
  }

  template <typename Number>
  Status number(const Place& place, Number value) {
    if constexpr (std::is_enum_v<Number>) {
      return number(place, static_cast<std::underlying_type_t<Number>>(value));
    } else if constexpr (std::is_same_v<Number, bool>) {
      return text(place, value ? "true" : "false");
    } else {
      char digits[64];
      const auto end = std::to_chars(std::begin(digits), std::end(digits), value).ptr;
      return text(place, {digits, static_cast<std::size_t>(end - digits)});
    }
  }
  Status text(const Place& place, std::string_view value) {
    lines_.push_back(place.text() + "=" + std::string(value));
    return {};
  }
  Status list(const Place& place, ByteSpan bytes, std::size_t) {
    lines_.push_back(place.text() + ".bytes=" + std::to_string(bytes.size()));
    return {};
  }

 private:
  std::vector<std::string> lines_;
};

}  // namespace tributary::wire
