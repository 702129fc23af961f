#include "gui/widgets/stats_page.h"

#include <QComboBox>
#include <QGridLayout>
#include <QHBoxLayout>
#include <QLabel>
#include <QResizeEvent>
#include <QVBoxLayout>

#include "gui/models/format.h"
#include "gui/widgets/figure_grid.h"
#include "gui/widgets/plot.h"

namespace starling::widgets {
namespace {

using wire::HistoryPoint;
using wire::HistorySpan;

constexpr int kTwoColumnsWidth = 620;
constexpr int kSpacing = 12;
constexpr std::int64_t kDayMs = 24 * 60 * 60 * 1000;
enum Figure { kSamples, kCredit, kRounds, kTraffic };

// The beginning of the span: a computer that was off also has points older than that.
WallTime beginOf(HistorySpan span) {
  const std::int64_t days = span == HistorySpan::day ? 1 : span == HistorySpan::month ? 30 : 100'000;
  return {models::wallNow().unix_ms - days * kDayMs};
}

std::vector<HistoryPoint> since(WallTime from, const std::vector<HistoryPoint>& points) {
  std::vector<HistoryPoint> found;
  for (const HistoryPoint& point : points) {
    if (point.begin >= from) found.push_back(point);
  }
  return found;
}

}  // namespace

StatsPage::StatsPage(models::HistoryModel& history, QWidget* parent)
    : QWidget(parent),
      history_(history),
      spans_(new QComboBox()),
      figures_(new FigureGrid()),
      plots_(new QGridLayout()),
      samples_(new Plot(tr("Samples"), PlotKind::amount)),
      credit_(new Plot(tr("Credit, in all"), PlotKind::line)),
      loss_(new Plot(tr("Training loss"), PlotKind::line)),
      traffic_(new Plot(tr("Averaging traffic, MB"), PlotKind::amount)) {
  spans_->addItem(tr("The last 24 hours"), static_cast<int>(HistorySpan::day));
  spans_->addItem(tr("The last 30 days"), static_cast<int>(HistorySpan::month));
  spans_->addItem(tr("All time"), static_cast<int>(HistorySpan::all));
  spans_->setAccessibleName(tr("Stretch of time"));
  for (const QString& caption : {tr("samples"), tr("credit"), tr("rounds"), tr("averaging traffic")})
    figures_->add(caption);
  auto* choice = new QHBoxLayout();
  choice->addWidget(spans_);
  choice->addStretch(1);
  auto* layout = new QVBoxLayout(this);
  layout->setSpacing(kSpacing);
  layout->addLayout(choice);
  layout->addWidget(figures_);
  layout->addLayout(plots_, 1);
  connect(spans_, &QComboBox::currentIndexChanged, this, &StatsPage::choose);
  connect(&history_, &models::HistoryModel::arrived, this, &StatsPage::showPoints);
}

HistorySpan StatsPage::span() const { return static_cast<HistorySpan>(spans_->currentData().toInt()); }

void StatsPage::showEvent(QShowEvent* event) {
  QWidget::showEvent(event);
  choose();
}

void StatsPage::resizeEvent(QResizeEvent* event) {
  QWidget::resizeEvent(event);
  const int columns = event->size().width() >= kTwoColumnsWidth ? 2 : 1;
  if (columns == columns_) return;
  columns_ = columns;
  int place = 0;
  for (Plot* plot : {samples_, credit_, loss_, traffic_}) {
    plots_->addWidget(plot, place / columns, place % columns);
    ++place;
  }
}

void StatsPage::choose() {
  showPoints(span());
  history_.fetch(span());
}

void StatsPage::showPoints(HistorySpan arrived) {
  if (!isVisible()) return;
  if (arrived == HistorySpan::rounds && span() != HistorySpan::day) return history_.fetch(span());  // a round has ended
  if (arrived != span()) return;
  const WallTime from = beginOf(span());
  const std::vector<HistoryPoint> points = since(from, history_.points(span()));
  samples_->show(span(), points, [](const HistoryPoint& p) { return static_cast<double>(p.samples); });
  credit_->show(span(), points, [](const HistoryPoint& p) { return p.credit; });
  loss_->show(span(), models::withLoss(points), [](const HistoryPoint& p) { return p.loss; });
  traffic_->show(span(), points, [](const HistoryPoint& p) { return static_cast<double>(p.bytes) / 1e6; });
  const models::HistoryModel::Sum sum = models::sumSince(history_.points(span()), from);
  double bytes = 0;
  for (const HistoryPoint& point : points) bytes += static_cast<double>(point.bytes);
  figures_->set(kSamples, models::countText(sum.samples));
  figures_->set(kCredit, models::creditText(sum.credit));
  figures_->set(kRounds, models::countText(sum.rounds));
  figures_->set(kTraffic, models::bytesText(bytes));
}

}  // namespace starling::widgets
