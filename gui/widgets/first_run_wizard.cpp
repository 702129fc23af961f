#include "gui/widgets/first_run_wizard.h"

#include <QRegularExpression>
#include <memory>

#include "gui/widgets/first_run_pages.h"
#include "gui/widgets/first_steps_page.h"

namespace starling::widgets {
namespace {

enum PageId { kLink, kGive, kYou, kLimits, kReady, kFirstSteps };

}  // namespace

FirstRunWizard::FirstRunWizard(models::DaemonModel& daemon, QWidget* parent) : QWizard(parent) {
  const auto choice = std::make_shared<FirstRun>();
  setWindowTitle(tr("Join a project"));
  setWizardStyle(QWizard::ModernStyle);
  setOption(QWizard::NoBackButtonOnStartPage);
  setPage(kLink, new LinkPage(daemon, choice));
  setPage(kGive, new GivePage(choice));
  setPage(kYou, new YouPage(choice));
  setPage(kLimits, new LimitsPage(choice));
  setPage(kReady, new ReadyPage(choice));
  setPage(kFirstSteps, new FirstStepsPage(daemon, choice));
  resize(640, 520);
}

void FirstRunWizard::useLink(const QString& link) { static_cast<LinkPage*>(page(kLink))->useLink(link); }

void FirstRunWizard::addReadyOption(QWidget* option) { static_cast<ReadyPage*>(page(kReady))->addOption(option); }

QString findJoinLink(const QString& text) {
  static const QRegularExpression link(QStringLiteral("starling://\\S+"));
  return link.match(text).captured(0);
}

}  // namespace starling::widgets
