// Credentials that people choose, checked and brought into the form in which they are stored.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "shared/base/result.h"

namespace starling::accounts {

constexpr std::size_t kEmailBytesMax = 254;
constexpr std::size_t kPasswordLettersMin = 10;

// In lower case, without blanks around it; empty stays empty. Error invalid_argument: not an address.
Result<std::string> check_email(std::string_view email);
// Error invalid_argument: the password is too short, too long, one letter repeated, or the name or address itself.
Status check_new_password(std::string_view password, std::string_view name, std::string_view email);

// A password that nobody guesses (80 bits), in groups that people can type.
std::string make_passphrase();
// A code for people to type: two groups of four letters and digits, none of which look alike.
std::string make_code();
// A code as make_code() wrote it, from typed text; empty if the text is not a code.
std::optional<std::string> read_code(std::string_view typed);

}  // namespace starling::accounts
