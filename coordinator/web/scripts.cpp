#include "coordinator/web/scripts.h"

#include <fmt/core.h>

#include <algorithm>

#include "coordinator/web/responses.h"

namespace starling::web {

std::string script_tags() {
  std::string html;
  for (const Script& script : scripts()) {
    // A module keeps its names to itself; the library is not a module, and gives its one name to the scripts after it.
    const bool own = script.name.starts_with("charts-");
    html += fmt::format("<script {} src=\"{}{}\"></script>\n", own ? "type=\"module\"" : "defer", kScriptPrefix,
                        script.name);
  }
  return html;
}

gate::Response script_response(std::string_view name) {
  const auto all = scripts();
  const auto script = std::find_if(all.begin(), all.end(), [&](const Script& each) { return each.name == name; });
  if (script == all.end()) {
    gate::Response response = response_of("text/plain; charset=utf-8", "There is no such file.\n");
    response.status = 404;
    return response;
  }
  gate::Response response;
  response.content_type = "text/javascript; charset=utf-8";
  response.body = script->gzipped;
  response.headers = {{"Content-Encoding", "gzip"},
                      {"Cache-Control", "public, max-age=31536000, immutable"},
                      {"X-Content-Type-Options", "nosniff"}};
  return response;
}

}  // namespace starling::web
