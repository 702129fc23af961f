// One function for every alternative of a std::variant: std::visit(Overloaded{[](A) {…}, [](B) {…}}, variant).
#pragma once

namespace starling {

template <typename... Functions>
struct Overloaded : Functions... {
  using Functions::operator()...;
};
template <typename... Functions>
Overloaded(Functions...) -> Overloaded<Functions...>;

}  // namespace starling
