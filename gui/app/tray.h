// The icon in the desktop's panel: the state at a glance, and the frequent actions.
#pragma once

#include <QMenu>
#include <QObject>
#include <QSystemTrayIcon>

#include "gui/models/daemon_model.h"
#include "gui/widgets/main_window.h"

namespace starling::app {

class Tray : public QObject {
  Q_OBJECT

 public:
  explicit Tray(models::DaemonModel& daemon, QObject* parent = nullptr);

  // A version newer than this program is installed, and runs as the daemon.
  void setReplaced(bool replaced);
  void notify(const QString& title, const QString& words);
  [[nodiscard]] QMenu& menu() { return menu_; }

 signals:
  void windowWanted();
  void pageWanted(starling::widgets::Page page);
  void quitWanted(bool stop_training);
  void restartWanted();

 private:
  void makeMenu();
  QMenu* makeModeMenu(const QString& title, const char* preference);
  void follow();

  models::DaemonModel& daemon_;
  QMenu menu_;
  QSystemTrayIcon icon_;
  QAction* state_ = nullptr;
  QAction* resume_ = nullptr;
  QAction* pause_ = nullptr;
  QAction* after_round_ = nullptr;
  QAction* update_ = nullptr;   // offers a newer version of Starling
  QAction* restart_ = nullptr;  // switches to an installed version that is newer than this program
  bool icon_by_name_ = false;   // until the panel is known to draw by name
  QMenu* snooze_ = nullptr;
  QMenu* snooze_gpu_ = nullptr;
};

}  // namespace starling::app
