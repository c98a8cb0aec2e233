"""A small source in each language, and how its functions and classes begin."""

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

JAVASCRIPT = """import x from 'y';

export function one() {
  return 1;
}

const two = () => {
  return 2;
};

class Three {
  four() { return 4; }
}
"""

TYPESCRIPT = """interface A {
  b: string;
}

export function one(a: A): number {
  return 1;
}

enum E { X, Y }
"""

JAVA = """import a.B;

public class C {
  int one() { return 1; }
}

interface D {
  int two();
}
"""

GO = """package a

func One() int {
	return 1
}

type T struct {
	X int
}

func (t T) Two() int {
	return 2
}
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

C = """#include <a.h>

int one(void) {
  return 1;
}

static int two(int x) {
  return x;
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

BASH = """set -e

one() {
  echo 1
}

function two {
  echo 2
}
"""

SOURCES: dict[str, tuple[str, list[str]]] = {
    "python": (PYTHON, ["# Says hello", "class Greeter"]),
    "javascript": (JAVASCRIPT, ["export function", "const two", "class Three"]),
    "typescript": (TYPESCRIPT, ["interface A", "export function", "enum E"]),
    "java": (JAVA, ["public class", "interface D"]),
    "go": (GO, ["func One", "type T", "func (t T)"]),
    "rust": (RUST, ["/// Doc", "struct S", "impl S"]),
    "c": (C, ["int one", "static int two"]),
    "cpp": (CPP, ["template", "class C"]),
    "bash": (BASH, ["one()", "function two"]),
}
