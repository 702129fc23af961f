#include "gui/app/application.h"

#include <doctest/doctest.h>

#include <QAction>
#include <QGuiApplication>
#include <cmath>
#include <fstream>
#include <sstream>
#include <vector>

#include "gui/app/autostart.h"
#include "gui/app/link_handler.h"
#include "gui/app/panel_icon.h"
#include "gui/app/theme.h"
#include "gui/widgets/icons.h"
#include "shared/base/files.h"
#include "tests/gui/support/desk.h"
#include "tests/gui/support/qt_test.h"
#include "tests/gui/support/real_daemon.h"
#include "tests/support/temp_dir.h"

using namespace starling;
using namespace starling::app;
using namespace std::chrono_literals;
using starling::testing::wait_for;

namespace {

ApplicationOptions options_for(const testing::RealDaemon& daemon) {
  ApplicationOptions options;
  options.data_dir = daemon.data_dir();
  options.daemon_program = QString::fromUtf8(testing::RealDaemon::program());
  return options;
}

QAction* action_named(QMenu& menu, const QString& words) {
  for (QAction* action : menu.actions()) {
    if (action->text() == words) return action;
  }
  return nullptr;
}

}  // namespace

TEST_CASE("a program that starts alone starts the daemon, shows its window, and leads to a project") {
  testing::need_qt();
  const testing::RealDaemon nowhere;
  Application application(options_for(nowhere));
  REQUIRE(application.start());
  CHECK(wait_for([&] { return application.daemon().connected(); }));
  CHECK(application.window().isVisible());
  CHECK(wait_for([&] { return application.wizard() != nullptr; }));
  application.daemon().tell(wire::StopDaemon{});
  CHECK(wait_for([&] { return application.daemon().linkState() == link::LinkState::gone; }));
}

TEST_CASE("a second start shows the first one's window, and hands it the link") {
  testing::need_qt();
  testing::RealDaemon daemon;
  daemon.start();
  SingleInstance first(daemon.data_dir());
  CHECK_FALSE(first.handOver({}));
  REQUIRE(first.listen());
  QString heard;
  QObject::connect(&first, &SingleInstance::called, &first, [&](const QString& message) { heard = message; });
  const SingleInstance second(daemon.data_dir());
  CHECK(second.handOver(QStringLiteral("starling://a:1/?ca=00")));
  CHECK(wait_for([&] { return heard == QStringLiteral("starling://a:1/?ca=00"); }));
}

TEST_CASE("the tray's menu says what is going on, and works without a window") {
  testing::need_qt();
  testing::Desk desk;
  models::DaemonModel& model = desk.model();
  Tray tray(model);
  CHECK(wait_for([&] { return action_named(tray.menu(), QStringLiteral("No project yet")) != nullptr; }));
  CHECK_FALSE(action_named(tray.menu(), QStringLiteral("Resume"))->isVisible());
  QMenu* training = action_named(tray.menu(), QStringLiteral("Training"))->menu();
  action_named(*training, QStringLiteral("Never"))->trigger();
  CHECK(wait_for([&] { return model.preferences().compute == wire::UseMode::never; }));
}

