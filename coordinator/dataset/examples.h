// Lists and shares in messages.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace starling::dataset {

constexpr std::size_t kExamplesMax = 20;

// "a; b; c and 41 more": a list that stays short, however long it is.
std::string examples_of(std::span<const std::string> all, std::string_view separator = "; ",
                        std::size_t most = kExamplesMax);

// "0.04 %": two digits of a small share, so that one that is not zero never looks like zero.
std::string percent_of(double share);

}  // namespace starling::dataset
