#include "gui/widgets/first_run_wizard.h"

#include <QRegularExpression>
#include <memory>

#include "gui/models/format.h"
#include "gui/widgets/first_run_pages.h"
#include "gui/widgets/first_steps_page.h"
#include "gui/widgets/you_page.h"

namespace starling::widgets {
namespace {

enum PageId { kLink, kGive, kYou, kLimits, kReady, kFirstSteps };

}  // namespace

FirstRunWizard::FirstRunWizard(models::DaemonModel& daemon, QWidget* parent)
    : QWizard(parent), choice_(std::make_shared<FirstRun>()) {
  setWizardStyle(QWizard::ModernStyle);
  setOption(QWizard::NoBackButtonOnStartPage);
  setOption(QWizard::NoBackButtonOnLastPage);
  setOption(QWizard::NoCancelButtonOnLastPage);  // joining has begun and continues
  setPage(kLink, new LinkPage(daemon, choice_));
  setPage(kGive, new GivePage(choice_));
  setPage(kYou, new YouPage(choice_));
  setPage(kLimits, new LimitsPage(choice_));
  setPage(kReady, new ReadyPage(choice_));
  setPage(kFirstSteps, new FirstStepsPage(daemon, choice_));
  connect(this, &QWizard::currentIdChanged, this, [this] {
    tellWhere();
    if (currentPage() != nullptr) currentPage()->setFocus();
  });
  connect(page(kLink), &QWizardPage::completeChanged, this, &FirstRunWizard::tellWhere);
  tellWhere();
  setMinimumSize(480, 400);
  resize(640, 460);
}

void FirstRunWizard::tellWhere() {
  const QWizardPage* shown = currentPage();
  const bool found = page(kLink)->isComplete();
  setWindowTitle(shown == nullptr || !found
                     ? tr("Join a project")
                     : tr("Join %1: %2").arg(models::text(choice_->preview.project), shown->title()));
}

void FirstRunWizard::useLink(const QString& link) { static_cast<LinkPage*>(page(kLink))->useLink(link); }

void FirstRunWizard::changeWho() {
  while (currentId() > kYou) back();
}

void FirstRunWizard::addReadyOption(QWidget* option) { static_cast<ReadyPage*>(page(kReady))->addOption(option); }

QString findJoinLink(const QString& text) {
  static const QRegularExpression link(QStringLiteral("starling://\\S+"), QRegularExpression::CaseInsensitiveOption);
  return link.match(text).captured(0);
}

}  // namespace starling::widgets
