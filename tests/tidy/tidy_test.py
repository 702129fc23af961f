#!/usr/bin/env python3
"""Plants one violation of each kind and checks that tidy finds it, and finds nothing in code that obeys."""

import json
import shutil
import tempfile
import unittest
from pathlib import Path

import averaging_page
import class_sizes
import comments
import cpp_source
import documents
import house
import protocol_page
import tidy


def errors(path, text):
    return [f.text for f in tidy.check_file(path, text) if not f.soft]


class Arrows(unittest.TestCase):
    def test_an_arrow_of_the_table_is_fine(self):
        self.assertEqual(errors("shared/crypto/a.cpp", '#include "shared/base/result.h"\n#include <vector>\n'), [])

    def test_an_arrow_that_the_table_lacks_is_found(self):
        found = errors("shared/base/a.cpp", '#include "shared/wire/ids.h"\n')
        self.assertEqual(found, ["shared/base may not include shared/wire (shared/wire/ids.h)"])

    def test_client_and_coordinator_do_not_meet(self):
        self.assertEqual(len(errors("client/daemon/a.cpp", '#include "coordinator/core/run.h"\n')), 1)
        self.assertEqual(len(errors("coordinator/api/a.cpp", '#include "client/session/session.h"\n')), 1)

    def test_a_test_includes_what_its_subject_may(self):
        self.assertEqual(errors("tests/client/session/a_test.cpp", '#include "client/averaging/x.h"\n'), [])
        self.assertEqual(len(errors("tests/client/policy/a_test.cpp", '#include "client/averaging/x.h"\n')), 1)

    def test_an_unknown_folder_is_found(self):
        self.assertEqual(len(errors("client/misc/a.cpp", "int x;\n")), 1)

    def test_own_headers_are_named_from_the_root(self):
        self.assertEqual(len(errors("shared/base/a.cpp", '#include "result.h"\n')), 1)

    def test_an_include_in_a_comment_does_not_count(self):
        self.assertEqual(errors("shared/base/a.cpp", '// #include "shared/wire/ids.h"\n'), [])

    def test_every_arrow_of_the_table_leads_to_a_folder_of_the_table(self):
        for folder, targets in house.ARROWS.items():
            for target in targets:
                mirrors = target.startswith("tests/") and target.removeprefix("tests/") in house.ARROWS
                known = target.endswith("/*") or target in house.ARROWS or mirrors
                self.assertTrue(known, f"{folder} -> {target}")


class Doors(unittest.TestCase):
    def test_torch_stays_in_its_rooms(self):
        self.assertEqual(errors("client/models/gpt.cpp", "#include <torch/torch.h>\n"), [])
        self.assertEqual(len(errors("client/session/a.cpp", "#include <torch/torch.h>\n")), 1)

    def test_a_header_does_not_pass_a_library_on(self):
        self.assertEqual(errors("shared/wire/a.cpp", "#include <nlohmann/json.hpp>\n"), [])
        self.assertEqual(len(errors("shared/wire/a.h", "#pragma once\n#include <nlohmann/json.hpp>\n")), 1)

    def test_a_library_behind_a_header_needs_a_door_too(self):
        tree = {"shared/crypto/handles.h": "#include <openssl/evp.h>\n",
                "shared/crypto/keys.h": '#include "shared/crypto/handles.h"\n',
                "shared/crypto/keys.cpp": '#include "shared/crypto/keys.h"\n'}
        self.assertEqual(list(tidy.check_hidden_doors(tree)), [])
        tree["shared/net/a.cpp"] = '#include "shared/crypto/keys.h"\n'
        self.assertEqual([f.path for f in tidy.check_hidden_doors(tree)], ["shared/net/a.cpp"])

    def test_a_test_shares_the_door_of_its_subject(self):
        self.assertEqual(errors("tests/shared/crypto/a_test.cpp", "#include <openssl/evp.h>\n"), [])

    def test_a_library_without_a_door_is_found(self):
        self.assertEqual(len(errors("shared/base/a.cpp", "#include <boost/any.hpp>\n")), 1)

    def test_system_headers_need_no_door(self):
        self.assertEqual(errors("shared/base/a.cpp", "#include <sys/mman.h>\n#include <unistd.h>\n"), [])


