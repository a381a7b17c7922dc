// The grammar of filters and of PATCH paths: parses text into a tree of names, operators and literals, within limits and in one
// pass. typing.ts resolves the names.
import { type ScimError, scimInvalid } from "../errors.ts";
import { FILTER_DEPTH_MAX, FILTER_LENGTH_MAX, FILTER_TESTS_MAX } from "./model.ts";

const OPERATOR_NAMES = ["eq", "ne", "co", "sw", "ew", "gt", "ge", "lt", "le"] as const;
export type Operator = (typeof OPERATOR_NAMES)[number];
export type Literal = string | number | boolean;

/** `name pr`; also `name ne null`, and negated `name eq null` (SCIM-58) */
interface WrittenPresence {
  readonly kind: "present";
  readonly name: string;
}

export interface WrittenTest {
  readonly kind: "test";
  readonly name: string;
  readonly operator: Operator;
  readonly literal: Literal;
}

export interface WrittenElement {
  readonly kind: "element";
  readonly name: string;
  readonly filter: Written;
}

export type Written =
  | WrittenPresence
  | WrittenTest
  | WrittenElement
  | { readonly kind: "not"; readonly part: Written }
  | { readonly kind: "and" | "or"; readonly parts: readonly Written[] };

export interface WrittenPath {
  readonly name: string;
  readonly filter: Written | undefined;
  /** name after the brackets */
  readonly sub: string | undefined;
}

/** The caller's error; both use the same grammar. */
export type Refusal = "invalidFilter" | "invalidPath";

const BLANKS = /[ \t]*/y;
const OR = /[ \t]+or[ \t]+/iy;
const AND = /[ \t]+and[ \t]+/iy;
const NEGATED_GROUP = /not[ \t]*\(/iy;
const GROUP = /\(/y;
const GROUP_END = /[ \t]*\)/y;
const BRACKET = /\[/y;
const BRACKET_END = /[ \t]*\]/y;
const NAME = /[A-Za-z$][A-Za-z0-9$_:.-]*/y;
const SUB_NAME = /\.[A-Za-z$][A-Za-z0-9$_-]*/y;
const PRESENT = /[ \t]+pr(?![A-Za-z0-9$_:.-])/iy;
const OPERATOR = /[ \t]+[a-z]+[ \t]+/iy;
const STRING = /"(?:[^"\\]|\\.)*"/y;
const NUMBER = /-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:e[+-]?[0-9]+)?/iy;
const KEYWORD = /[a-z]+/iy;

const OPERATORS: ReadonlyMap<string, Operator> = new Map(OPERATOR_NAMES.map((name) => [name, name]));
const KEYWORDS: ReadonlyMap<string, boolean | null> = new Map([
  ["true", true],
  ["false", false],
  ["null", null],
]);

/**
 * @returns the tree of a filter; surrounding blanks are ignored
 * @throws ScimError `invalidFilter`
 * @source RFC 7644 section 3.4.2.2; SCIM-51, SCIM-60
 */
export function parseSyntax(text: string): Written {
  const parser = new Parser(text, "invalidFilter");
  const filter = parser.filter();
  parser.end();
  return filter;
}

/**
 * @returns the parts of the path of a PATCH operation
 * @throws ScimError `invalidPath`
 * @source RFC 7644 section 3.5.2
 */
export function parsePathSyntax(text: string): WrittenPath {
  const parser = new Parser(text, "invalidPath");
  const path = parser.path();
  parser.end();
  return path;
}

class Parser {
  #at = 0;
  #tests = 0;
  #depth = 0;
  #inBrackets = false;
  readonly #text: string;

  constructor(
    text: string,
    readonly refusal: Refusal,
  ) {
    if (text.length > FILTER_LENGTH_MAX) throw this.#refuse(`has more than ${FILTER_LENGTH_MAX} characters`);
    this.#text = text;
    this.#take(BLANKS);
  }

