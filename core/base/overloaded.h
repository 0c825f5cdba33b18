// Makes one visitor of several lambdas, for std::visit: the best match is called. An alternative of
// the variant without a handler is a compile error. It holds the lambdas by value and costs nothing
// beyond them.
#pragma once

namespace tributary {

template <typename... Handlers>
struct Overloaded : Handlers... {
  using Handlers::operator()...;
};
template <typename... Handlers>
Overloaded(Handlers...) -> Overloaded<Handlers...>;

// Beside the handlers, names the alternatives that need none: Ignored<Tick, Stored>().
template <typename Alternative>
struct IgnoredOne {
  void operator()(const Alternative& /*ignored*/) const {}
};
template <typename... Alternatives>
struct Ignored : IgnoredOne<Alternatives>... {
  using IgnoredOne<Alternatives>::operator()...;
};

}  // namespace tributary
