#include "gui/app/application.h"

#include <QApplication>
#include <QCheckBox>
#include <QComboBox>
#include <QFormLayout>
#include <QMessageBox>
#include <QPushButton>
#include <QStatusBar>
#include <QSystemTrayIcon>

#include "gui/app/autostart.h"
#include "gui/app/languages.h"
#include "gui/app/theme.h"
#include "gui/link/daemon_starter.h"
#include "gui/widgets/preferences_page.h"
#include "shared/base/version.h"

namespace starling::app {
namespace {

constexpr std::chrono::milliseconds kVisiblePace{200};
constexpr std::chrono::milliseconds kHiddenPace{1000};
constexpr std::chrono::seconds kTrayWatch{3};
constexpr int kPanelLooks = 10;  // at login the panel may appear later than this program
constexpr int kMessageMs = 10000;

QCheckBox* makeAutostartSwitch() {
  auto* box = new QCheckBox(Application::tr("Start Starling, and with it training, when I log in"));
  box->setChecked(autostartOn());
  QObject::connect(box, &QCheckBox::toggled, box, [box](bool on) {
    if (!setAutostart(on)) box->setChecked(autostartOn());
  });
  return box;
}

QWidget* makeChoice(const QString& label, const QList<std::pair<QString, QString>>& values, const QString& now,
                    const std::function<void(const QString&)>& chosen) {
  auto* box = new QComboBox();
  for (const auto& [words, value] : values) box->addItem(words, value);
  box->setCurrentIndex(box->findData(now));
  box->setAccessibleName(label);
  QObject::connect(box, &QComboBox::activated, box, [box, chosen] { chosen(box->currentData().toString()); });
  auto* row = new QWidget();
  auto* layout = new QFormLayout(row);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->addRow(label, box);
  return row;
}

}  // namespace

Application::Application(const ApplicationOptions& options)
    : options_(options),
      settings_(options.data_dir),
      instance_(options.data_dir),
      daemon_({options.data_dir}, options.daemon_program),
      history_(daemon_),
      notifier_(daemon_),
      window_(daemon_, history_),
      tray_(daemon_) {
  addWindowSettings();
  window_.restoreGeometry(settings_.geometry());
  connect(&window_, &widgets::MainWindow::joinWanted, this, [this] { showWizard({}); });
  connect(&window_, &widgets::MainWindow::quitWanted, this, &Application::quit);
  // Queued, so that the window is out of sight before its closing is explained.
  connect(&window_, &widgets::MainWindow::closed, this, &Application::onClosed, Qt::QueuedConnection);
  connect(&tray_, &Tray::windowWanted, &window_, &widgets::MainWindow::present);
  connect(&tray_, &Tray::pageWanted, this, [this](widgets::Page page) {
    window_.open(page);
    window_.present();
  });
  connect(&tray_, &Tray::quitWanted, this, &Application::quit);
  connect(&tray_, &Tray::restartWanted, this, &Application::restart);
  connect(&notifier_, &Notifier::noticed, this, &Application::notify);
  connect(&daemon_, &models::DaemonModel::changed, this, &Application::follow);
  connect(&instance_, &SingleInstance::called, this, [this](const QString& link) {
    window_.present();
    if (!link.isEmpty()) showWizard(link);
  });
  connect(&tray_watch_, &QTimer::timeout, this, &Application::watchTray);
}

Application::~Application() { delete wizard_; }

bool Application::start() {
  if (instance_.handOver(options_.link)) return false;
  instance_.listen();
  daemon_.open();
  tray_watch_.start(kTrayWatch);
  if (!options_.hidden) window_.present();
  if (!options_.link.isEmpty()) showWizard(options_.link);
  return true;
}

void Application::addWindowSettings() {
  QWidget* theme = makeChoice(tr("Colours"),
                              {{tr("As the desktop"), QStringLiteral("system")},
                               {tr("Light"), QStringLiteral("light")},
                               {tr("Dark"), QStringLiteral("dark")}},
                              settings_.theme(), [this](const QString& chosen) {
                                settings_.setTheme(chosen);
                                applyTheme(chosen);
                              });
  QWidget* language =
      makeChoice(tr("Language (from the next start)"),
                 {{tr("As the desktop"), QStringLiteral("system")},
                  {QStringLiteral("English"), QStringLiteral("en")},
                  {QStringLiteral("Русский"), QStringLiteral("ru")}},
                 settings_.language(), [this](const QString& chosen) { settings_.setLanguage(chosen); });
  window_.preferences().addGroup(tr("This window"), {makeAutostartSwitch(), theme, language});
}

// Starts a daemon that does not run at the beginning, and leads a person without a project to one.
void Application::follow() {
  daemon_.setPace(window_.isVisible() ? kVisiblePace : kHiddenPace);
  if (daemon_.linkState() == link::LinkState::gone && !daemon_started_) {
    daemon_started_ = true;
    daemon_.startDaemon();
  }
  if (!daemon_.connected()) return;
  daemon_started_ = true;
  watchVersion();
  if (!window_.isVisible()) return;
  if (!wizard_offered_ && daemon_.status().membership.project.empty()) showWizard({});
  wizard_offered_ = true;
}

// An update replaces the daemon at once; the window follows when nobody looks at it, or on request.
void Application::watchVersion() {
  const bool replaced =
      daemon_.status().version != kVersion && !link::successorOf(QApplication::applicationFilePath()).isEmpty();
  tray_.setReplaced(replaced);
  if (replaced && !window_.isVisible() && wizard_ == nullptr) restart();
}

void Application::restart() {
  const QString program = link::successorOf(QApplication::applicationFilePath());
  if (program.isEmpty()) return;
  successor_ = {program, QStringLiteral("--data-dir"), QString::fromStdString(options_.data_dir.string())};
  if (!window_.isVisible()) successor_ += QStringLiteral("--hidden");
  quit(false);
}

void Application::showWizard(const QString& link) {
  if (wizard_ == nullptr) {
    wizard_ = new widgets::FirstRunWizard(daemon_, &window_);
    wizard_->setAttribute(Qt::WA_DeleteOnClose);
    wizard_->addReadyOption(makeAutostartSwitch());
  }
  if (!link.isEmpty()) wizard_->useLink(link);
  wizard_->show();
  wizard_->raise();
  wizard_->activateWindow();
}

// Without a panel nobody could find a hidden window, so it is shown when the panel disappears. If there never was a
// panel, a program that starts hidden at every login shows no window: only the daemon matters then.
void Application::watchTray() {
  const bool has_tray = QSystemTrayIcon::isSystemTrayAvailable();
  if (has_tray) panel_seen_ = true;
  if (has_tray || window_.isVisible()) return;
  if (panel_seen_ || !options_.hidden) return window_.present();
  if (++looks_for_panel_ >= kPanelLooks && daemon_started_) quit(false);
}

void Application::onClosed() {
  settings_.setGeometry(window_.saveGeometry());
  const bool has_tray = QSystemTrayIcon::isSystemTrayAvailable();
  if (settings_.firstTime(has_tray ? QStringLiteral("closing") : QStringLiteral("closing_without_tray"))) {
    const QString words =
        has_tray ? tr("The window is closed, and training goes on within your limits. The bird in the panel brings the "
                      "window back.")
                 : tr("The window is closed, and training goes on within your limits. Start Starling again to see it.");
    QMessageBox box(QMessageBox::Information, tr("Starling goes on"),
                    words + QStringLiteral("\n\n") +
                        (autostartOn() ? tr("When you log in the next time, it starts by itself; the preferences can "
                                            "switch that off.")
                                       : tr("When you log in the next time, it does not start by itself; the "
                                            "preferences can switch that on.")));
    box.addButton(tr("All right"), QMessageBox::AcceptRole);
    const QPushButton* stop = box.addButton(tr("Stop training instead"), QMessageBox::DestructiveRole);
    box.exec();
    if (box.clickedButton() == stop) return quit(true);
  }
  if (!has_tray) quit(false);
}

void Application::quit(bool stop_training) {
  settings_.setGeometry(window_.saveGeometry());
  if (!stop_training || !daemon_.connected()) return QApplication::quit();
  daemon_.ask(wire::StopDaemon{}, this, [](const link::Reply&) { QApplication::quit(); });
}

void Application::notify(const QString& title, const QString& words) {
  tray_.notify(title, words);
  window_.statusBar()->showMessage(title + QStringLiteral(": ") + words, kMessageMs);
}

}  // namespace starling::app
