// Qt in a doctest program: the one application object, without a screen, and waiting while events run.
#pragma once

#include <chrono>
#include <functional>

namespace starling::testing {

// Makes the application object on first use, on Qt's offscreen platform unless the environment names another.
void need_qt();
// Runs events until `condition` holds; false when it did not within `limit`.
bool wait_for(const std::function<bool()>& condition, std::chrono::milliseconds limit = std::chrono::seconds(60));

}  // namespace starling::testing
