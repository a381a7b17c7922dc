// The names that administrators enter: allowed characters and lengths (SRC-4).
import { describe, expect, test } from "bun:test";
import {
  FOLDER_CHARACTERS_MAX,
  FOLDER_PARTS_MAX,
  isFolder,
  isInNamespaces,
  isRef,
  isRepository,
  REF_CHARACTERS_MAX,
  REPOSITORY_PART_CHARACTERS_MAX,
  REPOSITORY_PARTS_MAX,
} from "../../../../src/domain/catalog/connections/coordinates.ts";

const around = (max: number, accepts: (length: number) => boolean) =>
  [max - 1, max, max + 1].map((length) => accepts(length));
const WITHIN = [true, true, false];
const flat = { nested: false };
const nested = { nested: true };

describe("a repository", () => {
  test.each(["a/b", "A-1_2.3/x", "...a/b..c"])("may be %p", (name) => {
    expect([isRepository(name, flat), isRepository(name, nested)]).toEqual([true, true]);
  });
  test.each(["", "a", "a/", "/b", "../b", "a/.", "a b/c", "a/b%2e", "a\\b/c", "ä/b", "~a/b"])(
    "is not %p",
    (name) => expect(isRepository(name, nested)).toBe(false),
  );
  test("has a limited number of parts, two without nested groups", () => {
    const parts = (count: number) => Array(count).fill("a").join("/");
    expect(around(REPOSITORY_PARTS_MAX, (count) => isRepository(parts(count), nested))).toEqual(WITHIN);
    expect(isRepository("a/b/c", flat)).toBe(false);
  });
  test("has parts of limited length", () => {
    const accepts = (length: number) => isRepository(`${"a".repeat(length)}/b`, flat);
    expect(around(REPOSITORY_PART_CHARACTERS_MAX, accepts)).toEqual(WITHIN);
  });
});

describe("a ref", () => {
  test.each(["main", "v1.2.0", "feature/x", "a+b@c", "0".repeat(40)])("may be %p", (ref) => {
    expect(isRef(ref)).toBe(true);
  });
  test.each([
    ...["", "-a", "+a", "a@", "@", "a/@", "a..b", "a//b", "/a", "a/", "./a", "a/.", "a.lock", "a.lock/b"],
    ...["a@{1}", "a b", "a~1", "a^", "a:b", "a?b", "a*", "a[b", "a\\b", "%2e", "a\n", "ä"],
  ])("is not %p", (ref) => expect(isRef(ref)).toBe(false));
  test("has a limited length", () => {
    expect(around(REF_CHARACTERS_MAX, (length) => isRef("a".repeat(length)))).toEqual(WITHIN);
  });
});

describe("a folder", () => {
  test.each(["", "a", "a/b c/ä"])("may be %p", (path) => expect(isFolder(path)).toBe(true));
  test.each(["/a", "a//b", "..", "a/..", "./a", "a\\b", "a:b", "a\0"])("is not %p", (path) =>
    expect(isFolder(path)).toBe(false),
  );
  test("has a limited length and depth", () => {
    expect(around(FOLDER_CHARACTERS_MAX, (length) => isFolder("a".repeat(length)))).toEqual(WITHIN);
    const deep = (count: number) => Array(count).fill("a").join("/");
    expect(around(FOLDER_PARTS_MAX, (count) => isFolder(deep(count)))).toEqual(WITHIN);
  });
});

test("a namespace contains its repositories and nested groups, in any case", () => {
  expect(isInNamespaces("Acme/tools", ["acme"])).toBe(true);
  expect(isInNamespaces("acme/sub/tools", ["acme/SUB"])).toBe(true);
  expect(isInNamespaces("acme/tools", ["acme/tools", "acm", "acme-2"])).toBe(false);
  expect(isInNamespaces("any/tools", ["*"])).toBe(true);
  expect(isInNamespaces("any/tools", [])).toBe(false);
});
