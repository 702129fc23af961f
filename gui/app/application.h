// The assembled program: the link to the daemon, the window, the tray icon, and the wizard.
#pragma once

#include <QObject>
#include <QPointer>
#include <QTimer>
#include <filesystem>
#include <memory>

#include "gui/app/notifier.h"
#include "gui/app/single_instance.h"
#include "gui/app/tray.h"
#include "gui/app/window_settings.h"
#include "gui/models/daemon_model.h"
#include "gui/models/history_model.h"
#include "gui/widgets/first_run_wizard.h"
#include "gui/widgets/main_window.h"

namespace starling::app {

// The command line of the window's program.
struct ApplicationOptions {
  std::filesystem::path data_dir;
  QString daemon_program;  // started if no daemon runs
  bool hidden = false;     // show only the icon in the panel; without a panel, only run the daemon
  QString link;            // join link
};

class Application : public QObject {
  Q_OBJECT

 public:
  explicit Application(const ApplicationOptions& options);
  ~Application() override;

  // False if another instance already runs for this data directory; its window has been shown instead.
  bool start();
  void showWizard(const QString& link);
  // The command to run once this program has ended: its newer version. Empty in most cases.
  [[nodiscard]] const QStringList& successor() const { return successor_; }
  [[nodiscard]] models::DaemonModel& daemon() { return daemon_; }
  [[nodiscard]] widgets::MainWindow& window() { return window_; }
  [[nodiscard]] widgets::FirstRunWizard* wizard() { return wizard_; }

 private:
  void addWindowSettings();
  void follow();
  void watchTray();
  void watchVersion();
  void restart();
  void onClosed();
  void quit(bool stop_training);
  void notify(const QString& title, const QString& words);

  ApplicationOptions options_;
  WindowSettings settings_;
  SingleInstance instance_;
  models::DaemonModel daemon_;
  models::HistoryModel history_;
  Notifier notifier_;
  widgets::MainWindow window_;
  Tray tray_;
  QPointer<widgets::FirstRunWizard> wizard_;
  QTimer tray_watch_;
  bool daemon_started_ = false;  // set once automatically; later starts are on request only
  bool wizard_offered_ = false;
  bool panel_seen_ = false;
  int looks_for_panel_ = 0;
  QStringList successor_;
};

}  // namespace starling::app
