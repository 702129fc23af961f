// Removes private facts from a report: addresses, e-mails, secrets and names of people and machines.
#pragma once

#include <string>
#include <string_view>

namespace starling::cli {

// Facts that only this computer knows of itself. Empty fields hide nothing.
struct Private {
  std::string home;       // the user's folder
  std::string user_name;  // login name
  std::string host_name;
};
// Facts of this computer and of the user who runs this.
Private private_of_this_computer();

// Addresses of this computer itself (127.0.0.1, ::1, 0.0.0.0, ::) stay: they help, and reveal nothing.
std::string redact(std::string_view text, const Private& hidden);

}  // namespace starling::cli