class Sizes(unittest.TestCase):
    def test_a_function_past_the_wall_is_found(self):
        body = "  step();\n" * 69
        self.assertEqual(errors("shared/base/a.cpp", "void f() {\n" + "  step();\n" * 68 + "}\n"), [])
        self.assertEqual(len(errors("shared/base/a.cpp", "void f() {\n" + body + "}\n")), 1)

    def test_a_test_case_is_a_function(self):
        text = 'TEST_CASE("a {brace} in a name") {\n' + "  step();\n" * 80 + "}\n"
        self.assertEqual(len(errors("tests/shared/base/a_test.cpp", text)), 1)

    def test_a_long_member_is_found_behind_an_initializer_list(self):
        text = "struct A {\n A(int a, int b) : a_{a}, b_(b) {\n" + "  step();\n" * 80 + " }\n int a_{1};\n};\n"
        self.assertEqual(len(errors("shared/base/a.cpp", text)), 1)

    def test_a_sixth_parameter_is_found(self):
        self.assertEqual(errors("shared/base/a.cpp", "void f(std::map<int, int> a, int b, int c, int d, int e) {}\n"), [])
        self.assertEqual(len(errors("shared/base/a.cpp", "void f(int a, int b, int c, int d, int e, int g) {}\n")), 1)

    def test_a_file_past_the_wall_is_found(self):
        self.assertEqual(len(errors("shared/base/a.cpp", "int x;\n" * 701)), 1)
        self.assertEqual(errors("shared/base/a.cpp", "int x;\n" * 400), [])

    def test_python_has_the_same_walls(self):
        self.assertEqual(len(errors("tests/e2e/a.py", "def f():\n" + "    g()\n" * 70)), 1)
        self.assertEqual(len(errors("tests/e2e/a.py", "def f(a, b, c, d, e, g):\n    pass\n")), 1)


class Scanner(unittest.TestCase):
    def test_functions_are_found_where_they_are(self):
        text = """
namespace starling {
template <typename T>
T twice(T value) { return value + value; }
class A : public B {
 public:
  explicit A(int x) : x_{x}, y_(x) { go({1, 2}); }
  bool operator()(int a, int b) const { return a < b; }
  void g() const&;
 private:
  int x_{0};
  std::vector<int> v_ = {1, 2, 3};
  std::function<void(int, int)> h_ = [](int, int) { go(); };
};
constexpr char kSeparated = '{';
constexpr int kBig = 1'000'000;
void after(int a) {
  auto f = [](int x, int y, int z, int u, int v, int w) { return x; };
}
}  // namespace starling
"""
        found = [(f.name, f.line, f.lines, f.parameters) for f in cpp_source.functions(text)]
        self.assertEqual(found, [("twice", 3, 2, 1), ("A", 7, 1, 1), ("operator()", 8, 1, 2), ("after", 17, 3, 1)])

    def test_raw_strings_hide_their_braces(self):
        found = cpp_source.functions('const char* k = R"x({ "a": } )x";\nvoid f() {\n}\n')
        self.assertEqual([(f.name, f.lines) for f in found], [("f", 2)])


