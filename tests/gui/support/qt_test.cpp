#include "tests/gui/support/qt_test.h"

#include <QApplication>
#include <QElapsedTimer>
#include <QTimer>

namespace starling::testing {

void need_qt() {
  if (QCoreApplication::instance() != nullptr) return;
  if (qEnvironmentVariableIsEmpty("QT_QPA_PLATFORM")) qputenv("QT_QPA_PLATFORM", "offscreen");
  static int argc = 1;
  static char name[] = "test";
  static char* argv[] = {name, nullptr};
  // Never destroyed: parts of Qt that need it still exist at the program's exit.
  static const auto* application = new QApplication(argc, argv);
  static_cast<void>(application);
}

bool wait_for(const std::function<bool()>& condition, std::chrono::milliseconds limit) {
  QTimer tick;  // wakes the loop, so that the limit holds without events
  tick.start(std::chrono::milliseconds(20));
  QElapsedTimer timer;
  timer.start();
  while (!condition()) {
    if (timer.hasExpired(limit.count())) return false;
    QCoreApplication::processEvents(QEventLoop::WaitForMoreEvents);
  }
  return true;
}

}  // namespace starling::testing
