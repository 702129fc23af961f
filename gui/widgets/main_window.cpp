#include "gui/widgets/main_window.h"

#include <QAction>
#include <QCloseEvent>
#include <QHBoxLayout>
#include <QMenu>
#include <QMessageBox>
#include <QPushButton>
#include <QScrollArea>
#include <QStatusBar>
#include <QTabBar>
#include <QTabWidget>

#include "gui/link/daemon_starter.h"
#include "gui/models/format.h"
#include "gui/widgets/account_page.h"
#include "gui/widgets/home_page.h"
#include "gui/widgets/icons.h"
#include "gui/widgets/leaderboard_page.h"
#include "gui/widgets/log_page.h"
#include "gui/widgets/network_page.h"
#include "gui/widgets/preferences_page.h"
#include "gui/widgets/run_page.h"
#include "gui/widgets/self_test_dialog.h"
#include "gui/widgets/stats_page.h"

namespace starling::widgets {
namespace {

constexpr int kMessageMs = 8000;
constexpr int kCornerMargin = 6;
constexpr int kPageMargin = 16;

QWidget* padded(QWidget* page) {
  page->layout()->setContentsMargins(kPageMargin, kPageMargin, kPageMargin, kPageMargin);
  return page;
}

// Wraps a page without a scroll bar of its own, so that nothing is lost on small screens or with large letters.
QScrollArea* scrolled(QWidget* page) {
  auto* area = new QScrollArea();
  area->setWidget(padded(page));
  area->setWidgetResizable(true);
  area->setFrameShape(QFrame::NoFrame);
  area->setFocusPolicy(Qt::NoFocus);
  return area;
}

bool needsProject(int tab) {
  const auto page = static_cast<Page>(tab);
  return page == Page::run || page == Page::stats || page == Page::network || page == Page::leaderboard ||
         page == Page::account;
}

}  // namespace

MainWindow::MainWindow(models::DaemonModel& daemon, models::HistoryModel& history, QWidget* parent)
    : QMainWindow(parent),
      daemon_(daemon),
      tabs_(new QTabWidget()),
      account_(new AccountPage(daemon)),
      preferences_(new PreferencesPage(daemon)) {
  setWindowTitle(tr("Starling"));
  setMinimumSize(360, 320);
  resize(860, 640);
  addPages(history);
  addMenu();
  tabs_->setDocumentMode(true);
  setCentralWidget(tabs_);
  statusBar()->setSizeGripEnabled(false);
  connect(&daemon_, &models::DaemonModel::changed, this, &MainWindow::follow);
  connect(&daemon_, &models::DaemonModel::said, this,
          [this](const QString& text) { statusBar()->showMessage(text, kMessageMs); });
  connect(&daemon_, &models::DaemonModel::refused, this, [this](const QString& reason) {
    statusBar()->showMessage(tr("That did not work: %1").arg(reason), kMessageMs);
  });
  follow();
}

void MainWindow::addPages(models::HistoryModel& history) {
  auto* home = new HomePage(daemon_, history);
  auto* network = new NetworkPage(daemon_);
  // Adds the pages in the order of Page.
  tabs_->addTab(scrolled(home), tr("Overview"));
  tabs_->addTab(scrolled(new RunPage(daemon_, history)), tr("Run"));
  tabs_->addTab(scrolled(new StatsPage(history)), tr("Statistics"));
  tabs_->addTab(scrolled(network), tr("Network"));
  tabs_->addTab(padded(new LeaderboardPage(daemon_)), tr("Leaderboard"));
  tabs_->addTab(padded(new LogPage(daemon_)), tr("Log"));
  padded(preferences_->widget());
  tabs_->addTab(preferences_, tr("Preferences"));
  tabs_->addTab(scrolled(account_), tr("Account"));
  for (int tab = 0; tab < tabs_->count(); ++tab) {
    auto* go = new QAction(this);
    go->setShortcut(QKeySequence(Qt::CTRL | static_cast<Qt::Key>(Qt::Key_1 + tab)));
    connect(go, &QAction::triggered, this, [this, tab] {
      if (tabs_->isTabVisible(tab)) tabs_->setCurrentIndex(tab);
    });
    addAction(go);
  }
  connect(account_, &AccountPage::joinWanted, this, &MainWindow::joinWanted);
  connect(home, &HomePage::wanted, this, &MainWindow::remedy);
  connect(home, &HomePage::selfTestWanted, this, &MainWindow::testComputer);
  connect(network, &NetworkPage::preferencesWanted, this, [this] { open(Page::preferences); });
}

void MainWindow::addMenu() {
  auto* menu = new QMenu(this);
  menu->addAction(tr("Join a project…"), this, &MainWindow::joinWanted);
  menu->addAction(tr("Test this computer…"), this, &MainWindow::testComputer);
  menu->addAction(tr("About Starling"), this, [this] {
    QMessageBox::about(
        this, tr("About Starling"),
        tr("Starling %1 gives this computer's idle time to a community's neural network.\n\nFree software "
           "under the GNU General Public License, version 3 or later.")
            .arg(models::text(daemon_.status().version)));
  });
  menu->addSeparator();  // keeps an entry away from its opposite
  leave_ = menu->addAction(tr("Leave this project…"), account_, &AccountPage::leave);
  leave_->setObjectName(QStringLiteral("leave"));
  menu->addSeparator();
  QAction* keep =
      menu->addAction(tr("Quit; training goes on in the background"), this, [this] { emit quitWanted(false); });
  keep->setShortcut(QKeySequence::Quit);
  addAction(keep);
  menu->addAction(tr("Quit, and stop training until Starling starts again"), this, [this] { emit quitWanted(true); });
  auto* button = new QPushButton(QStringLiteral("☰ ") + tr("Menu"));
  button->setAccessibleName(tr("Menu"));
  button->setToolTip(tr("Join or leave a project, test this computer, quit"));
  button->setFlat(true);
  button->setMenu(menu);
  auto* corner = new QWidget();
  auto* layout = new QHBoxLayout(corner);
  layout->setContentsMargins(0, 0, kCornerMargin, 0);
  layout->addWidget(button);
  tabs_->setCornerWidget(corner);
}

void MainWindow::open(Page page) { tabs_->setCurrentIndex(static_cast<int>(page)); }

void MainWindow::present() {
  setWindowState(windowState() & ~Qt::WindowMinimized);
  show();
  raise();
  activateWindow();
}

void MainWindow::follow() {
  const bool connected = daemon_.connected();
  const bool joined = !daemon_.status().membership.project.empty();
  for (int tab = 0; tab < tabs_->count(); ++tab) {
    if (needsProject(tab) && tabs_->isTabVisible(tab) != joined) tabs_->setTabVisible(tab, joined);
    // Such a page would show old figures, and could not send requests.
    if (static_cast<Page>(tab) != Page::home) tabs_->widget(tab)->setEnabled(connected);
  }
  leave_->setVisible(connected && joined);
  const models::Situation situation = daemon_.situation();
  setWindowIcon(faceIcon(situation.face, palette().color(QPalette::WindowText)));
  setWindowTitle(tr("%1 – Starling").arg(situation.headline));
}

void MainWindow::remedy(models::Remedy remedy) {
  if (remedy == models::Remedy::join) emit joinWanted();
  if (remedy == models::Remedy::open_preferences) open(Page::preferences);
  if (remedy == models::Remedy::open_log) open(Page::log);
}

void MainWindow::testComputer() {
  if (self_test_ == nullptr || self_test_->isHidden()) {  // a hidden one only waits for its program to end
    self_test_ = new SelfTestDialog(daemon_, link::findProgram(QStringLiteral("starling")), this);
  }
  self_test_->show();
  self_test_->raise();
  self_test_->activateWindow();
}

void MainWindow::closeEvent(QCloseEvent* event) {
  event->accept();
  emit closed();
}

void MainWindow::changeEvent(QEvent* event) {
  QMainWindow::changeEvent(event);
  if (event->type() == QEvent::PaletteChange) follow();
}

}  // namespace starling::widgets
