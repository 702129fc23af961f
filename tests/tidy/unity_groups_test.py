#!/usr/bin/env python3
"""Which files a unity build may compile as one."""

import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "cmake"))
from unity_groups import divide  # noqa: E402


class Groups(unittest.TestCase):
    def test_files_without_common_names_are_one_group_up_to_its_size(self):
        self.assertEqual(divide(["int a() {", "int b() {", "int c() {"], 2), [0, 0, 1])

    def test_a_name_that_stands_twice_divides(self):
        for text in ("constexpr std::size_t kBytesMax = 40;", "Error bad(std::string_view why) {", "struct Block {",
                     "#define STARLING_LOOP 1", "template <typename T>\nclass Block {"):
            self.assertEqual(divide([text, "", text], 9), [0, 0, 1], text)

    def test_a_constant_of_a_header_does_not_meet_another_files_own(self):
        self.assertEqual(divide(["constexpr int kMax = 2;", "  if (n > kMax) return;"], 9), [0, 1])
        self.assertEqual(divide(["  if (n > kMax) return;", "constexpr int kMax = 2;"], 9), [0, 1])

    def test_a_file_with_its_own_constant_of_a_headers_name_is_alone(self):
        header = "constexpr int kMax = 2;"
        files = ["int a() {", "constexpr int kMax = 3;", "int b() {"]
        self.assertEqual(divide(files, 9, [header]), [0, 1, 0])
        self.assertEqual(divide(files, 9, ["  static constexpr int kMax = 2;"]), [0, 0, 0])

    def test_methods_and_calls_divide_nothing(self):
        self.assertEqual(divide(["Status Store::open(int n) {\n  return bad(n);", "int Other::open(int n) {\n  bad(n);"], 9), [0, 0])


if __name__ == "__main__":
    unittest.main()
