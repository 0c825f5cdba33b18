// Messages in the form in which the state machines read them, for unit tests.
#pragma once

#include <flatbuffers/flatbuffers.h>

namespace tributary::round_testing {

// A packed message; owns its bytes. It need not obey the rules that validation of a frame checks.
template <typename MessageT>
class Packed {
 public:
  using Table = typename MessageT::TableType;

  explicit Packed(const MessageT& message) { builder_.Finish(Table::Pack(builder_, &message)); }
  const Table& operator*() const {
    return *flatbuffers::GetRoot<Table>(builder_.GetBufferPointer());
  }

 private:
  flatbuffers::FlatBufferBuilder builder_;
};

}  // namespace tributary::round_testing
