#include "coordinator/web/fields.h"

#include <fmt/core.h>

#include "coordinator/web/html.h"

namespace starling::web {
namespace {

// The field's further attributes and the link to its hint.
std::string more_of(const Field& field) {
  std::string more = field.hint.empty() ? "" : fmt::format(" aria-describedby=\"{}-hint\"", field.name);
  if (!field.more.empty()) more += " " + std::string(field.more);
  return more;
}

std::string labelled(const Field& field, std::string_view input) {
  std::string html = fmt::format("<p class=\"field\"><label for=\"{}\">{}</label>{}", field.name, field.label, input);
  if (!field.hint.empty()) html += fmt::format("<small id=\"{}-hint\">{}</small>", field.name, field.hint);
  return html + "</p>\n";
}

}  // namespace

std::string hidden(std::string_view name, std::string_view value) {
  return fmt::format("<input type=\"hidden\" name=\"{}\" value=\"{}\">", name, escape(value));
}

std::string field(const Field& field) {
  return labelled(field, fmt::format("<input id=\"{0}\" name=\"{0}\" type=\"{1}\" autocomplete=\"{2}\" "
                                     "value=\"{3}\"{4}>",
                                     field.name, field.type, field.autocomplete, escape(field.value), more_of(field)));
}

std::string text_area(const Field& field, int rows) {
  return labelled(field, fmt::format("<textarea id=\"{0}\" name=\"{0}\" rows=\"{1}\"{2}>\n{3}</textarea>", field.name,
                                     rows, more_of(field), escape(field.value)));
}

std::string choice(const Field& field, std::span<const Choice> choices) {
  std::string html = fmt::format("<select id=\"{0}\" name=\"{0}\"{1}>", field.name, more_of(field));
  for (const Choice& each : choices) {
    html += fmt::format("<option value=\"{}\"{}>{}</option>", each.value, each.value == field.value ? " selected" : "",
                        each.text);
  }
  return labelled(field, html + "</select>");
}

std::string form_to(std::string_view action, std::string_view token) {
  return fmt::format("<form class=\"fields\" method=\"post\" action=\"{}\">{}\n", action, hidden("form", token));
}

std::string button_form(std::string_view action, std::string_view token, std::string_view hidden_fields,
                        std::string_view button, std::string_view about) {
  const std::string label = about.empty() ? "" : fmt::format(" aria-label=\"{}: {}\"", button, escape(about));
  return fmt::format("<form class=\"one\" method=\"post\" action=\"{}\">{}{}<button{}>{}</button></form>", action,
                     hidden("form", token), hidden_fields, label, button);
}

std::string message_box(std::string_view message, bool failed) {
  if (message.empty()) return "";
  return fmt::format("<p class=\"box {}\" role=\"{}\">{}</p>\n", failed ? "bad" : "done", failed ? "alert" : "status",
                     escape(message));
}

}  // namespace starling::web
