// Shared parts of pages for one person alone, a volunteer or an operator: cookies, forms that must be this browser's
// own, and errors as such pages word them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "coordinator/gate/router.h"
#include "coordinator/web/form.h"
#include "shared/base/clock.h"
#include "shared/base/limited_log.h"
#include "shared/base/result.h"

namespace starling::web {

// A response that no cache keeps, no frame shows, and no other site learns the address of.
gate::Response private_response(std::string body, const char* content_type);
// Status 303, so that "reload" repeats nothing.
gate::Response redirect(std::string to);
// A cookie for this host alone, hidden from scripts; `seconds` 0 removes it.
void set_cookie(gate::Response& response, const char* name, std::string_view value, std::int64_t seconds);

// The cookie of that name that a browser has before log-in, or a new one for it.
struct VisitorCookie {
  std::string value;
  bool is_new = false;
};
VisitorCookie visitor_cookie(const gate::Request& request, std::string_view name);

// Whether the form was made for the browser that has this cookie, and sent from our page.
bool is_own_form(const gate::Request& request, const Form& form, std::string_view cookie);
// The error for a form that was not.
Error not_own_form();

// The HTTP status of an error.
int status_of(const Status& why);
// An error as a sentence for people. Errors of our own disk name files and statements: they go to the log instead.
std::string sentence_of(const Status& why, TimePoint now, LimitedLog& failures);

}  // namespace starling::web
