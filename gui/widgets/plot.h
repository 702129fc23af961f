// A plot over rounds or over time, in the colours of the window, with its figures as text for screen readers.
#pragma once

#include <QFrame>
#include <QPointF>
#include <functional>
#include <memory>
#include <vector>

#include "shared/control/control_views.h"

class QLabel;

namespace starling::widgets {

enum class PlotKind { line, amount };  // a curve; or the amount in each stretch, from zero

class Plot : public QFrame {
  Q_OBJECT

 public:
  Plot(const QString& title, PlotKind kind, QWidget* parent = nullptr);
  ~Plot() override;

  using Value = std::function<double(const wire::HistoryPoint&)>;
  // Shows one value for each point of the span, oldest first. For the span of rounds, x is the round; otherwise the
  // time.
  void show(wire::HistorySpan span, const std::vector<wire::HistoryPoint>& points, const Value& value);

 protected:
  void changeEvent(QEvent* event) override;

 private:
  struct Chart;
  void paintInWindowColors();
  void describe(const std::vector<double>& values);

  QString title_;
  PlotKind kind_;
  std::unique_ptr<Chart> chart_;
  QLabel* empty_;
};

}  // namespace starling::widgets
