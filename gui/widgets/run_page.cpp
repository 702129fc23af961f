#include "gui/widgets/run_page.h"

#include <QLabel>
#include <QProgressBar>
#include <QTableView>
#include <QVBoxLayout>
#include <algorithm>
#include <cmath>

#include "gui/models/daemon_words.h"
#include "gui/models/format.h"
#include "gui/widgets/figure_grid.h"
#include "gui/widgets/plot.h"
#include "gui/widgets/table.h"

namespace starling::widgets {
namespace {

enum Figure { kRounds, kHere, kSwarm, kUpload, kDownload };
constexpr int kProgressSteps = 1000;

QVariant measured(double value) { return QVariant::fromValue(models::Measured{value, 1}); }

QString phaseText(wire::DaemonPhase phase) {
  using wire::DaemonPhase;
  switch (phase) {
    case DaemonPhase::training:
      return RunPage::tr("Computing gradients on this computer's samples");
    case DaemonPhase::averaging:
      return RunPage::tr("Averaging with the group");
    case DaemonPhase::stepping:
      return RunPage::tr("Applying the averaged gradient to the model");
    case DaemonPhase::evaluating:
      return RunPage::tr("Measuring the model on data it has not seen");
    case DaemonPhase::downloading:
      return RunPage::tr("Downloading the model from other volunteers");
    case DaemonPhase::paused:
      return RunPage::tr("Paused");
    case DaemonPhase::idle:
    case DaemonPhase::preparing:
    case DaemonPhase::joining:
    case DaemonPhase::waiting:
      return RunPage::tr("Waiting");
  }
  return {};
}

QString roleText(const std::string& role, double part) {
  if (role == "client-only") return RunPage::tr("contributes; cannot be called");
  if (role == "auxiliary") return RunPage::tr("averages for others");
  if (role == "deferred") return RunPage::tr("contributes; gets the result later");
  return part > 0 ? RunPage::tr("contributes and averages a part") : RunPage::tr("contributes");
}

// The device that computes, and why the graphics card does not.
QString computingText(const wire::DaemonStatus& status) {
  const auto& device = status.computing.device;
  std::string unused = device ? device->card_unused : std::string();
  if (unused.empty() && status.rules.gpu_present && !status.rules.gpu) unused = status.rules.gpu_reason;
  QString lines = models::deviceWords(status.computing);
  if (!unused.empty()) {
    lines += QLatin1Char('\n') + RunPage::tr("The graphics card is not used: %1").arg(models::cardWords(unused));
  }
  return lines;
}

}  // namespace

RunPage::RunPage(models::DaemonModel& daemon, models::HistoryModel& history, QWidget* parent)
    : QWidget(parent),
      daemon_(daemon),
      history_(history),
      peers_(new models::RowsModel(
          {tr("Computer"), tr("Samples last round"), tr("Part of the model, %"), tr("From here, Mbit/s"),
           tr("To here, Mbit/s"), tr("Round trip, ms"), tr("Connection"), tr("What it does")},
          this)),
      phase_(new QLabel()),
      plan_(new QLabel()),
      device_(new QLabel()),
      round_(new QProgressBar()),
      figures_(new FigureGrid()),
      contribution_(new Plot(tr("Samples of this computer by round"), PlotKind::amount)) {
  QFont bold = phase_->font();
  bold.setBold(true);
  phase_->setFont(bold);
  phase_->setWordWrap(true);
  plan_->setWordWrap(true);
  device_->setObjectName(QStringLiteral("device"));
  device_->setWordWrap(true);
  device_->setTextFormat(Qt::PlainText);  // it has names that a driver gave
  round_->setRange(0, kProgressSteps);
  round_->setAccessibleName(tr("Progress of the round"));
  for (const QString& caption :
       {tr("rounds done here since the start"), tr("samples a second, here"), tr("samples a second, all together"),
        tr("upload, measured"), tr("download, measured")}) {
    figures_->add(caption);
  }
  auto* heading = new QLabel(tr("Computers of the last averaging, by pseudonym"));
  heading->setFont(bold);
  heading->setWordWrap(true);
  auto* layout = new QVBoxLayout(this);
  layout->addWidget(phase_);
  layout->addWidget(round_);
  layout->addWidget(figures_);
  layout->addWidget(device_);
  layout->addWidget(contribution_, 1);
  layout->addWidget(heading);
  layout->addWidget(plan_);
  layout->addWidget(makeTable(peers_, heading->text(),
                              {.sorting = true, .wide_column = 0, .wide_min = 110, .spare = {7, 6, 2, 5, 1, 4, 3}}),
                    1);
  connect(&daemon_, &models::DaemonModel::changed, this, &RunPage::showStatus);
  connect(&history_, &models::HistoryModel::arrived, this, &RunPage::showHistory);
}

void RunPage::showEvent(QShowEvent* event) {
  QWidget::showEvent(event);
  rounds_shown_ = -1;
  showStatus();
  showHistory();
}

void RunPage::showStatus() {
  if (!isVisible()) return;
  const wire::DaemonStatus& status = daemon_.status();
  phase_->setText(tr("Round %1: %2").arg(models::countText(status.training.round), phaseText(status.phase)));
  // Figures of other computers arrive with the heartbeats; this computer's own are known at once.
  const SampleCount together = std::max(status.swarm.samples_accumulated, status.training.samples_this_round);
  const double share = status.swarm.target_batch_size > 0
                           ? static_cast<double>(together) / static_cast<double>(status.swarm.target_batch_size)
                           : 0;
  round_->setValue(static_cast<int>(kProgressSteps * std::clamp(share, 0.0, 1.0)));
  const QString here = models::countText(status.training.samples_this_round);
  const QString sum = models::countText(together);
  round_->setFormat(share < 1 ? tr("%1 of %2 samples, %3 by this computer")
                                    .arg(sum, models::countText(status.swarm.target_batch_size), here)
                              : tr("%1 samples: enough for the round; %2 by this computer").arg(sum, here));
  figures_->set(kRounds, models::countText(status.training.rounds_done),
                tr("%n round(s) lost", nullptr, static_cast<int>(status.training.rounds_failed)));
  figures_->set(kHere, models::numberText(status.training.samples_per_s, 1));
  figures_->set(kSwarm, models::numberText(status.swarm.samples_per_s, 1));
  figures_->set(kUpload, models::rateText(status.network.upload_bytes_per_s));
  figures_->set(kDownload, models::rateText(status.network.download_bytes_per_s));
  device_->setText(computingText(status));
  plan_->setText(models::planWords(status.swarm.plan));
  plan_->setVisible(!status.swarm.plan.empty());
  const std::int64_t rounds = status.training.rounds_done + status.training.rounds_failed;
  if (rounds != rounds_shown_) fetchPeers();
  rounds_shown_ = rounds;
}

void RunPage::showHistory() {
  if (!isVisible()) return;
  const auto& rounds = history_.points(wire::HistorySpan::rounds);
  contribution_->show(wire::HistorySpan::rounds, rounds,
                      [](const wire::HistoryPoint& p) { return static_cast<double>(p.samples); });
}

void RunPage::fetchPeers() {
  daemon_.ask(wire::GetPeers{}, this, [this](const link::Reply& reply) {
    if (reply.ok() && reply->peers.has_value()) showPeers(*reply->peers);
  });
}

void RunPage::showPeers(const wire::PeersView& peers) {
  QList<models::RowsModel::Row> rows;
  for (const wire::PeerView& peer : peers.peers) {
    const QString name = models::text(peer.peer.brief());
    rows.append({peer.self ? tr("%1 (this computer)").arg(name) : name, static_cast<qlonglong>(peer.samples),
                 static_cast<qlonglong>(std::lround(100 * peer.part)),
                 measured(models::kMbitPerByte * peer.upload_bytes_per_s),
                 measured(models::kMbitPerByte * peer.download_bytes_per_s), measured(peer.round_trip_ms),
                 peer.relayed ? tr("over a relay") : tr("direct"), roleText(peer.role, peer.part)});
  }
  peers_->setRows(std::move(rows));
}

}  // namespace starling::widgets
