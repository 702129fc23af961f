// Makes a click on a starling:// link open Starling. A package does so at its installation; a copy unpacked in the home
// folder does it for its user.
#pragma once

namespace starling::app {

// Makes this program the handler of such links unless an installed one is. Returns at once.
void claimLinks();

}  // namespace starling::app
