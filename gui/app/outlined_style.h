// Qt's Fusion style, with outlines of boxes to tick, to choose and to type in that can also be seen on dark grounds.
#pragma once

class QStyle;

namespace starling::app {

QStyle* makeOutlinedStyle();  // the caller's

}  // namespace starling::app
