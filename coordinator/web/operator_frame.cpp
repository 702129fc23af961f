#include "coordinator/web/operator_frame.h"

#include <fmt/core.h>

#include "coordinator/operations/roles.h"
#include "coordinator/web/fields.h"
#include "coordinator/web/html.h"
#include "coordinator/web/operator_acts.h"
#include "coordinator/web/page.h"

namespace starling::web {
namespace {

constexpr NavigationLink kOperators[] = {
    {"/", "Overview"}, {"/people", "People"}, {"/news", "News"}, {"/audit", "Audit log"}};

}  // namespace

std::string first_section(const OperatorFrame& frame, std::string_view title) {
  return fmt::format("<section class=\"now\">\n{}<h2>{}</h2>\n", message_box(frame.form.message, frame.form.failed),
                     title);
}

bool may(const OperatorFrame& frame, std::string_view act) {
  const OperatorAct* known = operator_act(act);
  return known != nullptr && operations::may_act(frame.role, known->role);
}

std::string act_button(const OperatorFrame& frame, std::string_view act, std::string_view hidden,
                       std::string_view button, std::string_view about) {
  if (!may(frame, act)) return "";
  return button_form(fmt::format("/do/{}", act), frame.form.token, hidden, button, about);
}

std::string framed_for(const OperatorFrame& frame, std::string_view title, std::string_view path,
                       std::string_view content) {
  std::string html(content);
  const bool all = frame.role == db::OperatorRole::all;
  html += fmt::format("<section class=\"line\"><span>Logged in as <b>{}</b>{}</span>{}</section>\n", escape(frame.name),
                      all ? "" : fmt::format(", {}", name_of(frame.role)),
                      button_form("/logout", frame.form.token, "", "Log out"));
  return framed(
      {.project = frame.form.project, .title = title, .path = path, .now = frame.form.now, .navigation = kOperators},
      html);
}

std::string framed_for_anybody(const FormFrame& frame, std::string_view title, std::string_view content) {
  return framed({.project = frame.project, .title = title, .now = frame.now, .navigation = {}}, content);
}

}  // namespace starling::web
