// Combines several lambdas into one visitor for std::visit; overload resolution selects the lambda.
#pragma once

namespace tributary {

template <typename... Handlers>
struct Overloaded : Handlers... {
  using Handlers::operator()...;
};
template <typename... Handlers>
Overloaded(Handlers...) -> Overloaded<Handlers...>;

}  // namespace tributary
