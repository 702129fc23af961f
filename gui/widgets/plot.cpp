#include "gui/widgets/plot.h"

#include <QDateTime>
#include <QEvent>
#include <QLabel>
#include <QLocale>
#include <QPainter>
#include <QVBoxLayout>
#include <QtCharts/QAreaSeries>
#include <QtCharts/QChart>
#include <QtCharts/QChartView>
#include <QtCharts/QDateTimeAxis>
#include <QtCharts/QLineSeries>
#include <QtCharts/QValueAxis>
#include <algorithm>

#include "gui/models/format.h"
#include "gui/widgets/plot_scale.h"

namespace starling::widgets {
namespace {

using wire::HistoryPoint;
using wire::HistorySpan;

constexpr int kPlotHeightMin = 150;
constexpr int kStepsAcross = 5;
constexpr int kStepsUp = 4;
constexpr std::int64_t kMinuteMs = 60 * 1000;

// The length of a point's stretch in ms; 0: single rounds.
std::int64_t widthOf(HistorySpan span) {
  switch (span) {
    case HistorySpan::rounds:
      return 0;
    case HistorySpan::day:
      return 5 * kMinuteMs;
    case HistorySpan::month:
      return 120 * kMinuteMs;
    case HistorySpan::all:
      return 24 * 60 * kMinuteMs;
  }
  return 0;
}

double xOf(HistorySpan span, const HistoryPoint& point) {
  return span == HistorySpan::rounds ? static_cast<double>(point.round) : static_cast<double>(point.begin.unix_ms);
}

// A line along the top of each stretch, at zero where there are no points.
QList<QPointF> roofs(HistorySpan span, const std::vector<HistoryPoint>& points, const std::vector<double>& values) {
  const double width = span == HistorySpan::rounds ? 1 : static_cast<double>(widthOf(span));
  QList<QPointF> line;
  for (std::size_t i = 0; i < points.size(); ++i) {
    const double x = xOf(span, points[i]);
    if (line.isEmpty() || line.last().x() < x) {
      if (!line.isEmpty()) line.append({line.last().x(), 0});
      line.append({x, 0});
    }
    line.append({x, values[i]});
    line.append({x + width, values[i]});
  }
  if (!line.isEmpty()) line.append({line.last().x(), 0});
  return line;
}

}  // namespace

struct Plot::Chart {
  QChartView* view = new QChartView();
  QLineSeries* line = new QLineSeries();
  QAreaSeries* area = nullptr;
  QValueAxis* rounds = new QValueAxis();
  QDateTimeAxis* times = new QDateTimeAxis();
  QValueAxis* values = new QValueAxis();

  [[nodiscard]] QAbstractSeries* series() const { return area != nullptr ? static_cast<QAbstractSeries*>(area) : line; }
  // Shows the axis that fits the span.
  void use(HistorySpan span) const {
    QAbstractSeries* of = series();
    QAbstractAxis* wanted = span == HistorySpan::rounds ? static_cast<QAbstractAxis*>(rounds) : times;
    if (of->attachedAxes().contains(wanted)) return;
    for (QAbstractAxis* axis : {static_cast<QAbstractAxis*>(rounds), static_cast<QAbstractAxis*>(times)}) {
      axis->setVisible(axis == wanted);
      if (of->attachedAxes().contains(axis)) of->detachAxis(axis);
    }
    of->attachAxis(wanted);
  }
  void scaleX(HistorySpan span, double first, double last) const {
    if (span == HistorySpan::rounds) {
      rounds->setTickInterval(std::max(1.0, plotScale(first, last, kStepsAcross).step));
      rounds->setRange(first, std::max(last, first + 1));
      return;
    }
    const auto begin = static_cast<std::int64_t>(first);
    const std::int64_t offset_ms = QDateTime::fromMSecsSinceEpoch(begin).offsetFromUtc() * std::int64_t{1000};
    // A single stretch is shown with some time around it.
    const auto least = (kStepsAcross - 1) * widthOf(span);
    const PlotScale scale =
        timeScale(begin, std::max(static_cast<std::int64_t>(last), begin + least), offset_ms, kStepsAcross);
    times->setFormat(span == HistorySpan::day ? QStringLiteral("HH:mm") : QStringLiteral("d MMM"));
    times->setTickCount(scale.ticks());
    times->setRange(QDateTime::fromMSecsSinceEpoch(static_cast<qint64>(scale.low)),
                    QDateTime::fromMSecsSinceEpoch(static_cast<qint64>(scale.high)));
  }
  void scaleY(double low, double high) const {
    const PlotScale scale = plotScale(low, high, kStepsUp);
    values->setTickCount(scale.ticks());
    values->setRange(scale.low, scale.high);
    values->setLabelFormat(QStringLiteral("%.%1f").arg(scale.decimals));
  }
};

Plot::Plot(const QString& title, PlotKind kind, QWidget* parent)
    : QFrame(parent), title_(title), kind_(kind), chart_(std::make_unique<Chart>()), empty_(new QLabel()) {
  auto* heading = new QLabel(title);
  QFont bold = heading->font();
  bold.setBold(true);
  heading->setFont(bold);
  heading->setWordWrap(true);
  QChart* chart = chart_->view->chart();
  if (kind == PlotKind::amount) chart_->area = new QAreaSeries(chart_->line);
  chart->addSeries(chart_->series());
  chart->legend()->hide();
  chart->setMargins({0, 0, 0, 0});
  chart->setBackgroundVisible(false);
  chart->addAxis(chart_->rounds, Qt::AlignBottom);
  chart->addAxis(chart_->times, Qt::AlignBottom);
  chart->addAxis(chart_->values, Qt::AlignLeft);
  chart_->series()->attachAxis(chart_->values);
  chart->setLocale(QLocale());
  chart->setLocalizeNumbers(true);
  chart_->rounds->setLabelFormat(QStringLiteral("%.0f"));
  chart_->rounds->setTickType(QValueAxis::TicksDynamic);
  chart_->times->setVisible(false);
  chart_->view->setFrameShape(QFrame::NoFrame);
  chart_->view->setRenderHint(QPainter::Antialiasing);
  chart_->view->setFocusPolicy(Qt::NoFocus);
  chart_->view->viewport()->setFocusPolicy(Qt::NoFocus);
  chart_->view->setMinimumHeight(kPlotHeightMin);
  chart_->view->setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Ignored);  // takes the room there is
  chart_->view->setAccessibleName(title);
  empty_->setText(tr("Nothing yet: the first finished round shows here."));
  empty_->setAlignment(Qt::AlignCenter);
  empty_->setWordWrap(true);
  empty_->setMinimumHeight(kPlotHeightMin);
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->addWidget(heading);
  layout->addWidget(empty_, 1);
  layout->addWidget(chart_->view, 1);
  chart_->view->hide();
  setAccessibleName(title);
  paintInWindowColors();
}

