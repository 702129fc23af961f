#include "coordinator/web/fields.h"

#include <fmt/core.h>

#include "coordinator/web/html.h"

namespace starling::web {

std::string hidden(std::string_view name, std::string_view value) {
  return fmt::format("<input type=\"hidden\" name=\"{}\" value=\"{}\">", name, escape(value));
}

std::string field(const Field& field) {
  const std::string about = field.hint.empty() ? "" : fmt::format(" aria-describedby=\"{}-hint\"", field.name);
  std::string html = fmt::format(
      "<p class=\"field\"><label for=\"{0}\">{1}</label><input id=\"{0}\" name=\"{0}\" type=\"{2}\" "
      "autocomplete=\"{3}\""
      " value=\"{4}\"{5}{6}{7}>",
      field.name, field.label, field.type, field.autocomplete, escape(field.value), about,
      field.more.empty() ? "" : " ", field.more);
  if (!field.hint.empty()) html += fmt::format("<small id=\"{}-hint\">{}</small>", field.name, field.hint);
  return html + "</p>\n";
}

std::string form_to(std::string_view action, std::string_view token) {
  return fmt::format("<form class=\"fields\" method=\"post\" action=\"{}\">{}\n", action, hidden("form", token));
}

std::string button_form(std::string_view action, std::string_view token, std::string_view hidden_fields,
                        std::string_view button) {
  return fmt::format("<form class=\"one\" method=\"post\" action=\"{}\">{}{}<button>{}</button></form>", action,
                     hidden("form", token), hidden_fields, button);
}

std::string message_box(std::string_view message, bool failed) {
  if (message.empty()) return "";
  return fmt::format("<p class=\"box {}\" role=\"{}\">{}</p>\n", failed ? "bad" : "done", failed ? "alert" : "status",
                     escape(message));
}

}  // namespace starling::web
