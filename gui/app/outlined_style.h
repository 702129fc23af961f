// Qt's Fusion style with outlines of check boxes, radio buttons and text fields that are visible on dark backgrounds
// too.
#pragma once

class QStyle;

namespace starling::app {

QStyle* makeOutlinedStyle();  // the caller owns it

}  // namespace starling::app
