// How names are compared: two that a reader takes for one are one. Plain code over Unicode's data, which ICU brings.
#pragma once

#include <string>
#include <string_view>

namespace starling::db {

// The three forms of a name that nobody else's may have.
struct NameKeys {
  // Without differences of case, width or composition (NFKC, case folding), in the letters that look alike in small: of
  // "Ada", "ADA", full-width "Ａｄａ", and "аdа" with Cyrillic letters it is equal. Names are looked up by it, too.
  std::string fold;
  // The skeleton of ICU's spoof checker, for letters that look alike as they are written: "Ian" and "lan".
  std::string look;
  // The skeleton of the name in capitals, for letters that look alike only there: "Marta", "MARTA", and "МARTA" with a
  // Cyrillic first letter.
  std::string capitals;
  bool operator==(const NameKeys&) const = default;
};
NameKeys keys_of_name(std::string_view name);

// Changes when keys do: with the rules here, and with the version of Unicode's data.
std::string name_rules();

}  // namespace starling::db
