// A table of figures and texts for item views. Numbers stay numbers, so that they sort as such.
#pragma once

#include <QAbstractTableModel>
#include <QList>
#include <QStringList>
#include <QVariant>

namespace starling::models {

// A cell for a measured value; zero is shown as a dash.
struct Measured {
  double value = 0;
  int digits = 0;  // decimal places
};

class RowsModel : public QAbstractTableModel {
  Q_OBJECT

 public:
  using Row = QList<QVariant>;
  static constexpr int kSortRole = Qt::UserRole;

  explicit RowsModel(QStringList headers, QObject* parent = nullptr);

  // Every row has as many cells as there are headers. A view keeps its position if only cells change.
  void setRows(QList<Row> rows);

  [[nodiscard]] int rowCount(const QModelIndex& parent = {}) const override;
  [[nodiscard]] int columnCount(const QModelIndex& parent = {}) const override;
  [[nodiscard]] QVariant data(const QModelIndex& index, int role = Qt::DisplayRole) const override;
  [[nodiscard]] QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

 private:
  QStringList headers_;
  QList<Row> rows_;
};

}  // namespace starling::models

Q_DECLARE_METATYPE(starling::models::Measured)
