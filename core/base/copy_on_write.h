// Copy-on-write for large values with several holders. A holder that changes the value copies it
// first if another holder still has it.
//
// Immutable sharing is what lets a record be stored while the next round changes the model: the
// record keeps the old value, and the change makes a copy only then.
#pragma once

#include <memory>

namespace tributary {

// Returns the value of `shared` for modification. `shared` must not be null. Other threads may
// release their pointers during the call, but none may copy `shared` itself. Cost: one copy of the
// value if it is shared.
template <class Value>
Value& own(std::shared_ptr<Value>& shared) {
  if (shared.use_count() > 1) shared = std::make_shared<Value>(*shared);
  return *shared;
}

}  // namespace tributary
