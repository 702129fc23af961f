#include "gui/app/theme.h"

#include <QApplication>
#include <QPalette>

#include "gui/app/outlined_style.h"

namespace starling::app {
namespace {

struct Shades {
  QColor window, base, alternate, button, text, faint, disabled, highlight, highlighted, tooltip;
};

QPalette paletteOf(const Shades& s) {
  QPalette palette(s.button, s.window);
  const std::pair<QPalette::ColorRole, QColor> roles[] = {
      {QPalette::Window, s.window},
      {QPalette::Base, s.base},
      {QPalette::AlternateBase, s.alternate},
      {QPalette::Button, s.button},
      {QPalette::WindowText, s.text},
      {QPalette::Text, s.text},
      {QPalette::ButtonText, s.text},
      {QPalette::BrightText, s.text},
      {QPalette::ToolTipBase, s.tooltip},
      {QPalette::ToolTipText, s.text},
      {QPalette::PlaceholderText, s.faint},
      {QPalette::Highlight, s.highlight},
      {QPalette::HighlightedText, s.highlighted},
      {QPalette::Link, s.highlight},
  };
  for (const auto& [role, color] : roles) palette.setColor(role, color);
  for (const QPalette::ColorRole role : {QPalette::WindowText, QPalette::Text, QPalette::ButtonText}) {
    palette.setColor(QPalette::Disabled, role, s.disabled);
  }
  return palette;
}

const Shades kLight = {"#f6f7f8", "#ffffff", "#f0f2f4", "#eceef1", "#1b1f24",
                       "#4a525c", "#6a727c", "#1a6fb5", "#ffffff", "#ffffff"};
const Shades kDark = {"#22262b", "#1a1d21", "#262b31", "#2f353c", "#e8eaed",
                      "#b6bfc9", "#96a0ab", "#5aa9e6", "#10151a", "#2f353c"};

}  // namespace

void applyTheme(const QString& theme) {
  QApplication::setStyle(makeOutlinedStyle());
  if (theme == QLatin1String("light")) return QApplication::setPalette(paletteOf(kLight));
  if (theme == QLatin1String("dark")) return QApplication::setPalette(paletteOf(kDark));
  const QPalette desktop = QPalette();
  const bool dark = desktop.color(QPalette::Window).lightness() < 128;
  QApplication::setPalette(paletteOf(dark ? kDark : kLight));
}

}  // namespace starling::app
