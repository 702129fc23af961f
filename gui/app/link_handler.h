// Whether a click on a starling:// link opens Starling. A package sees to that by itself; a copy that somebody unpacked
// in the home folder does it for its user.
#pragma once

namespace starling::app {

// Makes this program the handler of such links unless an installed one is. Returns at once.
void claimLinks();

}  // namespace starling::app
