// The scripts that pages with charts load: dygraphs, as the system provides it at build time, then charts.js. They are
// embedded, and served at names that change with their content, so that browsers may keep them for good.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "coordinator/gate/router.h"

namespace starling::web {

constexpr const char* kScriptPrefix = "/assets/";

struct Script {
  std::string_view name;     // "charts-0123456789abcdef.js": contains the beginning of its SHA-256
  std::string_view gzipped;  // every browser that runs scripts accepts gzip
};
// In the order in which they run.
std::span<const Script> scripts();

// Tags for a page's head: the scripts run in order once the page is there, and charts.js leaves no global names behind.
std::string script_tags();
// 404 for any other name.
gate::Response script_response(std::string_view name);

}  // namespace starling::web
