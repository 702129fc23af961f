// Parts of forms as HTML: every field has a label, and says to browsers what belongs in it.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace starling::web {

struct Field {
  std::string_view name;   // also its id
  std::string_view label;  // all texts but `value` are HTML already
  std::string_view type = "text";
  std::string_view autocomplete = "off";
  std::string_view value = "";
  std::string_view hint = "";
  std::string_view more = "";  // further attributes
};
std::string field(const Field& field);
// Several lines of text; `type` is not used.
std::string text_area(const Field& field, int rows);
struct Choice {
  std::string_view value;
  std::string_view text;
};
// One of these; the one whose value is the field's is chosen.
std::string choice(const Field& field, std::span<const Choice> choices);
// The opening tag, and the field that proves whose form it is.
std::string form_to(std::string_view action, std::string_view token);
// A form that is one button; `hidden` and `button` are HTML. `about`, plain text, is what the button is for, where
// several are called the same: those who do not see what it stands beside hear it.
std::string button_form(std::string_view action, std::string_view token, std::string_view hidden,
                        std::string_view button, std::string_view about = {});
std::string hidden(std::string_view name, std::string_view value);
// What was done or went wrong, for eyes and ears.
std::string message_box(std::string_view message, bool failed);

}  // namespace starling::web
