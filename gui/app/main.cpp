// starling-tray: the volunteer's window and the icon in the panel; a client of starlingd and nothing else.
#include <QApplication>
#include <QCommandLineParser>
#include <QProcess>
#include <algorithm>
#include <string_view>

#include "gui/app/application.h"
#include "gui/app/autostart.h"
#include "gui/app/languages.h"
#include "gui/app/link_handler.h"
#include "gui/app/theme.h"
#include "gui/link/daemon_starter.h"
#include "shared/base/files.h"
#include "shared/base/paths.h"
#include "shared/base/version.h"

namespace {

using namespace starling;

app::ApplicationOptions readOptions(const QApplication& qt) {
  QCommandLineParser parser;
  parser.setApplicationDescription(
      QApplication::translate("main", "Starling: this computer's idle time for a community's neural network"));
  const QCommandLineOption data_dir(QStringLiteral("data-dir"),
                                    QApplication::translate("main", "The daemon's data directory"),
                                    QStringLiteral("folder"), QString::fromStdString(default_data_dir().string()));
  const QCommandLineOption hidden(QStringLiteral("hidden"),
                                  QApplication::translate("main", "Only the icon in the panel, where there is one"));
  const QCommandLineOption at_login(
      QStringLiteral("at-login"),
      QApplication::translate("main", "As hidden; and nothing at all for who has joined no project"));
  parser.addOptions({data_dir, hidden, at_login});
  parser.addPositionalArgument(QStringLiteral("link"), QApplication::translate("main", "A link to join a project with"),
                               QStringLiteral("[starling://…]"));
  parser.addHelpOption();
  parser.addVersionOption();
  parser.process(qt);
  app::ApplicationOptions options;
  options.data_dir = std::filesystem::absolute(parser.value(data_dir).toStdString());
  options.hidden = parser.isSet(hidden) || parser.isSet(at_login);
  options.link = parser.positionalArguments().value(0);
  return options;
}

// Every login starts this program; a person who has joined nothing must not notice, whatever the display.
bool startedForNothing(int argc, char** argv) {
  const auto at_login = [](const char* argument) { return std::string_view(argument) == "--at-login"; };
  return std::any_of(argv, argv + argc, at_login) && !app::joinedAnything(default_data_dir());
}

int run(const app::ApplicationOptions& options, QStringList& successor) {
  app::Application application(options);
  app::claimLinks();
  const int status = application.start() ? QApplication::exec() : 0;
  successor = application.successor();
  return status;
}

}  // namespace

int main(int argc, char** argv) {
  if (startedForNothing(argc, argv)) return 0;
  QApplication qt(argc, argv);
  QApplication::setApplicationName(QStringLiteral("Starling"));
  QApplication::setApplicationVersion(QString::fromUtf8(kVersion.data(), static_cast<qsizetype>(kVersion.size())));
  QApplication::setDesktopFileName(QStringLiteral(STARLING_APP_ID));  // the desktop entry of this program
  QApplication::setQuitOnLastWindowClosed(false);
  app::ApplicationOptions options = readOptions(qt);
  if (const Status made = ensure_directory(options.data_dir); !made.ok()) qFatal("%s", made.error().message.c_str());
  const app::WindowSettings settings(options.data_dir);
  app::applyTheme(settings.theme());
  app::applyLanguage(settings.language());
  options.daemon_program = link::findProgram(QStringLiteral("starlingd"));
  QStringList successor;
  const int status = run(options, successor);
  if (!successor.isEmpty()) QProcess::startDetached(successor.first(), successor.mid(1));
  return status;
}
