// Visits all fields of a verified frame with flatc's static reflection.
//
// Tests, fuzzers and the checks of all fields are visitors. New fields and tables are visited
// without new code here. A visitor has these functions; each returns a Status, and an error ends
// the walk:
//   number(place, value)           value: bool, integer, floating point or enum
//   text(place, std::string_view)
//   list(place, bytes, alignment)  start of a list: its items as bytes, and the alignment they need
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "core/base/bytes/bytes.h"
#include "core/base/status.h"
#include "schemas/frame_generated.h"
#include "schemas/message_kinds_generated.h"

namespace tributary::wire {

// The path of a field. It is on the stack during the walk, and becomes text only on request.
struct Place {
  static constexpr std::int64_t kNoItem = -1;

  const Place* outer = nullptr;
  const char* name = "";
  std::int64_t item = kNoItem;

  // "Plan.buckets[3].values"
  std::string text() const {
    std::string path = outer ? outer->text() : std::string();
    if (item != kNoItem) return path + "[" + std::to_string(item) + "]";
    return path.empty() ? name : path + "." + name;
  }
};

// Calls f with the frame's message as its own type. The frame must be of a known kind.
template <typename Function>
auto visit_message(const Frame& frame, Function&& f) {
  using Returned = std::invoke_result_t<Function, const Hello&>;
  switch (frame.message_type()) {
#define TRIBUTARY_VISIT(Kind) \
  case Message::Kind:         \
    return f(*frame.message_as_##Kind());
    TRIBUTARY_MESSAGE_KINDS(TRIBUTARY_VISIT)
#undef TRIBUTARY_VISIT
    default:
      return Returned();
  }
}

template <typename T>
concept HasFields = requires {
  T::Traits::fields_number;
};

template <HasFields Object, typename Visitor>
Status walk(const Object& object, const Place& place, Visitor& visitor);

template <typename Visitor>
Status walk(const flatbuffers::String& text, const Place& place, Visitor& visitor) {
  return visitor.text(place, std::string_view(text.c_str(), text.size()));
}

template <typename Number, typename Visitor>
requires(std::is_arithmetic_v<Number> || std::is_enum_v<Number>) Status
    walk(Number number, const Place& place, Visitor& visitor) {
  return visitor.number(place, number);
}

template <typename Item>
constexpr std::size_t alignment_of() {
  if constexpr (std::is_pointer_v<Item>) {
    return alignof(std::remove_pointer_t<Item>);  // a struct, stored in place
  } else {
    return flatbuffers::IndirectHelper<Item>::element_stride;
  }
}

template <typename Item, typename Visitor>
Status walk(const flatbuffers::Vector<Item>& items, const Place& place, Visitor& visitor) {
  using Stored = flatbuffers::IndirectHelper<Item>;
  const ByteSpan bytes(items.Data(), items.size() * Stored::element_stride);
  TRIBUTARY_TRY(visitor.list(place, bytes, alignment_of<Item>()));
  for (flatbuffers::uoffset_t i = 0; i < items.size(); ++i) {
    const Place item_place{.outer = &place, .item = i};
    if constexpr (std::is_pointer_v<typename Stored::return_type>) {
      TRIBUTARY_TRY(walk(*items.Get(i), item_place, visitor));
    } else {
      TRIBUTARY_TRY(walk(items.Get(i), item_place, visitor));
    }
  }
  return {};
}

template <std::size_t I, HasFields Object, typename Visitor>
Status walk_field(const Object& object, const Place& place, Visitor& visitor) {
  const auto field = object.template get_field<I>();
  const Place field_place{.outer = &place, .name = Object::Traits::field_names[I]};
  if constexpr (std::is_same_v<decltype(field), const void* const>) {
    return {};  // the union of the frame, which walk_frame() visits
  } else if constexpr (std::is_pointer_v<decltype(field)>) {
    return field ? walk(*field, field_place, visitor) : Status();
  } else {
    return walk(field, field_place, visitor);
  }
}

template <HasFields Object, typename Visitor>
Status walk(const Object& object, const Place& place, Visitor& visitor) {
  return [&]<std::size_t... I>(std::index_sequence<I...>) {
    Status status;
    (void)((status = walk_field<I>(object, place, visitor), status.ok()) && ...);
    return status;
  }
  (std::make_index_sequence<Object::Traits::fields_number>());
}

// Visits the fields of the frame and then those of its message.
template <typename Visitor>
Status walk_frame(const Frame& frame, Visitor& visitor) {
  const Place root{.name = "Frame"};
  TRIBUTARY_TRY(walk(frame, root, visitor));
  return visit_message(frame, [&](const auto& message) {
    const Place place{.name = EnumNameMessage(frame.message_type())};
    return walk(message, place, visitor);
  });
}

}  // namespace tributary::wire
