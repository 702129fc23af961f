#include "gui/widgets/snooze_menu.h"

#include <QCoreApplication>

namespace starling::widgets {
namespace {

struct Snooze {
  Q_DECLARE_TR_FUNCTIONS(Snooze)
};

}  // namespace

QMenu* makeSnoozeMenu(models::DaemonModel& daemon, bool gpu, QWidget* parent) {
  auto* menu = new QMenu(gpu ? Snooze::tr("Pause the graphics card for…") : Snooze::tr("Pause for…"), parent);
  const std::pair<QString, std::string> lengths[] = {
      {Snooze::tr("15 minutes"), "15m"},
      {Snooze::tr("1 hour"), "1h"},
      {Snooze::tr("3 hours"), "3h"},
      {Snooze::tr("8 hours"), "8h"},
      {Snooze::tr("Until tomorrow"), "tomorrow"},
      {Snooze::tr("Until I resume"), ""},
  };
  for (const auto& [label, duration] : lengths) {
    menu->addAction(label, &daemon, [&daemon, gpu, duration = duration] {
      daemon.tell(wire::Pause{.duration = duration, .gpu = gpu});
    });
  }
  if (gpu) {
    menu->addSeparator();
    menu->addAction(Snooze::tr("Use it again"), &daemon, [&daemon] { daemon.tell(wire::Resume{.gpu = true}); });
  }
  return menu;
}

void pauseAfterRound(models::DaemonModel& daemon) { daemon.tell(wire::Pause{.after_round = true}); }

void pauseNow(models::DaemonModel& daemon) { daemon.tell(wire::Pause{}); }

void resume(models::DaemonModel& daemon) { daemon.tell(wire::Resume{}); }

}  // namespace starling::widgets
