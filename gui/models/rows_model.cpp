#include "gui/models/rows_model.h"

#include <cmath>
#include <utility>

#include "gui/models/format.h"

namespace starling::models {
namespace {

bool isMeasured(const QVariant& value) { return value.typeId() == qMetaTypeId<Measured>(); }

QString measuredText(const Measured& measured) {
  const double least = std::pow(10, -measured.digits);
  if (measured.value <= 0) return QStringLiteral("–");
  return measured.value < least ? QStringLiteral("< ") + numberText(least, measured.digits)
                                : numberText(measured.value, measured.digits);
}

bool isNumber(const QVariant& value) {
  return value.typeId() == QMetaType::Double || value.typeId() == QMetaType::LongLong ||
         value.typeId() == QMetaType::Int || isMeasured(value);
}

QString cellText(const QVariant& value) {
  if (isMeasured(value)) return measuredText(value.value<Measured>());
  if (value.typeId() == QMetaType::Double) return creditText(value.toDouble());
  return isNumber(value) ? countText(value.toLongLong()) : value.toString();
}

}  // namespace

RowsModel::RowsModel(QStringList headers, QObject* parent)
    : QAbstractTableModel(parent), headers_(std::move(headers)) {}

void RowsModel::setRows(QList<Row> rows) {
  const bool same_size = rows.size() == rows_.size();
  if (!same_size) beginResetModel();
  rows_ = std::move(rows);
  if (!same_size) {
    endResetModel();
  } else if (!rows_.isEmpty()) {
    emit dataChanged(index(0, 0), index(rowCount() - 1, columnCount() - 1));
  }
}

int RowsModel::rowCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : static_cast<int>(rows_.size());
}

int RowsModel::columnCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : static_cast<int>(headers_.size());
}

QVariant RowsModel::data(const QModelIndex& index, int role) const {
  QVariant value = rows_.value(index.row()).value(index.column());
  if (role == Qt::DisplayRole) return cellText(value);
  if (role == Qt::ToolTipRole && !isNumber(value)) return value;  // for columns that are too narrow for it
  if (role == kSortRole) return isMeasured(value) ? value.value<Measured>().value : value;
  if (role == Qt::TextAlignmentRole && isNumber(value)) return QVariant(Qt::AlignRight | Qt::AlignVCenter);
  if (role == Qt::AccessibleTextRole) return headers_.value(index.column()) + QStringLiteral(": ") + cellText(value);
  return {};
}

QVariant RowsModel::headerData(int section, Qt::Orientation orientation, int role) const {
  if (orientation == Qt::Horizontal && role == Qt::DisplayRole) return headers_.value(section);
  return QAbstractTableModel::headerData(section, orientation, role);
}

}  // namespace starling::models
