// The frame of an operator's pages around their content.
#pragma once

#include <string>
#include <string_view>

#include "coordinator/web/operator_pages.h"

namespace starling::web {

// The opening of a page's first section: a confirmation or an error, and the section's title.
std::string first_section(const OperatorFrame& frame, std::string_view title);
// True if the operator may take that act (operator_acts.h): only then its form is shown.
bool may(const OperatorFrame& frame, std::string_view act);
// A button that takes the act, as button_form() makes it; empty if the operator may not.
std::string act_button(const OperatorFrame& frame, std::string_view act, std::string_view hidden,
                       std::string_view button, std::string_view about = {});
// A page with the navigation and the operator's name; `content` is HTML.
std::string framed_for(const OperatorFrame& frame, std::string_view title, std::string_view path,
                       std::string_view content);
// A page without them, for a visitor who is not logged in.
std::string framed_for_anybody(const FormFrame& frame, std::string_view title, std::string_view content);

}  // namespace starling::web
