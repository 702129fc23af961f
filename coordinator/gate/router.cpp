#include "coordinator/gate/router.h"

#include "coordinator/gate/text.h"
#include "shared/base/verify.h"

namespace starling::gate {
namespace {

using Methods = std::map<std::string, Handler>;

const Handler* find_method(const Methods& methods, const std::string& method, std::string& allowed) {
  const auto found = methods.find(method);
  if (found != methods.end()) return &found->second;
  for (const auto& [name, handler] : methods) allowed += (allowed.empty() ? "" : ", ") + name;
  return nullptr;
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

const Handler* Router::find(Request& request, std::string& allowed) const {
  request.suffix.clear();
  const auto literal = literal_.find(request.path);
  if (literal != literal_.end()) return find_method(literal->second, request.method, allowed);
  const std::size_t slash = request.path.rfind('/');
  if (slash == std::string::npos || slash + 1 == request.path.size()) return nullptr;
  const auto prefix = prefix_.find(request.path.substr(0, slash + 1));
  if (prefix == prefix_.end()) return nullptr;
  request.suffix = request.path.substr(slash + 1);
  return find_method(prefix->second, request.method, allowed);
}

}  // namespace starling::gate
