#include "gui/widgets/first_steps_page.h"

#include <QLabel>
#include <QPushButton>
#include <QVBoxLayout>

#include "gui/models/daemon_words.h"
#include "gui/models/format.h"

namespace starling::widgets {

FirstStepsPage::FirstStepsPage(models::DaemonModel& daemon, std::shared_ptr<FirstRun> choice)
    : daemon_(daemon),
      choice_(std::move(choice)),
      message_(new QLabel()),
      again_(new QPushButton(tr("Try again"))),
      change_(new QPushButton(tr("Change the name or the password…"))) {
  setTitle(tr("First steps"));
  setSubTitle(tr("You may close this window at any time: it goes on by itself."));
  auto* layout = new QVBoxLayout(this);
  for (QLabel*& step : steps_) {
    step = new QLabel();
    step->setWordWrap(true);
    layout->addWidget(step);
    layout->addSpacing(6);
  }
  steps_[kAccepted]->setObjectName(QStringLiteral("accepted"));
  QFont large = message_->font();
  large.setBold(true);
  message_->setFont(large);
  message_->setWordWrap(true);
  message_->setTextInteractionFlags(Qt::TextSelectableByMouse);
  layout->addSpacing(8);
  layout->addWidget(message_);
  layout->addWidget(change_, 0, Qt::AlignLeft);
  layout->addWidget(again_, 0, Qt::AlignLeft);
  layout->addStretch(1);
  auto* way_out = new QLabel(tr(
      "To stop for a while, press Pause in the window. To stop for good, choose “Leave this project…” in its menu ☰."));
  way_out->setWordWrap(true);
  layout->addWidget(way_out);
  message_->setObjectName(QStringLiteral("message"));
  change_->setObjectName(QStringLiteral("change"));
  connect(again_, &QPushButton::clicked, this, &FirstStepsPage::setLimitsAndJoin);
  connect(change_, &QPushButton::clicked, this, [this] { static_cast<FirstRunWizard*>(wizard())->changeWho(); });
  connect(&daemon_, &models::DaemonModel::changed, this, &FirstStepsPage::showStatus);
}

void FirstStepsPage::initializePage() {
  joined_ = false;
  showStatus();
  setLimitsAndJoin();
}

// Sets the limits first: nothing is trained beyond them, not even for a moment.
void FirstStepsPage::setLimitsAndJoin() {
  again_->hide();
  change_->hide();
  message_->setText(tr("Joining…"));
  daemon_.ask(wire::SetPreferences{choice_->preset}, this, [this](const link::Reply& set) {
    if (!set.ok()) return fail(set.error());
    const wire::JoinProject join{choice_->link, choice_->name, choice_->password, choice_->email};
    daemon_.ask(join, this, [this](const link::Reply& joined) {
      if (!joined.ok()) return fail(joined.error());
      joined_ = true;
      choice_->password.clear();
      message_->clear();
      emit completeChanged();
      showStatus();
      daemon_.fetchPreferences();
    });
  });
}

void FirstStepsPage::fail(const Error& error) {
  message_->setText(tr("That did not work: %1").arg(models::errorWords(error)));
  again_->show();
  change_->show();
  change_->setFocus();
}

void FirstStepsPage::mark(Step step, bool done, const QString& words) {
  const QString text = (done ? QStringLiteral("✓  ") : QStringLiteral("○  ")) + words;
  if (steps_[step]->text() == text) return;
  steps_[step]->setText(text);
  QFont font = steps_[step]->font();
  font.setBold(done);
  steps_[step]->setFont(font);
}

void FirstStepsPage::showStatus() {
  const wire::DaemonStatus& status = daemon_.status();
  const bool here = joined_ && daemon_.connected();
  const bool prepared = here && !status.membership.run_id.empty();
  const bool trained = prepared && (status.training.samples_total > 0 || status.training.samples_credited > 0);
  const bool accepted = prepared && status.training.samples_credited > 0;
  mark(kJoined, here, tr("Joined %1").arg(models::text(choice_->preview.project)));
  mark(kPrepared, prepared, tr("The model and its data are on this computer"));
  const std::string& reach = status.reach.reachability;
  const bool tested = prepared && (reach == "reachable" || reach == "blocked");
  mark(kReached, tested,
       !tested ? tr("Connection test: can others call this computer?")
       : reach == "reachable"
           ? tr("Connection test passed: members connect directly, strangers get no answer")
           : tr("Connection test: others cannot call this computer, so it calls them; full credit all the same"));
  mark(kTrained, trained, tr("The first samples are computed"));
  mark(kAccepted, accepted,
       accepted
           ? tr("The first samples are accepted: %1 so far").arg(models::countText(status.training.samples_credited))
           : tr("The first samples are accepted"));
  if (accepted) {
    message_->setText(tr("Thank you! The model has learned from this computer."));
  } else if (here) {
    const models::Situation situation = daemon_.situation();
    message_->setText(situation.face == models::Face::training ? QString() : situation.headline);
  }
}

}  // namespace starling::widgets
