"""Small sources, and how their functions and classes begin."""

PYTHON = '''import os
from sys import path


# Says hello.
@decorated
def hello(name):
    """A docstring."""
    return "hello " + name


class Greeter:
    """Greets."""

    def __init__(self, name):
        self.name = name

    def greet(self):
        return hello(self.name)
'''

TYPESCRIPT = """interface A {
  b: string;
}

export function one(a: A): number {
  return 1;
}

enum E { X, Y }
"""

RUST = """use std::io;

/// Doc.
fn one() -> i32 {
    1
}

struct S {
    x: i32,
}

impl S {
    fn two(&self) -> i32 { 2 }
}
"""

CPP = """#include <a>

template <class T>
T one(T x) {
  return x;
}

class C {
  int two() { return 2; }
};
"""

SOURCES: dict[str, tuple[str, list[str]]] = {
    "python": (PYTHON, ["# Says hello", "class Greeter"]),
    "typescript": (TYPESCRIPT, ["interface A", "export function", "enum E"]),
    "rust": (RUST, ["/// Doc", "struct S", "impl S"]),
    "cpp": (CPP, ["template", "class C"]),
}

# A short source in each language, and the names of its definitions.
NAMED = [
    ("python", "class A:\n    def f(self):\n        pass\n\n\nasync def g():\n    pass\n", "A f g"),
    (
        "javascript",
        "class A { f() {} }\nfunction g() { return 1 }\nconst h = () => 2;\nlet i;\nconst j = 5;\n",
        "A f g h",
    ),
    ("typescript", "interface A { b: string }\nexport function g(a: number): void {}\n", "A g"),
    ("java", "package a;\nclass A {\n  A() {}\n  int f(int x) { return x; }\n}\n", "A A f"),
    ("go", "package a\n\ntype T struct{}\n\nfunc (t *T) F() {}\n\nfunc g() {}\n", "T F g"),
    ("rust", "struct S;\nimpl Clone for S { fn f(&self) {} }\nfn g() {}\n", "S S f g"),
    ("c", "#include <a.h>\nstruct S { int a; };\nstatic int *g(int a) { return 0; }\n", "S g"),
    (
        "cpp",
        "class A { public: A(); };\nvoid A::f() {}\ntemplate <class T> T g(T a) { return a; }\n",
        "A A::f g",
    ),
    ("php", "<?php\nclass A {\n  public function f($a) { return 1; }\n}\nfunction g() {}\n", "A f g"),
    ("csharp", "using System;\nnamespace N {\n  class A {\n    int F(int a) => 1;\n  }\n}\n", "A F"),
    ("bash", "#!/bin/sh\ngreet() {\n  echo hello\n}\ngreet\n", "greet"),
]

NO_CODE = [
    *("total 8\n-rw-r--r-- 1 root root 12 Jan 1 notes.md", '{\n  "a": [1, 2]\n}', "a: 1\nb:\n  - c"),
    *("Dear all,\nthe function of a class is to import knowledge.", "x = 1\nprint(x)", "+--+\n|ab|\n+--+"),
    *("SELECT * FROM notes WHERE path = 'a';", '<p class="a">text</p>'),
]
