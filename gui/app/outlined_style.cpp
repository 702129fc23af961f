#include "gui/app/outlined_style.h"

#include <QPainter>
#include <QProxyStyle>
#include <QStyleOption>

namespace starling::app {
namespace {

// Share of the text's colour in the outline, which gives a contrast of about 3:1 with the surroundings.
constexpr float kStrength = 0.5F;
constexpr double kRadius = 2;
constexpr QSize kPadding{18, 6};  // added to buttons and tabs, both sides together

// Outlines a control that can be used. Fusion itself outlines the focused one, in the accent's colour.
void outline(const QStyleOption& option, QPainter& painter, bool round) {
  if ((option.state & QStyle::State_HasFocus) != 0 || (option.state & QStyle::State_Enabled) == 0) return;
  QColor color = option.palette.color(QPalette::WindowText);
  color.setAlphaF(kStrength);
  painter.save();
  painter.setRenderHint(QPainter::Antialiasing);
  painter.setPen(color);
  painter.setBrush(Qt::NoBrush);
  const QRectF box = QRectF(option.rect).adjusted(0.5, 0.5, -0.5, -0.5);
  if (round) {
    painter.drawEllipse(box);
  } else {
    painter.drawRoundedRect(box, kRadius, kRadius);
  }
  painter.restore();
}

class OutlinedStyle : public QProxyStyle {
 public:
  OutlinedStyle() : QProxyStyle(QStringLiteral("Fusion")) {}

  void drawPrimitive(PrimitiveElement element, const QStyleOption* option, QPainter* painter,
                     const QWidget* widget) const override {
    QProxyStyle::drawPrimitive(element, option, painter, widget);
    if (element == PE_IndicatorCheckBox || element == PE_FrameLineEdit) outline(*option, *painter, false);
    if (element == PE_IndicatorRadioButton) outline(*option, *painter, true);
  }

  // Fusion leaves too little room around texts.
  QSize sizeFromContents(ContentsType type, const QStyleOption* option, const QSize& contents,
                         const QWidget* widget) const override {
    const QSize size = QProxyStyle::sizeFromContents(type, option, contents, widget);
    return type == CT_PushButton || type == CT_TabBarTab ? size + kPadding : size;
  }

  void drawComplexControl(ComplexControl control, const QStyleOptionComplex* option, QPainter* painter,
                          const QWidget* widget) const override {
    QProxyStyle::drawComplexControl(control, option, painter, widget);
    if (control == CC_SpinBox) outline(*option, *painter, false);
  }
};

}  // namespace

QStyle* makeOutlinedStyle() { return new OutlinedStyle(); }

}  // namespace starling::app
