#include "gui/widgets/network_page.h"

#include <QLabel>
#include <QProgressBar>
#include <QPushButton>
#include <QVBoxLayout>
#include <algorithm>

#include "gui/models/format.h"
#include "gui/widgets/figure_grid.h"

namespace starling::widgets {
namespace {

enum Figure { kUpload, kDownload, kSent, kReceived, kRelayed };
constexpr int kProgressSteps = 1000;

struct Words {
  QString verdict;
  QString advice;
};

Words blockedWords(const wire::DaemonStatus& status) {
  const wire::ReachStatus& reach = status.reach;
  QString advice = NetworkPage::tr(
                       "Full credit all the same. To be called directly, let your router forward TCP port %1 "
                       "to this computer.")
                       .arg(status.membership.listen_port);
  if (!reach.address.empty())
    advice += QLatin1Char(' ') + NetworkPage::tr("The project sees it at %1.").arg(models::text(reach.address));
  if (!reach.mapping_problem.empty()) {
    advice += QLatin1Char('\n') +
              NetworkPage::tr("The router was asked to open the port: %1").arg(models::text(reach.mapping_problem));
  }
  if (!reach.relay.is_zero()) {
    return {NetworkPage::tr("Others call this computer over a relay (%1)").arg(models::text(reach.relay.brief())),
            advice};
  }
  if (!reach.relay_problem.empty()) {
    advice += QLatin1Char('\n') + NetworkPage::tr("A relay was tried: %1").arg(models::text(reach.relay_problem));
  }
  return {NetworkPage::tr("Others cannot call this computer; it calls them"), advice};
}

Words wordsOf(const wire::DaemonStatus& status) {
  const wire::ReachStatus& reach = status.reach;
  if (reach.reachability == "blocked") return blockedWords(status);
  if (reach.reachability == "reachable") {
    const QString port = QString::number(reach.mapped_port != 0 ? reach.mapped_port : status.membership.listen_port);
    return {NetworkPage::tr("Other members of the project can call this computer directly"),
            (reach.mapped_port != 0 ? NetworkPage::tr("At %1, port %2, which the router opened by %3.")
                                          .arg(models::text(reach.address), port, models::text(reach.mapped_by))
                                    : NetworkPage::tr("At %1, port %2.").arg(models::text(reach.address), port)) +
                QLatin1Char(' ') + NetworkPage::tr("Nobody without a certificate of this project is answered.")};
  }
  return {NetworkPage::tr("Not known yet whether others can call this computer"),
          NetworkPage::tr("The project's coordinator tries it once this computer takes part.")};
}

QString rateCap(const std::optional<double>& mbit) {
  return mbit ? NetworkPage::tr("%1 Mbit/s").arg(models::numberText(*mbit, 1)) : NetworkPage::tr("no limit");
}

QLabel* makeHeading(const QString& text) {
  auto* label = new QLabel(text);
  QFont bold = label->font();
  bold.setBold(true);
  label->setFont(bold);
  return label;
}

}  // namespace

NetworkPage::NetworkPage(models::DaemonModel& daemon, QWidget* parent)
    : QWidget(parent),
      daemon_(daemon),
      verdict_(makeHeading({})),
      advice_(new QLabel()),
      month_(new QLabel()),
      cap_(new QProgressBar()),
      kinds_(new FigureGrid()),
      limits_(new QLabel()),
      figures_(new FigureGrid()) {
  for (QLabel* label : {verdict_, advice_, month_, limits_}) {
    label->setWordWrap(true);
    label->setTextInteractionFlags(Qt::TextSelectableByMouse);
  }
  cap_->setRange(0, kProgressSteps);
  cap_->setAccessibleName(tr("This month's data against the cap"));
  for (const QString& caption : {tr("upload, measured"), tr("download, measured"), tr("sent since the start"),
                                 tr("received since the start"), tr("passed on for others")}) {
    figures_->add(caption);
  }
  for (const QString& caption : {tr("averaging"), tr("whole models"), tr("coordinator and training data")}) {
    kinds_->add(caption);
  }
  auto* change = new QPushButton(tr("Change the limits…"));
  connect(change, &QPushButton::clicked, this, &NetworkPage::preferencesWanted);
  auto* layout = new QVBoxLayout(this);
  layout->addWidget(verdict_);
  layout->addWidget(advice_);
  layout->addSpacing(12);
  layout->addWidget(makeHeading(tr("The line")));
  layout->addWidget(figures_);
  layout->addSpacing(12);
  layout->addWidget(makeHeading(tr("Data this month")));
  layout->addWidget(month_);
  layout->addWidget(cap_);
  layout->addWidget(kinds_);
  layout->addWidget(limits_);
  layout->addWidget(change, 0, Qt::AlignLeft);
  layout->addStretch(1);
  connect(&daemon_, &models::DaemonModel::changed, this, &NetworkPage::showStatus);
}

void NetworkPage::showEvent(QShowEvent* event) {
  QWidget::showEvent(event);
  showStatus();
}

void NetworkPage::showStatus() {
  if (!isVisible()) return;
  const wire::DaemonStatus& status = daemon_.status();
  const Words words = wordsOf(status);
  if (verdict_->text() != words.verdict) verdict_->setText(words.verdict);
  if (advice_->text() != words.advice) advice_->setText(words.advice);
  figures_->set(kUpload, models::rateText(status.network.upload_bytes_per_s));
  figures_->set(kDownload, models::rateText(status.network.download_bytes_per_s));
  figures_->set(kSent, models::bytesText(static_cast<double>(status.network.bytes_sent)));
  figures_->set(kReceived, models::bytesText(static_cast<double>(status.network.bytes_received)));
  figures_->set(kRelayed, models::bytesText(static_cast<double>(status.reach.bytes)),
                tr("For %n computer(s) that nobody can call", nullptr, static_cast<int>(status.reach.clients)));
  const wire::RulesStatus& rules = status.rules;
  const QString used = models::bytesText(static_cast<double>(rules.month_bytes));
  QString text =
      rules.month_bytes_max > 0
          ? tr("%1 of the %2 you allow").arg(used, models::bytesText(static_cast<double>(rules.month_bytes_max)))
          : tr("%1 so far; no cap is set").arg(used);
  if (rules.month_bytes_forecast > 0) {
    text += tr(", about %1 by its end if it goes on like this")
                .arg(models::bytesText(static_cast<double>(rules.month_bytes_forecast)));
  }
  month_->setText(text + QLatin1Char('.'));
  const std::int64_t kinds[] = {rules.month_averaging_bytes, rules.month_models_bytes, rules.month_coordinator_bytes};
  for (int kind = 0; kind < 3; ++kind) kinds_->set(kind, models::bytesText(static_cast<double>(kinds[kind])));
  cap_->setVisible(rules.month_bytes_max > 0);
  const double share =
      static_cast<double>(rules.month_bytes) / std::max(1.0, static_cast<double>(rules.month_bytes_max));
  cap_->setValue(static_cast<int>(kProgressSteps * std::min(1.0, share)));
  const wire::Preferences& preferences = daemon_.preferences();
  limits_->setText(
      tr("Speed limits: sending %1, receiving %2.")
          .arg(rateCap(preferences.traffic.upload_max_mbit_s), rateCap(preferences.traffic.download_max_mbit_s)));
}

}  // namespace starling::widgets
