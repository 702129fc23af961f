#include "gui/widgets/home_page.h"

#include <QAction>
#include <QEvent>
#include <QHBoxLayout>
#include <QLabel>
#include <QMenu>
#include <QPushButton>
#include <QVBoxLayout>

#include "gui/models/daemon_words.h"
#include "gui/models/format.h"
#include "gui/widgets/figure_grid.h"
#include "gui/widgets/icons.h"
#include "gui/widgets/plot.h"
#include "gui/widgets/snooze_menu.h"

namespace starling::widgets {
namespace {

constexpr int kIconSize = 48;
enum Figure { kToday, kCredit, kSwarm, kQuality, kFigures };

QString problemText(const std::vector<std::string>& problems) {
  QString lines;
  for (const std::string& problem : problems) {
    lines += (lines.isEmpty() ? QStringLiteral("⚠ ") : QStringLiteral("\n⚠ ")) + models::daemonWords(problem);
  }
  return lines;
}

// The end of a sentence about accepted samples.
QString pendingText(const std::optional<wire::CheckedWork>& checked) {
  if (!checked || checked->pending <= 0) return {};
  return HomePage::tr(". The credit of %1 of them is pending: others may still check that work")
      .arg(models::countText(checked->pending));
}

}  // namespace

HomePage::HomePage(models::DaemonModel& daemon, models::HistoryModel& history, QWidget* parent)
    : QWidget(parent), daemon_(daemon), history_(history) {
  auto* layout = new QVBoxLayout(this);
  layout->setSpacing(14);
  layout->addWidget(makeSituationBox());
  figures_ = new FigureGrid();
  for (const QString& caption :
       {tr("samples computed here today"), tr("credit: points for accepted work, not money"),
        tr("computers in the run, this one included"), tr("test score on unseen data; lower is better")}) {
    figures_->add(caption);
  }
  layout->addWidget(figures_);
  loss_ = new Plot(tr("The model learns: training loss by round, lower is better"), PlotKind::line);
  layout->addWidget(loss_, 1);
  layout->addStretch(0);  // takes the remaining room if there is no plot
  connect(&daemon_, &models::DaemonModel::changed, this, &HomePage::showStatus);
  connect(&history_, &models::HistoryModel::arrived, this, &HomePage::showHistory);
  showStatus();
}

QWidget* HomePage::makeSituationBox() {
  icon_ = new QLabel();
  headline_ = new QLabel();
  headline_->setObjectName(QStringLiteral("headline"));
  QFont large = headline_->font();
  large.setPointSizeF(large.pointSizeF() * 1.5);
  large.setBold(true);
  headline_->setFont(large);
  detail_ = new QLabel();
  problems_ = new QLabel();
  problems_->setObjectName(QStringLiteral("problems"));
  for (QLabel* label : {headline_, detail_, problems_}) {
    label->setWordWrap(true);
    label->setTextInteractionFlags(Qt::TextSelectableByMouse);
  }
  self_test_ = new QPushButton(tr("Test this computer…"));
  self_test_->setObjectName(QStringLiteral("self_test"));
  self_test_->setToolTip(tr("Finds out within half a minute whether this computer computes right"));
  connect(self_test_, &QPushButton::clicked, this, &HomePage::selfTestWanted);
  action_ = new QPushButton();
  action_->setObjectName(QStringLiteral("action"));
  pause_ = new QPushButton(tr("Pause"));
  pause_->setObjectName(QStringLiteral("pause"));
  pause_->setToolTip(tr("Stops at once, and frees processor, graphics card and memory, until you resume"));
  snooze_ = new QPushButton(tr("Pause for…"));
  snooze_->setToolTip(tr("Goes on by itself after the time you choose"));
  snooze_->setMenu(makeSnoozeMenu(daemon_, false, snooze_));
  snooze_->menu()->addSeparator();
  after_round_ =
      snooze_->menu()->addAction(tr("Pause when this round is done"), this, [this] { pauseAfterRound(daemon_); });
  connect(action_, &QPushButton::clicked, this, &HomePage::act);
  connect(pause_, &QPushButton::clicked, this, [this] { pauseNow(daemon_); });
  auto* buttons = new QHBoxLayout();
  buttons->addWidget(action_);
  buttons->addWidget(pause_);
  buttons->addWidget(snooze_);
  buttons->addStretch(1);
  auto* words = new QVBoxLayout();
  words->addWidget(headline_);
  words->addWidget(detail_);
  words->addWidget(problems_);
  words->addWidget(self_test_, 0, Qt::AlignLeft);
  words->addLayout(buttons);
  auto* box = new QWidget();
  auto* row = new QHBoxLayout(box);
  row->setContentsMargins(0, 0, 0, 0);
  row->setSpacing(16);
  row->addWidget(icon_, 0, Qt::AlignTop);
  row->addLayout(words, 1);
  return box;
}

void HomePage::changeEvent(QEvent* event) {
  QWidget::changeEvent(event);
  if (event->type() == QEvent::PaletteChange) showStatus();
}

void HomePage::showStatus() {
  showSituation(daemon_.situation());
  const wire::DaemonStatus& status = daemon_.status();
  const bool joined = daemon_.connected() && !status.membership.project.empty();
  figures_->setVisible(!status.membership.project.empty());
  loss_->setVisible(!status.membership.project.empty());
  figures_->setEnabled(joined);
  problems_->setText(daemon_.connected() ? problemText(status.problems) : QString());
  problems_->setVisible(!problems_->text().isEmpty());
  self_test_->setVisible(daemon_.connected() && status.checked && !status.checked->verdict.empty());
  figures_->set(
      kCredit, models::creditText(status.training.credit),
      tr("%1 samples accepted from you in this run").arg(models::countText(status.training.samples_credited)) +
          pendingText(status.checked));
  figures_->set(kSwarm, models::countText(status.swarm.size),
                tr("%1 samples a second together, %2 of them here")
                    .arg(models::numberText(status.swarm.samples_per_s, 1),
                         models::numberText(status.training.samples_per_s, 1)));
  figures_->set(
      kQuality,
      status.training.validation_bits_per_byte ? models::numberText(*status.training.validation_bits_per_byte, 3)
                                               : QStringLiteral("–"),
      (status.training.validation_accuracy
           ? tr("%1 % of them guessed right. ").arg(models::numberText(100 * *status.training.validation_accuracy, 1))
           : QString()) +
          tr("Bits per byte, or per label, of data that the model is not trained on; lower is better"));
}

void HomePage::showSituation(const models::Situation& situation) {
  situation_ = situation;
  const QIcon icon = faceIcon(situation.face, palette().color(QPalette::WindowText));
  icon_->setPixmap(icon.pixmap(QSize(kIconSize, kIconSize), devicePixelRatioF()));
  icon_->setAccessibleName(models::faceName(situation.face));
  icon_->setToolTip(models::faceName(situation.face));
  if (headline_->text() != situation.headline) headline_->setText(situation.headline);
  if (detail_->text() != situation.detail) detail_->setText(situation.detail);
  detail_->setVisible(!situation.detail.isEmpty());
  action_->setVisible(!situation.action.isEmpty());
  action_->setText(situation.action);
  const bool joined = daemon_.connected() && !daemon_.status().membership.project.empty();
  pause_->setVisible(joined && situation.face != models::Face::paused);
  snooze_->setVisible(joined);
  after_round_->setVisible(joined && situation.face == models::Face::training &&
                           !daemon_.status().rules.pause_after_round);
}

void HomePage::showHistory() {
  const models::HistoryModel::Sum today = history_.today();
  figures_->set(kToday, models::countText(today.samples),
                tr("%1 credit in %n round(s) since midnight", nullptr, static_cast<int>(today.rounds))
                    .arg(models::creditText(today.credit)));
  const auto& rounds = history_.points(wire::HistorySpan::rounds);
  loss_->show(wire::HistorySpan::rounds, models::withLoss(rounds), [](const wire::HistoryPoint& p) { return p.loss; });
}

void HomePage::act() {
  if (situation_.remedy == models::Remedy::request) {
    daemon_.tell(situation_.request);
  } else if (situation_.remedy == models::Remedy::start_daemon) {
    daemon_.startDaemon();
  } else {
    emit wanted(situation_.remedy);
  }
}

}  // namespace starling::widgets
