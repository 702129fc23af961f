// What pages for one person alone share, a volunteer's or an operator's: cookies, forms that must be this browser's
// own, and errors as such pages tell them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "coordinator/gate/router.h"
#include "coordinator/web/form.h"
#include "shared/base/result.h"

namespace starling::web {

// Kept by nobody on the way, framed by nobody, and told to no other site.
gate::Response private_response(std::string body, const char* content_type);
// 303, so that "reload" does nothing twice.
gate::Response redirect(std::string to);
// For this host alone and for no script; `seconds` 0 removes it.
void set_cookie(gate::Response& response, const char* name, std::string_view value, std::int64_t seconds);

// What a browser that is not logged in has in the cookie of that name, or a new one for it.
struct VisitorCookie {
  std::string value;
  bool is_new = false;
};
VisitorCookie visitor_cookie(const gate::Request& request, std::string_view name);

// Whether the form was made for the browser that has this cookie, and sent from our page.
bool is_own_form(const gate::Request& request, const Form& form, std::string_view cookie);
// What is answered when it was not.
Error not_own_form();

// An error's status line.
int status_of(const Status& why);
// An error as a sentence for people. Those of our own disk name files and statements: they go to the log instead.
std::string sentence_of(const Status& why);

}  // namespace starling::web
