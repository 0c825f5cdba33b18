// Makes one visitor of several lambdas, for std::visit: the best match is called.
#pragma once

namespace tributary {

template <typename... Handlers>
struct Overloaded : Handlers... {
  using Handlers::operator()...;
};
template <typename... Handlers>
Overloaded(Handlers...) -> Overloaded<Handlers...>;

}  // namespace tributary
