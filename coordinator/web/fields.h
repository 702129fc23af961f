// Parts of forms as HTML: every field has a label and tells browsers how to fill it in.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace starling::web {

// An input of a form. It borrows its texts for the length of the call.
struct Field {
  std::string_view name;   // also its id
  std::string_view label;  // HTML already, like all texts but `value`
  std::string_view type = "text";
  std::string_view autocomplete = "off";
  std::string_view value = "";
  std::string_view hint = "";
  std::string_view more = "";  // further attributes
};
std::string field(const Field& field);
// A field of several lines; `type` is not used.
std::string text_area(const Field& field, int rows);

// An option of a choice: the value that the form sends, and its text for people.
struct Choice {
  std::string_view value;
  std::string_view text;
};
// A choice of one; the option whose value is the field's is selected.
std::string choice(const Field& field, std::span<const Choice> choices);
// The opening tag, and the field that proves which browser the form belongs to.
std::string form_to(std::string_view action, std::string_view token);
// A form that is one button; `hidden` and `button` are HTML. `about`, plain text, says what the button is for, where
// several buttons have one name: it is read to people who cannot see the button's surroundings.
std::string button_form(std::string_view action, std::string_view token, std::string_view hidden,
                        std::string_view button, std::string_view about = {});
std::string hidden(std::string_view name, std::string_view value);
// A confirmation or an error, visible and announced by screen readers.
std::string message_box(std::string_view message, bool failed);

}  // namespace starling::web
