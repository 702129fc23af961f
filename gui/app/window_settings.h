// Settings of the window rather than the daemon: its appearance, and the hints already shown. In DIR/window.ini.
#pragma once

#include <QSettings>
#include <filesystem>

namespace starling::app {

class WindowSettings {
 public:
  explicit WindowSettings(const std::filesystem::path& data_dir);

  // "system", "light", "dark"
  [[nodiscard]] QString theme() const;
  void setTheme(const QString& theme);
  // "system", "en", "ru"
  [[nodiscard]] QString language() const;
  void setLanguage(const QString& language);
  // True on the first call for `what`, and never again.
  bool firstTime(const QString& what);
  [[nodiscard]] QByteArray geometry() const;
  void setGeometry(const QByteArray& geometry);

 private:
  QSettings settings_;
};

}  // namespace starling::app
