// The scripts that pages with charts load: dygraphs, as the system has it at build time, and charts.js after it. They
// are embedded, and served at names that change with what is in them, so that browsers keep them for good.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "coordinator/gate/router.h"

namespace starling::web {

constexpr const char* kScriptPrefix = "/assets/";

struct Script {
  std::string_view name;     // "charts-0123456789abcdef.js": with the beginning of its SHA-256
  std::string_view gzipped;  // every browser that runs scripts takes them so
};
// In the order in which they run.
std::span<const Script> scripts();

// For a page's head: they run when the page is there, in their order, and leave no name of ours behind.
std::string script_tags();
// 404 for any other name.
gate::Response script_response(std::string_view name);

}  // namespace starling::web
