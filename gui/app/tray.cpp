#include "gui/app/tray.h"

#include <QActionGroup>
#include <QGuiApplication>
#include <QPalette>

#include "gui/app/panel_icon.h"
#include "gui/link/daemon_starter.h"
#include "gui/models/format.h"
#include "gui/widgets/snooze_menu.h"

namespace starling::app {

using widgets::Page;

Tray::Tray(models::DaemonModel& daemon, QObject* parent) : QObject(parent), daemon_(daemon) {
  makeMenu();
  askWhetherPanelKnowsNames(this, [this] {
    icon_by_name_ = true;
    follow();
  });
  icon_.setContextMenu(&menu_);
  connect(&icon_, &QSystemTrayIcon::activated, this, [this](QSystemTrayIcon::ActivationReason reason) {
    if (reason == QSystemTrayIcon::Trigger || reason == QSystemTrayIcon::DoubleClick) emit windowWanted();
  });
  connect(&icon_, &QSystemTrayIcon::messageClicked, this, &Tray::windowWanted);
  connect(&daemon_, &models::DaemonModel::changed, this, &Tray::follow);
  connect(&daemon_, &models::DaemonModel::preferencesChanged, this, &Tray::follow);
  follow();
  icon_.show();  // without a panel it appears as soon as there is one
}

void Tray::makeMenu() {
  state_ = menu_.addAction(QString());
  state_->setEnabled(false);  // serves as a title
  menu_.addSeparator();
  menu_.addAction(tr("Open Starling"), this, &Tray::windowWanted);
  menu_.addSeparator();
  resume_ = menu_.addAction(tr("Resume"), this, [this] { widgets::resume(daemon_); });
  pause_ = menu_.addAction(tr("Pause now, until I resume"), this, [this] { widgets::pauseNow(daemon_); });
  snooze_ = widgets::makeSnoozeMenu(daemon_, false, &menu_);
  menu_.addMenu(snooze_);
  after_round_ =
      menu_.addAction(tr("Pause when this round is done"), this, [this] { widgets::pauseAfterRound(daemon_); });
  snooze_gpu_ = widgets::makeSnoozeMenu(daemon_, true, &menu_);
  menu_.addMenu(snooze_gpu_);
  update_ = menu_.addAction(QString(), this, [this] { daemon_.tell(wire::LookForUpdate{true}); });
  restart_ = menu_.addAction(tr("Restart this window as the new version"), this, &Tray::restartWanted);
  restart_->setVisible(false);
  menu_.addSeparator();
  menu_.addMenu(makeModeMenu(tr("Training"), "compute"));
  menu_.addMenu(makeModeMenu(tr("Network"), "network"));
  menu_.addSeparator();
  menu_.addAction(tr("Statistics…"), this, [this] { emit pageWanted(Page::stats); });
  menu_.addAction(tr("Log…"), this, [this] { emit pageWanted(Page::log); });
  menu_.addAction(tr("Preferences…"), this, [this] { emit pageWanted(Page::preferences); });
  menu_.addSeparator();
  menu_.addAction(tr("Quit; training goes on in the background"), this, [this] { emit quitWanted(false); });
  menu_.addAction(tr("Quit, and stop training until Starling starts again"), this, [this] { emit quitWanted(true); });
}

QMenu* Tray::makeModeMenu(const QString& title, const char* preference) {
  auto* menu = new QMenu(title, &menu_);
  auto* group = new QActionGroup(menu);
  const std::pair<QString, const char*> modes[] = {
      {tr("By the rules"), "rules"}, {tr("Always"), "always"}, {tr("Never"), "never"}};
  for (const auto& [label, mode] : modes) {
    QAction* action =
        menu->addAction(label, &daemon_, [this, preference, mode = mode] { daemon_.set(preference, mode); });
    action->setCheckable(true);
    group->addAction(action);
    connect(menu, &QMenu::aboutToShow, action, [this, action, preference, mode = mode] {
      const auto now = wire::preference_text(daemon_.preferences(), preference);
      action->setChecked(now.ok() && *now == mode);
    });
  }
  return menu;
}

void Tray::follow() {
  const models::Situation situation = daemon_.situation();
  icon_.setIcon(panelIcon(situation.face, icon_by_name_, QGuiApplication::palette().color(QPalette::WindowText)));
  icon_.setToolTip(tr("Starling: %1").arg(situation.headline) +
                   (situation.detail.isEmpty() ? QString() : QLatin1Char('\n') + situation.detail));
  state_->setText(situation.headline);
  const bool joined = daemon_.connected() && !daemon_.status().membership.project.empty();
  const bool paused = situation.face == models::Face::paused;
  resume_->setVisible(joined && paused);
  pause_->setVisible(joined && !paused);
  snooze_->menuAction()->setVisible(joined && !paused);
  snooze_gpu_->menuAction()->setVisible(joined && daemon_.status().rules.gpu_present);
  const wire::UpdateStatus& update = daemon_.status().update;
  update_->setVisible(daemon_.connected() && !update.version.empty());
  update_->setEnabled(update.can_install && (update.state == "available" || update.state == "failed"));
  update_->setText(update_->isEnabled() ? tr("Install Starling %1").arg(models::text(update.version))
                   : update.can_install ? tr("Starling %1 is being installed").arg(models::text(update.version))
                                        : tr("Starling %1 is out").arg(models::text(update.version)));
  after_round_->setVisible(joined && situation.face == models::Face::training);
}

void Tray::setReplaced(bool replaced) { restart_->setVisible(replaced); }

void Tray::notify(const QString& title, const QString& words) {
  if (QSystemTrayIcon::supportsMessages()) icon_.showMessage(title, words, icon_.icon());
}

}  // namespace starling::app
