// Values that a browser sends: the fields of a form, cookies, and where the form comes from.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "coordinator/gate/router.h"

namespace starling::web {

// application/x-www-form-urlencoded. Any other text has no fields.
class Form {
 public:
  static constexpr std::size_t kFieldsMax = 32;

  explicit Form(std::string_view body);
  // The field as one plain line (shared/base/plain_text.h); empty if there is no such field.
  [[nodiscard]] std::string value(std::string_view name) const;
  // The field as plain lines.
  [[nodiscard]] std::string lines(std::string_view name) const;
  // Every byte of it, for passwords: whoever made one up may have typed anything.
  [[nodiscard]] std::string exact(std::string_view name) const;

 private:
  std::vector<std::pair<std::string, std::string>> fields_;
};

// "a+b%20c" as "a b c"; a percent sign without two hex digits stays as it is.
std::string url_decode(std::string_view text);

// The cookie's value; empty if the browser did not send it.
std::string cookie(const gate::Request& request, std::string_view name);

// Whether the browser itself says that the request comes from another site.
bool is_from_elsewhere(const gate::Request& request);

}  // namespace starling::web