TEST_CASE("milestones are the round numbers that were passed, each once") {
  CHECK(milestonePassed(0, 999) == 0);
  CHECK(milestonePassed(999, 1000) == 1000);
  CHECK(milestonePassed(1000, 9000) == 0);
  CHECK(milestonePassed(10, 250'000) == 100'000);
}

TEST_CASE("the five states differ in shape, not in colour alone") {
  testing::need_qt();
  std::vector<QImage> shapes;
  for (const models::Face face : {models::Face::training, models::Face::paused, models::Face::waiting,
                                  models::Face::attention, models::Face::disconnected}) {
    shapes.push_back(widgets::faceIcon(face, Qt::black).pixmap(22, 22).toImage());
    CHECK_FALSE(shapes.back().isNull());
  }
  for (std::size_t a = 0; a < shapes.size(); ++a) {
    for (std::size_t b = 0; b < a; ++b) CHECK(shapes[a] != shapes[b]);
  }
}

TEST_CASE("in both themes words stand out from what is behind them") {
  testing::need_qt();
  const auto luminance = [](const QColor& color) {
    const auto linear = [](double c) { return c <= 0.04045 ? c / 12.92 : std::pow((c + 0.055) / 1.055, 2.4); };
    return 0.2126 * linear(color.redF()) + 0.7152 * linear(color.greenF()) + 0.0722 * linear(color.blueF());
  };
  const auto contrast = [&](QPalette::ColorRole a, QPalette::ColorRole b) {
    const double x = luminance(QGuiApplication::palette().color(a));
    const double y = luminance(QGuiApplication::palette().color(b));
    return (std::max(x, y) + 0.05) / (std::min(x, y) + 0.05);
  };
  for (const char* theme : {"light", "dark"}) {
    applyTheme(QString::fromLatin1(theme));
    CHECK(contrast(QPalette::WindowText, QPalette::Window) > 7);
    CHECK(contrast(QPalette::Text, QPalette::Base) > 7);
    CHECK(contrast(QPalette::ButtonText, QPalette::Button) > 7);
    CHECK(contrast(QPalette::HighlightedText, QPalette::Highlight) > 4.5);
    CHECK(contrast(QPalette::PlaceholderText, QPalette::Window) > 7);
  }
}

TEST_CASE("starting at login is a file that can be switched on and off") {
  testing::need_qt();
  const testing::TempDir dir;
  qputenv("XDG_CONFIG_HOME", (dir / "user").c_str());
  qputenv("XDG_CONFIG_DIRS", (dir / "everybody").c_str());
  CHECK_FALSE(autostartOn());
  CHECK(setAutostart(true));
  CHECK(autostartOn());
  CHECK(setAutostart(false));
  CHECK_FALSE(autostartOn());
  CHECK_FALSE(std::filesystem::exists(dir / "user/autostart/starling-tray.desktop"));
}

TEST_CASE("a package's entry for everybody counts until the user, or the user's desktop, says no") {
  testing::need_qt();
  const testing::TempDir dir;
  qputenv("XDG_CONFIG_HOME", (dir / "user").c_str());
  qputenv("XDG_CONFIG_DIRS", (dir / "everybody").c_str());
  std::filesystem::create_directories(dir / "everybody/autostart");
  const char entry[] = "[Desktop Entry]\nType=Application\nName=Starling\nExec=starling-tray --at-login\n";
  REQUIRE(write_file_atomically(dir / "everybody/autostart/starling-tray.desktop", entry).ok());
  CHECK(autostartOn());
  CHECK(setAutostart(false));
  CHECK_FALSE(autostartOn());
  CHECK(setAutostart(true));
  CHECK(autostartOn());
  const std::string by_desktop = std::string(entry) + "X-GNOME-Autostart-enabled=false\n";
  REQUIRE(write_file_atomically(dir / "user/autostart/starling-tray.desktop", by_desktop).ok());
  CHECK_FALSE(autostartOn());
}

TEST_CASE("who has joined no project is not a volunteer yet") {
  const testing::TempDir dir;
  CHECK_FALSE(joinedAnything(dir / "nothing"));
  CHECK_FALSE(joinedAnything(dir.path()));
  std::filesystem::create_directories(dir / "projects");
  CHECK_FALSE(joinedAnything(dir.path()));
  std::filesystem::create_directories(dir / "projects/1");
  CHECK(joinedAnything(dir.path()));
  REQUIRE(write_file_atomically(dir / "project.json", "{}").ok());
  std::filesystem::remove_all(dir / "projects");
  CHECK(joinedAnything(dir.path()));
}

TEST_CASE("a panel that knows icons by name gets this installation's symbolic ones, every other a drawing") {
  testing::need_qt();
  const testing::TempDir dir;
  const std::string name = STARLING_APP_ID "-training-symbolic";
  const std::filesystem::path folder = dir / "hicolor/symbolic/apps";
  std::filesystem::create_directories(folder);
  REQUIRE(write_file_atomically(dir / "hicolor/index.theme",
                                "[Icon Theme]\nName=Hicolor\nDirectories=symbolic/apps\n\n[symbolic/apps]\n"
                                "Size=16\nMinSize=8\nMaxSize=512\nType=Scalable\n")
              .ok());
  REQUIRE(write_file_atomically(folder / (name + ".svg"), "<svg xmlns=\"http://www.w3.org/2000/svg\"/>").ok());
  QIcon::setThemeSearchPaths({QString::fromStdString(dir.path().string())});
  QIcon::setThemeName(QStringLiteral("hicolor"));
  CHECK(panelIcon(models::Face::training, true, Qt::black).name().toStdString() == name);
  CHECK(panelIcon(models::Face::training, false, Qt::black).name().isEmpty());
  const QIcon drawn = panelIcon(models::Face::paused, true, Qt::black);  // this installation has no such icon
  CHECK(drawn.name().isEmpty());
  CHECK_FALSE(drawn.pixmap(22, 22).isNull());
}

TEST_CASE("a copy that nobody installed takes starling:// links, once, and leaves them to an installed one") {
  testing::need_qt();
  const testing::TempDir home;
  const QByteArray before = qgetenv("XDG_DATA_HOME");
  qputenv("XDG_DATA_HOME", home.path().c_str());
  qputenv("XDG_DATA_DIRS", (home.path() / "usr").c_str());
  const auto applications = home.path() / "applications";
  const auto entry = applications / "starling-tray-links.desktop";
  std::filesystem::create_directories(applications);
  const auto packaged = applications / "org.starling.Starling.desktop";
  std::ofstream(packaged) << "MimeType=x-scheme-handler/starling;\n";
  claimLinks();
  CHECK_FALSE(std::filesystem::exists(entry));
  std::filesystem::remove(packaged);
  claimLinks();
  REQUIRE(std::filesystem::exists(entry));
  std::ostringstream text;
  text << std::ifstream(entry).rdbuf();
  CHECK(text.str().find("MimeType=x-scheme-handler/starling;") != std::string::npos);
  CHECK(text.str().find(QCoreApplication::applicationFilePath().toStdString()) != std::string::npos);
  qputenv("XDG_DATA_HOME", before);
  qunsetenv("XDG_DATA_DIRS");
}