Plot::~Plot() = default;

void Plot::show(HistorySpan span, const std::vector<HistoryPoint>& points, const Value& value) {
  std::vector<double> values;
  for (const HistoryPoint& point : points) values.push_back(value(point));
  const bool enough = !points.empty();
  empty_->setVisible(!enough);
  chart_->view->setVisible(enough);
  describe(values);
  if (!enough) return;
  QList<QPointF> line;
  if (kind_ == PlotKind::amount) {
    line = roofs(span, points, values);
  } else {
    for (std::size_t i = 0; i < points.size(); ++i) line.append({xOf(span, points[i]), values[i]});
    // A single point becomes a line as long as its stretch.
    const double width = span == HistorySpan::rounds ? 1 : static_cast<double>(widthOf(span));
    if (line.size() == 1) line.append({line.first().x() + width, line.first().y()});
  }
  chart_->line->replace(line);
  chart_->use(span);
  chart_->scaleX(span, line.first().x(), line.last().x());
  const auto [low, high] = std::minmax_element(values.begin(), values.end());
  chart_->scaleY(kind_ == PlotKind::amount ? std::min(0.0, *low) : *low, *high);
}

void Plot::describe(const std::vector<double>& values) {
  if (values.empty()) {
    setAccessibleDescription(empty_->text());
    return;
  }
  const auto [low, high] = std::minmax_element(values.begin(), values.end());
  setAccessibleDescription(
      tr("%n value(s), from %1 to %2, the last %3", nullptr, static_cast<int>(values.size()))
          .arg(models::creditText(*low), models::creditText(*high), models::creditText(values.back())));
}

void Plot::changeEvent(QEvent* event) {
  QFrame::changeEvent(event);
  if (event->type() == QEvent::PaletteChange) paintInWindowColors();
}

void Plot::paintInWindowColors() {
  const QColor text = palette().color(QPalette::WindowText);
  const QColor accent = palette().color(QPalette::Highlight);
  QColor grid = text;
  grid.setAlphaF(0.15F);
  for (QAbstractAxis* axis : {static_cast<QAbstractAxis*>(chart_->rounds), static_cast<QAbstractAxis*>(chart_->times),
                              static_cast<QAbstractAxis*>(chart_->values)}) {
    axis->setLabelsColor(text);
    axis->setGridLineColor(grid);
    axis->setLinePenColor(grid);
  }
  chart_->line->setPen(QPen(accent, 2));
  if (chart_->area == nullptr) return;
  QColor fill = accent;
  fill.setAlphaF(0.35F);
  chart_->area->setPen(QPen(accent, 1));
  chart_->area->setBrush(fill);
}

}  // namespace starling::widgets