class Classes(unittest.TestCase):
    def sizes(self, text):
        return [(c.name, c.data, c.methods) for c in class_sizes.classes(text)]

    def test_members_and_methods_are_told_apart(self):
        text = '''
template <class T>
class Box final : public Base<std::pair<int, T>>, private Other {
  Q_OBJECT
 public:
  using Wish = std::function<void(int)>;
  static constexpr Duration kMax = from_ms(3), kMin{};
  enum class Kind : std::uint8_t { a, b };
  explicit Box(int size) : size_(size), name_{"x"} { grow(); }
  ~Box() override;
  Box(const Box&) = delete;
  [[nodiscard]] bool empty() const { return size_ == 0; }  // int not_a_member;
  auto find(int key) -> std::map<int, int>::iterator;
  bool operator<(const Box& other) const;
  virtual void tell(std::function<void(int)> whom = {}) = 0;
  template <typename Visit>
  void each(const Visit& visit) const;
  friend bool operator==(const Box&, const Box&) = default;

 private slots:
  void on_click();

 private:
  struct Part {
    int a = 0, b = 1;
    std::vector<std::pair<int, int>> pairs{{1, 2}, {3, 4}};
  };
  struct {
    bool set = false;
  } once_;
  class Impl;
  std::map<int, std::function<void(int, int)>> calls_;
  double rate_ GUARDED_BY(mutex_) = 0;
  std::array<int, 3> limits_ = {make(1), make(2), 3};
  Duration wait_ = from_ms(5);
  int size_;
};
'''
        self.assertEqual(self.sizes(text), [("Box", 6, 9), ("Part", 3, 0), ("(unnamed)", 1, 0)])

    def test_an_enum_and_a_template_parameter_are_no_classes(self):
        self.assertEqual(self.sizes("enum class A { b };\nenum struct C { d };\ntemplate <class T> T f() { return {}; }\n"
                                    "class Late;\n"), [])

    def test_a_class_past_the_wall_is_found_wherever_it_stands(self):
        members = "".join(f"  int m{i}_ = 0;\n" for i in range(21))
        methods = "".join(f"  void f{i}();\n" for i in range(41))
        self.assertEqual(len(errors("client/averaging/a.h", "#pragma once\nstruct A {\n" + members + "};\n")), 1)
        self.assertEqual(len(errors("client/averaging/a.cpp", "void f() {\n  struct A {\n" + methods + "  };\n}\n")), 1)
        nested = "struct A {\n  struct B {\n" + members[:-14] + "  };\n  B b;\n};\n"
        self.assertEqual(errors("client/averaging/a.cpp", nested), [])


class Words(unittest.TestCase):
    def test_a_mark_of_unfinished_work_is_found(self):
        self.assertEqual(len(errors("shared/base/a.cpp", "// " + house.BANNED_WORDS[0] + ": later\n")), 1)

    def test_a_header_says_pragma_once_and_opens_no_namespace(self):
        self.assertEqual(len(errors("shared/base/a.h", "int x;\n")), 1)
        self.assertEqual(len(errors("shared/base/a.h", "#pragma once\nusing namespace std;\n")), 1)

    def test_pure_folders_take_time_and_chance_as_arguments(self):
        for line in ["auto t = clock.now();", "int r = std::rand();", "std::this_thread::sleep_for(x);",
                     "std::thread t;", "std::ofstream f;"]:
            self.assertEqual(len(errors("coordinator/core/a.cpp", f"void f() {{ {line} }}\n")), 1, line)
            self.assertEqual(errors("coordinator/server/a.cpp", f"void f() {{ {line} }}\n"), [], line)
        self.assertEqual(errors("coordinator/core/a.cpp", "void f(TimePoint now) { g(now); }  // not now()\n"), [])


class Folders(unittest.TestCase):
    def test_a_folder_with_code_needs_a_target_and_tests(self):
        with tempfile.TemporaryDirectory() as name:
            root = Path(name)
            (root / "shared/base").mkdir(parents=True)
            (root / "shared/base/a.cpp").write_text("int x;\n")
            self.assertEqual(len([f for f in tidy.check_tree(root) if not f.soft]), 3)  # the file is not built either
            (root / "shared/base/CMakeLists.txt").write_text("add_library(base a.cpp)\n")
            (root / "tests/shared/base").mkdir(parents=True)
            (root / "tests/shared/base/a_test.cpp").write_text("int x;\n")
            (root / "tests/shared/base/CMakeLists.txt").write_text("starling_test(base_test a_test.cpp)\n")
            self.assertEqual([f for f in tidy.check_tree(root) if not f.soft], [])

    def test_a_file_that_is_not_built_is_found(self):
        recipes = {"tests/fuzz/CMakeLists.txt": "add_executable(${name} ${name}_fuzz.cpp)\nfuzz(frames)\nmain.cpp\n"}
        paths = [f"tests/fuzz/{name}.cpp" for name in ("frames_fuzz", "main", "old_main", "codecs_fuzz", "frames")]
        self.assertEqual([f.path for f in tidy.check_built(paths, recipes)],
                         ["tests/fuzz/old_main.cpp", "tests/fuzz/codecs_fuzz.cpp", "tests/fuzz/frames.cpp"])



