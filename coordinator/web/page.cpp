#include "coordinator/web/page.h"

#include <fmt/core.h>

#include "coordinator/web/html.h"
#include "coordinator/web/scripts.h"
#include "shared/base/version.h"

namespace starling::web {
namespace {

constexpr std::string_view kHeader = "<header><div>\n";
constexpr NavigationLink kPublic[] = {{"/", "The run"},
                                      {"/leaderboard", "Leaderboard"},
                                      {"/credit", "How credit is counted"},
                                      {"/status", "Status"},
                                      {"/account", "Account"}};

std::string navigation(const Frame& frame) {
  std::string html = "<nav aria-label=\"Pages of the project\"><ul>";
  for (const NavigationLink& link : frame.navigation) {
    html += fmt::format("<li><a href=\"{}\"{}>{}</a></li>", link.path,
                        link.path == frame.path ? " aria-current=\"page\"" : "", link.text);
  }
  return html + "</ul></nav>";
}

std::string head(const Frame& frame, const std::string& project) {
  const std::string title = frame.title.empty() ? project : fmt::format("{} - {}", escape(frame.title), project);
  std::string html = fmt::format(
      "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<title>{}</title>\n"
      "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n"
      "<meta name=\"description\" content=\"Volunteers train a neural network together in the project {}.\">\n"
      "<link rel=\"icon\" href=\"/favicon.svg\" type=\"image/svg+xml\">\n",
      title, project);
  if (frame.refresh_seconds > 0) {
    const std::string refresh = fmt::format("<meta http-equiv=\"refresh\" content=\"{}\">", frame.refresh_seconds);
    html += frame.charts ? fmt::format("<noscript>{}</noscript>\n", refresh) : refresh + "\n";
  }
  if (frame.charts) html += script_tags();
  return html + fmt::format("<style>{}</style>\n</head>\n", page_style());
}

}  // namespace

std::span<const NavigationLink> public_navigation() { return kPublic; }

std::string framed(const Frame& frame, std::string_view content) {
  const std::string project = escape(frame.project);
  std::string html = head(frame, project);
  const std::string refresh = frame.charts && frame.refresh_seconds > 0
                                  ? fmt::format(" data-refresh=\"{}\"", frame.refresh_seconds)
                                  : std::string();
  html += fmt::format(
      "<body{}>\n<a class=\"skip\" href=\"#content\">Skip to the content</a>\n{}"
      "<div class=\"top\"><a class=\"home\" href=\"/\">{}</a>{}</div>\n<h1>{}</h1>\n",
      refresh, kHeader, project, navigation(frame), frame.title.empty() ? project : escape(frame.title));
  if (!frame.subtitle.empty()) html += fmt::format("<p>{}</p>\n", escape(frame.subtitle));
  html +=
      fmt::format("</div></header>\n<main id=\"content\">\n{}</main>\n<footer>\n<p>As of {}.", content, utc(frame.now));
  if (!frame.twin.empty()) html += fmt::format(" <a href=\"{}\">These figures as JSON</a>.", escape(frame.twin));
  html += fmt::format(" Starling {}.</p>\n</footer>\n</body>\n</html>\n", kVersion);
  return html;
}

std::string with_notice(std::string page, std::string_view notice) {
  const std::size_t header = page.find(kHeader);
  if (header == std::string::npos) return page;
  return page.insert(header,
                     fmt::format("<aside class=\"notice\" role=\"status\"><p>{}</p></aside>\n", escape(notice)));
}

const std::string& page_policy() {
  static const std::string policy = fmt::format(
      "default-src 'none'; style-src {}; img-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'",
      csp_hash(page_style()));
  return policy;
}

const std::string& chart_policy() {
  static const std::string policy = page_policy() + "; script-src 'self'";
  return policy;
}

std::string_view favicon() {
  return "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 32 32\"><rect width=\"32\" height=\"32\" rx=\"8\" "
         "fill=\"#4338ca\"/><path d=\"M6 21c5-1 7-9 10-9s5 8 10 9c-4 1-7 0-10-4-3 4-6 5-10 4z\" "
         "fill=\"#fff\"/></svg>\n";
}

}  // namespace starling::web
