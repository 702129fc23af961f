// What every page has around its own content. Pages work without scripts (charts do more with them), in light and dark,
// from a phone to a wide screen, by keyboard and by ear; they show names and figures only: no addresses, no computers.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "shared/base/clock.h"

namespace starling::web {

struct NavigationLink {
  std::string_view path;
  std::string_view text;
};
// Of the public pages.
std::span<const NavigationLink> public_navigation();

struct Frame {
  std::string_view project;
  std::string_view title;          // of the page; empty on the first one
  std::string_view subtitle = {};  // beneath it
  std::string_view path = {};      // "/", "/leaderboard", …: marks the page in the navigation
  int refresh_seconds = 0;         // 0: the page stays as it is
  WallTime now = {};
  std::string_view twin = {};  // the same figures for programs: a path
  std::span<const NavigationLink> navigation = public_navigation();
  bool charts = false;  // loads scripts(), which then refresh it, too; it goes out as a page_with_charts()
};

// A whole document around `content`, which is HTML.
std::string framed(const Frame& frame, std::string_view content);
// A page of framed() with a notice, plain text, above everything.
std::string with_notice(std::string page, std::string_view notice);
// What framed() puts between <style> and </style>.
std::string_view page_style();
// The Content-Security-Policy under which pages work: their own style, their own picture, forms to themselves; and
// scripts from files of this server where there are charts, nowhere else.
const std::string& page_policy();
const std::string& chart_policy();
std::string_view favicon();

}  // namespace starling::web
