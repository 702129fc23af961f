// The forms of people who are not logged in.
#include <fmt/core.h>

#include "coordinator/web/account_pages.h"
#include "coordinator/web/fields.h"
#include "coordinator/web/html.h"
#include "coordinator/web/page.h"

namespace starling::web {
namespace {

constexpr std::string_view kPasswordHint = "10 letters or more. Some words in a row do well.";

std::string framed_form(const FormFrame& frame, std::string_view title, std::string_view content) {
  return framed({frame.project, title, "", "/account", 0, frame.now},
                fmt::format("<section class=\"now narrow\">\n{}{}</section>\n",
                            message_box(frame.message, frame.failed), content));
}

}  // namespace

std::string render_sign_up(const SignUpPage& page) {
  std::string html = form_to("/signup", page.frame.token);
  html += field({"name", "Name on the leaderboard", "text", "nickname", page.name,
                 "1 to 32 letters of any script, digits, blanks, dots or dashes. Everybody sees it.",
                 "required maxlength=\"128\""});
  html += field({"email", "E-mail address <span class=\"soft\">(optional)</span>", "email", "email", page.email,
                 "For a new password when you forget yours. Nobody sees it.", "maxlength=\"254\""});
  html += field({"password", "Password", "password", "new-password", "", kPasswordHint,
                 "required minlength=\"10\" maxlength=\"256\""});
  if (page.needs_invite) {
    html += field({"invite", "Invite", "text", "off", page.invite, "The text after invite= in your join link.",
                   "required maxlength=\"128\""});
  }
  html += "<p class=\"send\"><button class=\"main\">Make the account</button></p></form>\n";
  if (page.approval) html += "<p class=\"what\">The project looks at new accounts before they may train.</p>\n";
  html += "<p class=\"what\">You have one? <a href=\"/login\">Log in</a>.</p>\n";
  return framed_form(page.frame, "Sign up", html);
}

std::string render_log_in(const FormFrame& frame, std::string_view name, bool sends_mail) {
  std::string html = form_to("/login", frame.token);
  html += field({"name", sends_mail ? "Name or e-mail address" : "Name", "text", "username", name, "",
                 "required maxlength=\"254\""});
  html += field({"password", "Password", "password", "current-password", "", "", "required maxlength=\"256\""});
  html += "<p class=\"send\"><button class=\"main\">Log in</button></p></form>\n";
  html +=
      "<p class=\"what\"><a href=\"/password\">I forgot my password</a> &middot; <a href=\"/signup\">I have no account "
      "yet</a></p>\n";
  return framed_form(frame, "Log in", html);
}

std::string render_forgot(const FormFrame& frame, bool sends_mail) {
  std::string html;
  if (sends_mail) {
    html += "<p>We send a link to the address of your account; with it you set a new password.</p>\n";
    html += form_to("/password", frame.token);
    html += field({"email", "E-mail address", "email", "email", "", "", "required maxlength=\"254\""});
    html += "<p class=\"send\"><button class=\"main\">Send the link</button></p></form>\n";
  } else {
    html +=
        "<p>This project sends no mail. Ask its operator for a link with which you set a new password; they find your "
        "account by its name.</p>\n";
  }
  return framed_form(frame, "A new password", html);
}

std::string render_new_password(const FormFrame& frame, std::string_view link_token) {
  std::string html = form_to("/password", frame.token) + hidden("token", link_token);
  html += field({"password", "New password", "password", "new-password", "", kPasswordHint,
                 "required minlength=\"10\" maxlength=\"256\""});
  html += "<p class=\"send\"><button class=\"main\">Set the password</button></p></form>\n";
  return framed_form(frame, "A new password", html);
}

std::string render_verify(const FormFrame& frame, std::string_view link_token) {
  const std::string html = "<p>Is this e-mail address yours?</p>\n" +
                           button_form("/verify", frame.token, hidden("token", link_token), "Yes, it is mine") + "\n";
  return framed_form(frame, "Your e-mail address", html);
}

std::string render_notice(const FormFrame& frame, std::string_view title) {
  return framed_form(frame, title, "<p><a href=\"/account\">To your account</a></p>\n");
}

}  // namespace starling::web
