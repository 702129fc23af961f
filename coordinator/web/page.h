// The frame of every public page around its content. Pages work without scripts (charts do more with them), in light
// and dark, from a phone to a wide screen, by keyboard and with a screen reader; they show names and figures only,
// never addresses or computers.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "shared/base/clock.h"

namespace starling::web {

// An entry of the navigation. Its path is also the Frame::path of the page that it leads to.
struct NavigationLink {
  std::string_view path;
  std::string_view text;
};
// The navigation of the public pages.
std::span<const NavigationLink> public_navigation();

// The parts of a page outside its content. Texts are plain, and are borrowed for the length of the call.
struct Frame {
  std::string_view project;
  std::string_view title;          // title of the page; empty on the first one
  std::string_view subtitle = {};  // shown beneath the title
  std::string_view path = {};      // "/", "/leaderboard", …: marks the page in the navigation
  int refresh_seconds = 0;         // 0: the page is not refreshed
  WallTime now = {};
  std::string_view twin = {};  // path of the same figures for programs
  std::span<const NavigationLink> navigation = public_navigation();
  bool charts = false;  // loads scripts(), which then also refresh it; it is sent as a page_with_charts()
};

// A whole document around `content`, which is HTML.
std::string framed(const Frame& frame, std::string_view content);
// A page of framed() with a notice, plain text, above everything.
std::string with_notice(std::string page, std::string_view notice);
// The text that framed() puts between <style> and </style>.
std::string_view page_style();
// The Content-Security-Policy under which pages work: their own style, their own picture, forms to themselves; where
// there are charts, also scripts from files of this server and from nowhere else.
const std::string& page_policy();
const std::string& chart_policy();
std::string_view favicon();

}  // namespace starling::web
