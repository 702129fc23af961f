#include "coordinator/gate/router.h"

#include <algorithm>
#include <cctype>

#include "shared/base/verify.h"

namespace starling::gate {
namespace {

bool equal_without_case(std::string_view a, std::string_view b) {
  const auto lower = [](char c) { return std::tolower(static_cast<unsigned char>(c)); };
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [&](char x, char y) { return lower(x) == lower(y); });
}

const Handler* find_method(const std::map<std::string, std::map<std::string, Handler>>& routes, const std::string& path,
                           const std::string& method, bool& path_known) {
  const auto by_path = routes.find(path);
  if (by_path == routes.end()) return nullptr;
  path_known = true;
  const auto by_method = by_path->second.find(method);
  return by_method == by_path->second.end() ? nullptr : &by_method->second;
}

}  // namespace

std::string_view Request::header(std::string_view name) const {
  for (const auto& [key, value] : headers) {
    if (equal_without_case(key, name)) return value;
  }
  return {};
}

std::string_view Request::parameter(std::string_view name) const {
  for (const auto& [key, value] : query) {
    if (key == name) return value;
  }
  return {};
}

void Router::add(const std::string& method, const std::string& path, Handler handler) {
  VERIFY(!path.empty() && path.front() == '/' && handler);
  VERIFY(literal_[path].emplace(method, std::move(handler)).second);
}

void Router::add_prefix(const std::string& method, const std::string& prefix, Handler handler) {
  VERIFY(!prefix.empty() && prefix.front() == '/' && prefix.back() == '/' && handler);
  VERIFY(prefix_[prefix].emplace(method, std::move(handler)).second);
}

const Handler* Router::find(Request& request, bool& path_known) const {
  path_known = false;
  request.suffix.clear();
  if (const Handler* handler = find_method(literal_, request.path, request.method, path_known)) return handler;
  const std::size_t slash = request.path.rfind('/');
  if (path_known || slash == std::string::npos || slash + 1 == request.path.size()) return nullptr;
  const Handler* handler = find_method(prefix_, request.path.substr(0, slash + 1), request.method, path_known);
  if (handler != nullptr) request.suffix = request.path.substr(slash + 1);
  return handler;
}

}  // namespace starling::gate
