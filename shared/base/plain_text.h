// Text that somebody else wrote, made fit for terminals, logs, pages and notifications: it cannot move a cursor, pass
// for another line, or turn the order of the letters around it.
//
// Control characters (C0, DEL, C1), those that set the direction of text, line separators, and bytes that are no UTF-8
// are not plain. Letters, marks and joiners of all scripts are.
#pragma once

#include <string>
#include <string_view>

namespace starling {

// The text as one line: blanks for ends of lines and tabs, '?' for other control characters and for each byte that is
// no UTF-8, nothing for what sets the direction. Never longer than `text`; plain text stays as it is.
std::string plain_line(std::string_view text);
// Like plain_line, with lines and tabs kept; "\r\n" ends a line like "\n".
std::string plain_lines(std::string_view text);

// True where plain_line would change nothing.
bool is_plain_line(std::string_view text);

}  // namespace starling
