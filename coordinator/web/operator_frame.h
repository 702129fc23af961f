// What each of an operator's pages has around its content.
#pragma once

#include <string>
#include <string_view>

#include "coordinator/web/operator_pages.h"

namespace starling::web {

// The opening of a page's first section: what was done or went wrong, and the section's title.
std::string first_section(const OperatorFrame& frame, std::string_view title);
// With the navigation and who is logged in; `content` is HTML.
std::string framed_for(const OperatorFrame& frame, std::string_view title, std::string_view path,
                       std::string_view content);
// Without: nobody is logged in.
std::string framed_for_anybody(const FormFrame& frame, std::string_view title, std::string_view content);

}  // namespace starling::web
