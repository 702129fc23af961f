// Figures with their captions, as many beside each other as fit into the window.
#pragma once

#include <QString>
#include <QWidget>
#include <vector>

class QGridLayout;
class QLabel;

namespace starling::widgets {

class FigureGrid : public QWidget {
  Q_OBJECT

 public:
  explicit FigureGrid(QWidget* parent = nullptr);

  // Returns the figure's number, for set().
  int add(const QString& caption);
  void set(int figure, const QString& value, const QString& hint = {});

 protected:
  void resizeEvent(QResizeEvent* event) override;

 private:
  struct Figure {
    QWidget* box;
    QLabel* value;
    QString caption;
  };
  void arrange(int columns);

  QGridLayout* grid_;
  std::vector<Figure> figures_;
  int columns_ = 0;
};

}  // namespace starling::widgets