  end(): void {
    this.#take(BLANKS);
    if (this.#at < this.#text.length) throw this.#unexpected("the end, ` and ` or ` or `");
  }

  path(): WrittenPath {
    const name = this.#name("an attribute name");
    if (this.#take(BRACKET) === undefined) return { name, filter: undefined, sub: undefined };
    const filter = this.#bracketed();
    return { name, filter, sub: this.#take(SUB_NAME)?.slice(1) };
  }

  filter(): Written {
    return this.#joined("or", OR, () => this.#joined("and", AND, () => this.#term()));
  }

  #joined(kind: "and" | "or", separator: RegExp, part: () => Written): Written {
    const first = part();
    if (this.#take(separator) === undefined) return first;
    const parts = [first, part()];
    while (this.#take(separator) !== undefined) parts.push(part());
    return { kind, parts };
  }

  #term(): Written {
    if (this.#take(NEGATED_GROUP) !== undefined) return { kind: "not", part: this.#group() };
    if (this.#take(GROUP) !== undefined) return this.#group();
    const name = this.#name("an attribute name or `(`");
    if (this.#take(BRACKET) === undefined) return this.#test(name);
    return this.#element(name);
  }

  #group(): Written {
    return this.#nested(GROUP_END, "`)`");
  }

  /** `emails[type eq "work"].value eq "x"`: one value satisfies both (SCIM-53). */
  #element(name: string): Written {
    const filter = this.#bracketed();
    const sub = this.#take(SUB_NAME);
    if (sub === undefined) return { kind: "element", name, filter };
    const test = this.#test(sub.slice(1));
    return { kind: "element", name, filter: { kind: "and", parts: [filter, test] } };
  }

  #bracketed(): Written {
    if (this.#inBrackets) throw this.#refuse("has nested brackets");
    this.#inBrackets = true;
    const filter = this.#nested(BRACKET_END, "`]`");
    this.#inBrackets = false;
    return filter;
  }

  #nested(end: RegExp, endText: string): Written {
    if (this.#depth === FILTER_DEPTH_MAX) throw this.#refuse(`is nested deeper than ${FILTER_DEPTH_MAX}`);
    this.#depth += 1;
    this.#take(BLANKS);
    const filter = this.filter();
    if (this.#take(end) === undefined) throw this.#unexpected(endText);
    this.#depth -= 1;
    return filter;
  }

  #test(name: string): Written {
    this.#tests += 1;
    if (this.#tests > FILTER_TESTS_MAX) throw this.#refuse(`has more than ${FILTER_TESTS_MAX} comparisons`);
    if (this.#take(PRESENT) !== undefined) return { kind: "present", name };
    const operator = OPERATORS.get(this.#word(OPERATOR));
    if (operator === undefined) throw this.#unexpected("an operator such as ` eq `, with spaces around it");
    const literal = this.#literal();
    if (literal !== null) return { kind: "test", name, operator, literal };
    if (operator === "ne") return { kind: "present", name };
    if (operator === "eq") return { kind: "not", part: { kind: "present", name } };
    throw this.#refuse(`compares null with ${operator} at character ${this.#at}: use pr, eq or ne`);
  }

  #literal(): Literal | null {
    const string = this.#take(STRING);
    if (string !== undefined) return this.#string(string);
    const number = this.#take(NUMBER);
    if (number !== undefined) return Number(number);
    const keyword = KEYWORDS.get(this.#word(KEYWORD));
    if (keyword === undefined) throw this.#unexpected("text in double quotes, true, false or null");
    return keyword;
  }

  #string(token: string): string {
    try {
      const text: unknown = JSON.parse(token);
      if (typeof text === "string" && text.isWellFormed()) return text;
    } catch {
      // JSON reports positions within the token only; the error below names the problem
    }
    throw this.#refuse(`has an invalid escape in the text that ends at character ${this.#at}`);
  }

  #take(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.#at;
    const found = pattern.exec(this.#text)?.[0];
    this.#at += found?.length ?? 0;
    return found;
  }

  #word(pattern: RegExp): string {
    return this.#take(pattern)?.trim().toLowerCase() ?? "";
  }

  #name(expected: string): string {
    const name = this.#take(NAME);
    if (name === undefined) throw this.#unexpected(expected);
    return name;
  }

  #unexpected(expected: string): ScimError {
    return this.#refuse(`is wrong at character ${this.#at + 1}: expected ${expected}`);
  }

  #refuse(problem: string): ScimError {
    return scimInvalid(this.refusal, `${this.refusal === "invalidPath" ? "path" : "filter"} ${problem}`);
  }
}
