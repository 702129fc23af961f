// What a browser sent: the fields of a form, cookies, and whether the form is ours.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "coordinator/gate/router.h"

namespace starling::web {

// application/x-www-form-urlencoded. What is no such text has no fields.
class Form {
 public:
  static constexpr std::size_t kFieldsMax = 32;

  explicit Form(std::string_view body);
  // Empty when there is none; control characters and what is no UTF-8 are left out by whoever checks the value.
  [[nodiscard]] std::string value(std::string_view name) const;

 private:
  std::vector<std::pair<std::string, std::string>> fields_;
};

// "a+b%20c" as "a b c"; a percent sign without two hex digits stays as it is.
std::string url_decode(std::string_view text);

// The cookie's value; empty when the browser did not send it.
std::string cookie(const gate::Request& request, std::string_view name);

// Whether the browser itself says that the request comes from another site.
bool is_from_elsewhere(const gate::Request& request);

}  // namespace starling::web
