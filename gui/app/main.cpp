// starling-tray: the volunteer's window and the icon in the panel; a client of starlingd and nothing else.
#include <QApplication>
#include <QCommandLineParser>

#include "gui/app/application.h"
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
  parser.addOptions({data_dir, hidden});
  parser.addPositionalArgument(QStringLiteral("link"), QApplication::translate("main", "A link to join a project with"),
                               QStringLiteral("[starling://…]"));
  parser.addHelpOption();
  parser.addVersionOption();
  parser.process(qt);
  app::ApplicationOptions options;
  options.data_dir = std::filesystem::absolute(parser.value(data_dir).toStdString());
  options.hidden = parser.isSet(hidden);
  options.link = parser.positionalArguments().value(0);
  return options;
}

}  // namespace

int main(int argc, char** argv) {
  QApplication qt(argc, argv);
  QApplication::setApplicationName(QStringLiteral("Starling"));
  QApplication::setApplicationVersion(QString::fromUtf8(kVersion.data(), static_cast<qsizetype>(kVersion.size())));
  QApplication::setDesktopFileName(QStringLiteral(STARLING_APP_ID));  // the desktop entry beside it
  QApplication::setQuitOnLastWindowClosed(false);
  app::ApplicationOptions options = readOptions(qt);
  if (const Status made = ensure_directory(options.data_dir); !made.ok()) qFatal("%s", made.error().message.c_str());
  const app::WindowSettings settings(options.data_dir);
  app::applyTheme(settings.theme());
  app::applyLanguage(settings.language());
  options.daemon_program = link::findDaemon();
  app::Application application(options);
  app::claimLinks();
  return application.start() ? QApplication::exec() : 0;
}