class Algorithms(unittest.TestCase):
    REGISTRY = '    Algorithm{"diloco", "steps apart", "a paper", diloco},\n'

    def found(self, path, text, page="\n| `diloco` | … |\n"):
        return [f.path for f in tidy.check_algorithms({tidy.REGISTRY: self.REGISTRY, path: text}, page)]

    def test_a_name_that_decides_is_found_outside_the_registry(self):
        self.assertEqual(self.found("client/session/a.cpp", 'if (name == "diloco") x();'), ["client/session/a.cpp"])
        self.assertEqual(self.found("tests/client/a_test.cpp", 'run("diloco");'), [])
        self.assertEqual(self.found("client/session/a.cpp", '// as "diloco" does\nx("dilocos");'), [])

    def test_an_algorithm_that_the_documentation_lacks_is_found(self):
        self.assertEqual(self.found("client/session/a.cpp", "", page=""), [tidy.ALGORITHMS_PAGE])


class ProtocolPage(unittest.TestCase):
    def test_a_field_that_the_page_does_not_know_is_found(self):
        root = Path(__file__).resolve().parents[2]
        with tempfile.TemporaryDirectory() as name:
            copy = Path(name)
            shutil.copytree(root / "shared/wire", copy / "shared/wire")
            (copy / "docs").mkdir()
            (copy / protocol_page.PAGE).write_text(protocol_page.page(copy))
            self.assertTrue(protocol_page.is_current(copy))
            header = copy / "shared/wire/messages.h"
            header.write_text(header.read_text().replace("struct JoinRequest {", "struct JoinRequest {\n  int age = 0;  // of Ada"))
            self.assertFalse(protocol_page.is_current(copy))
            self.assertIn("| `age` | `int` | `0` | of Ada |", protocol_page.page(copy))


class AveragingPage(unittest.TestCase):
    ROOT = Path(__file__).resolve().parents[2]

    def test_a_figure_that_the_page_does_not_have_is_found(self):
        with tempfile.TemporaryDirectory() as name:
            copy = Path(name)
            shutil.copytree(self.ROOT / "docs", copy / "docs")
            self.assertTrue(averaging_page.is_current(copy))
            source = copy / averaging_page.SOURCE
            measured = json.loads(source.read_text())
            measured["rows"][0]["time"] = 9.5
            source.write_text(averaging_page.text_of(measured))
            self.assertFalse(averaging_page.is_current(copy))
            self.assertIn("|4 × 100|9.500 × bound|", averaging_page.page(copy))

    def test_figures_of_the_bench_go_where_the_rows_have_its_names(self):
        measured = {"rows": [{"bench": "a", "figure": "ratio_to_bound", "time": 2, "cpu": 1, "run": "A"},
                             {"bench": "a", "figure": "ratio_to_bound", "time": 2, "gloo": 3, "gloo_run": "A", "run": "B"}]}
        figures = {"ratio_to_bound": 1.23456, "cpu_s_per_gb": 2.34, "gloo_ratio_to_bound": 4.567}
        averaging_page.take(measured, {"rows": [{"name": "a", "figures": figures}, {"name": "b", "figures": {}}]}, "A")
        self.assertEqual([row["time"] for row in measured["rows"]], [1.235, 2])
        self.assertEqual((measured["rows"][0]["cpu"], measured["rows"][1]["gloo"]), (2.3, 4.57))

    def test_the_data_are_written_as_they_were_read(self):
        text = (self.ROOT / averaging_page.SOURCE).read_text()
        self.assertEqual(averaging_page.text_of(json.loads(text)), text)


