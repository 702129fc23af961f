#include "coordinator/web/form.h"

#include <optional>

#include "shared/base/plain_text.h"

namespace starling::web {
namespace {

std::optional<int> hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return std::nullopt;
}

}  // namespace

std::string url_decode(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto high = text[i] == '%' && i + 2 < text.size() ? hex_digit(text[i + 1]) : std::nullopt;
    const auto low = high ? hex_digit(text[i + 2]) : std::nullopt;
    if (low) {
      out += static_cast<char>(*high * 16 + *low);
      i += 2;
    } else {
      out += text[i] == '+' ? ' ' : text[i];
    }
  }
  return out;
}

Form::Form(std::string_view body) {
  while (!body.empty() && fields_.size() < kFieldsMax) {
    const std::string_view field = body.substr(0, body.find('&'));
    body.remove_prefix(std::min(body.size(), field.size() + 1));
    const std::size_t equals = field.find('=');
    if (equals == std::string_view::npos) continue;
    fields_.emplace_back(url_decode(field.substr(0, equals)), url_decode(field.substr(equals + 1)));
  }
}

std::string Form::value(std::string_view name) const { return plain_line(exact(name)); }

std::string Form::lines(std::string_view name) const { return plain_lines(exact(name)); }

std::string Form::exact(std::string_view name) const {
  for (const auto& [field, value] : fields_) {
    if (field == name) return value;
  }
  return "";
}

std::string cookie(const gate::Request& request, std::string_view name) {
  std::string_view rest = request.header("Cookie");
  while (!rest.empty()) {
    std::string_view pair = rest.substr(0, rest.find(';'));
    rest.remove_prefix(std::min(rest.size(), pair.size() + 1));
    while (!pair.empty() && pair.front() == ' ') pair.remove_prefix(1);
    if (pair.size() > name.size() && pair.starts_with(name) && pair[name.size()] == '=') {
      return std::string(pair.substr(name.size() + 1));
    }
  }
  return "";
}

bool is_from_elsewhere(const gate::Request& request) {
  if (const std::string_view site = request.header("Sec-Fetch-Site"); !site.empty()) {
    return site != "same-origin" && site != "none";
  }
  const std::string_view origin = request.header("Origin");
  return !origin.empty() && origin != "https://" + std::string(request.header("Host"));
}

}  // namespace starling::web
