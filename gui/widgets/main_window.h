// The window: the first page for everybody, and tabs with more detail. Pages that have nothing to show, because no
// project was joined, are hidden.
#pragma once

#include <QMainWindow>
#include <QPointer>

#include "gui/models/daemon_model.h"
#include "gui/models/history_model.h"

class QAction;
class QMenu;
class QTabWidget;

namespace starling::widgets {

class AccountPage;
class PreferencesPage;
class SelfTestDialog;

// Pages of the window, for links from one to another.
enum class Page { home, run, stats, network, leaderboard, log, preferences, account };

class MainWindow : public QMainWindow {
  Q_OBJECT

 public:
  MainWindow(models::DaemonModel& daemon, models::HistoryModel& history, QWidget* parent = nullptr);

  void open(Page page);
  // Shows the window, raises it, and gives it the focus.
  void present();
  [[nodiscard]] PreferencesPage& preferences() { return *preferences_; }

 signals:
  void joinWanted();
  void quitWanted(bool stop_training);
  void closed();

 protected:
  void closeEvent(QCloseEvent* event) override;
  void changeEvent(QEvent* event) override;

 private:
  void addPages(models::HistoryModel& history);
  void addMenu();
  void follow();
  void remedy(models::Remedy remedy);
  void testComputer();

  models::DaemonModel& daemon_;
  QTabWidget* tabs_;
  AccountPage* account_;
  QAction* leave_ = nullptr;
  PreferencesPage* preferences_;
  QPointer<SelfTestDialog> self_test_;
};

}  // namespace starling::widgets