class Documents(unittest.TestCase):
    def found(self, pages):
        with tempfile.TemporaryDirectory() as name:
            root = Path(name)
            for path, text in pages.items():
                (root / path).parent.mkdir(parents=True, exist_ok=True)
                (root / path).write_text(text)
            return [f"{path}:{line}: {text}" for path, line, text in documents.check(root)]

    def test_a_wide_line_is_found_unless_it_is_a_row(self):
        self.assertEqual(self.found({"README.md": "| " + "x" * 200 + " |\n"}), [])
        self.assertEqual(len(self.found({"README.md": "x" * 141 + "\n"})), 1)

    def test_a_long_readme_is_found(self):
        self.assertEqual(self.found({"README.md": "word\n" * 1300, "docs/a.md": "word\n" * 2000}), [])
        self.assertEqual(self.found({"README.md": "word\n" * 1301}), ["README.md:1: 1301 words; this page has at most 1300"])

    def test_inverted_beginnings_and_phrases_are_found_in_prose_only(self):
        for text in ["What it does is little.", "It does. Whoever asks is told.", "- As here.", "# Whose it is", "| a | Of b |",
                     "He waits in vain.", "Good.\nThe same holds."]:
            self.assertEqual(len(self.found({"README.md": text + "\n"})), 1, text)
        for text in ["It is as it\nAs is.", "What is this? A page.", "    What a command", "```\nAs code\n```", "It does what it does."]:
            self.assertEqual(self.found({"README.md": text + "\n"}), [], text)

    def test_links_lead_somewhere(self):
        pages = {"README.md": "[a](docs/a.md#the-b-of-it), [far](https://example.org/), [over\ntwo](docs/a.md)\n",
                 "docs/a.md": "# A\n\n## The `B`, of it\n"}
        self.assertEqual(self.found(pages), [])
        pages["docs/a.md"] = "# A\n\n[b](b.md)\n"
        self.assertEqual(self.found(pages), ["README.md:1: docs/a.md#the-b-of-it: no such heading",
                                             "docs/a.md:3: the link to b.md leads nowhere"])

    def test_the_index_names_every_page(self):
        pages = {"docs/index.md": "[a](a.md)\n", "docs/a.md": "a\n", "docs/deep/b.md": "b\n"}
        self.assertEqual(self.found(pages), ["docs/index.md:1: it does not name docs/deep/b.md"])


class Comments(unittest.TestCase):
    def found(self, text):
        return [(line, what) for _, line, what in comments.check("shared/base/a.cpp", text)]

    def test_inverted_beginnings_of_blocks_are_found(self):
        for text in ["// What of it counts.", "// Of each peer, its rate.", "int x;  // of the larger one", "int x;  // as above",
                     "// Whoever calls waits.", "// The same for all.", "// Whom it asks.", "// Whose it is."]:
            self.assertEqual(len(self.found(text + "\n")), 1, text)
        for text in ["// It is what\n// of it counts.", "// Offsets of each.", "// What is it? A rate.", "/*of*/ int x;",
                     'auto x = "// What it is";', 'auto x = R"(\n// Of it\n)";', "// It holds\n// As long as this."]:
            self.assertEqual(self.found(text + "\n"), [], text)

    def test_inverted_sentences_within_a_block_are_found(self):
        self.assertEqual(self.found("int x;\n// A rate. What\n// it is, is known.\n"),
                         [(2, "no comment begins with 'What': subject, verb, object")])

    def test_phrases_are_found_over_two_lines(self):
        for phrase in ["so many", "anew", "in vain", "it is told", "can not", "who is there", "whom it is"]:
            self.assertEqual(self.found(f"// A peer {phrase}.\n"), [(1, f"'{phrase}': say it plainly")])
        self.assertEqual(len(self.found("  // It waits in\n  // vain.\n")), 1)
        self.assertEqual(self.found("const char* kText = \"in vain\";  // A text.\n"), [])

    def test_a_sentence_over_two_comments_is_found(self):
        self.assertEqual(len(self.found("int a;  // members that call, …\nint b;  // … all together\n")), 2)
        self.assertEqual(self.found('// Sent as "Bearer …".\n// "a", "b", … in order.\n'), [])

    def test_blocks_end_where_code_or_another_column_begins(self):
        text = "// A.\n// B.\nint x;  // C.\n        // D.\n// E.\n"
        self.assertEqual(cpp_source.comment_blocks(text), [(1, "A. B."), (3, "C. D."), (5, "E.")])


if __name__ == "__main__":
    unittest.main()
