#include "gui/app/application.h"

#include <doctest/doctest.h>

#include <QAction>
#include <QGuiApplication>
#include <cmath>
#include <fstream>
#include <sstream>
#include <vector>

#include "gui/app/autostart.h"
#include "gui/app/link_handler.h"
#include "gui/app/panel_icon.h"
#include "gui/app/theme.h"
#include "gui/widgets/icons.h"
#include "tests/gui/support/desk.h"
