#include "tests/gui/support/desk.h"

#include "shared/base/verify.h"
#include "tests/gui/support/qt_test.h"

namespace starling::testing {
namespace {

using namespace std::chrono_literals;

const RealDaemon& started(RealDaemon& daemon) {
  need_qt();
  daemon.start();
  return daemon;
}

}  // namespace

Desk::Desk() : model_(options(started(daemon_).data_dir()), QString::fromUtf8(RealDaemon::program())) {
  model_.open();
  VERIFY(wait_for([&] { return model_.connected(); }));
}

bool Desk::stop() {
  model_.tell(wire::StopDaemon{});
  return wait_for([&] { return model_.linkState() == link::LinkState::gone; });
}

link::LinkOptions Desk::options(const std::filesystem::path& data_dir) {
  link::LinkOptions options;
  options.data_dir = data_dir;
  options.retry = 50ms;
  options.pace = 10ms;
  return options;
}

}  // namespace starling::testing
