#include "gui/widgets/snooze_menu.h"

#include <QCoreApplication>

namespace starling::widgets {
namespace {

struct Snooze {
  Q_DECLARE_TR_FUNCTIONS(Snooze)
};

void pause(models::DaemonModel& daemon, const std::string& duration, bool gpu) {
  wire::ControlRequest request;
  request.command = "pause";
  request.duration = duration;
  request.gpu = gpu;
  daemon.tell(request);
}

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
    menu->addAction(label, &daemon, [&daemon, gpu, duration = duration] { pause(daemon, duration, gpu); });
  }
  if (gpu) {
    menu->addSeparator();
    menu->addAction(Snooze::tr("Use it again"), &daemon, [&daemon] {
      wire::ControlRequest request;
      request.command = "resume";
      request.gpu = true;
      daemon.tell(request);
    });
  }
  return menu;
}

void pauseAfterRound(models::DaemonModel& daemon) {
  wire::ControlRequest request;
  request.command = "pause";
  request.after_round = true;
  daemon.tell(request);
}

void pauseNow(models::DaemonModel& daemon) { pause(daemon, "", false); }

void resume(models::DaemonModel& daemon) {
  wire::ControlRequest request;
  request.command = "resume";
  daemon.tell(request);
}

}  // namespace starling::widgets
