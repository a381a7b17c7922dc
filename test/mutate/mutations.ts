// Finds the small semantic changes that can be made to a source file, each as a replacement of a range of its text.
// Types, imports and texts are not changed. The other files of this folder choose the mutations and their tests.
import { parse } from "@babel/parser";

/** One change: `text` replaces the range from `start` to `end`. */
export interface Mutation {
  kind: string;
  start: number;
  end: number;
  /** 1-based */
  line: number;
  lastLine: number;
  text: string;
}

interface Node {
  readonly type: string;
  readonly start: number;
  readonly end: number;
  readonly loc: { readonly start: { readonly line: number }; readonly end: { readonly line: number } };
  readonly [member: string]: unknown;
}

const isNode = (value: unknown): value is Node =>
  typeof value === "object" && value !== null && "type" in value && "start" in value && "loc" in value;

const OPERATORS: Readonly<Record<string, string>> = {
  "<": "<=",
  "<=": "<",
  ">": ">=",
  ">=": ">",
  "===": "!==",
  "!==": "===",
  "+": "-",
  "-": "+",
  "*": "/",
  "/": "*",
  "%": "*",
  "&": "|",
  "|": "&",
  "&&": "||",
  "||": "&&",
  "+=": "-=",
  "-=": "+=",
};
/** Functions and methods that have an opposite of the same shape. */
const OPPOSITES: Readonly<Record<string, string>> = {
  some: "every",
  every: "some",
  min: "max",
  max: "min",
  startsWith: "endsWith",
  endsWith: "startsWith",
  floor: "ceil",
  ceil: "floor",
};
/** Calls whose result or effect is only information: for a log, or about a bug of the program. */
const TELLING = /^(invariant|process\.kill|log\.|this\.own\.log\.|this\.#log\.)/;
/** Lets other work of the event loop run first: it changes when something happens, which benchmarks and torture runs measure. */
const TURN = /^(await setImmediate\(\)|yield);?$/;
/** Calls that make bytes survive a power failure. No test causes one. */
const DURABLE = /^(fsyncSync|flushToDisk)\(/;
/** Numbers and booleans, written as `<>`, that may have other values. */
const WITHOUT_EFFECT = [
  /\.limit\(<>/, // a statement that finds a row by a unique key; a larger limit would find the same
  /\bforce: <>/, // only avoids an error, when another process has removed the same file
  /\breadonly: <>/, // a connection that could write reads the same
  /\? -?<> : -?1\b|\? -?1 : -?<>/, // only the sign of a comparison for sorting matters
];
/** A limit with a name: tests use the name, so that its value can be changed in one place. */
const LIMIT = /^(export )?const [A-Z][A-Z0-9_]*\b/;

/** @returns every mutation of a TypeScript source, in the order of the text */
export function mutationsOf(source: string): Mutation[] {
  const file: unknown = parse(source, { sourceType: "module", plugins: ["typescript"] }).program;
  const found: Mutation[] = [];
  if (isNode(file)) walk(file, { source, found, passedOn: new Set(), isInTry: false });
  return found.sort((one, other) => one.start - other.start || one.end - other.end);
}

interface Search {
  source: string;
  found: Mutation[];
  /** `await` right after `return`, outside of `try`: the caller waits for the same promise without it */
  passedOn: Set<Node>;
  isInTry: boolean;
}

function walk(node: Node, search: Search): void {
  if (isLeftAlone(node, search.source)) return;
  const result = node.type === "ReturnStatement" ? node.argument : node.body;
  if (node.type === "ArrowFunctionExpression" || (node.type === "ReturnStatement" && !search.isInTry))
    for (const awaited of awaitsIn(result)) search.passedOn.add(awaited);
  for (const change of search.passedOn.has(node) ? [] : changesOf(node, search.source)) {
    const { start, end, loc } = node;
    search.found.push({ line: loc.start.line, lastLine: loc.end.line, start, end, ...change });
  }
  for (const [name, value] of Object.entries(node)) {
    if (name === "typeAnnotation" || name === "returnType" || name === "typeParameters") continue;
    const inner = { ...search, isInTry: isInTry(node, { member: name, isOuter: search.isInTry }) };
    for (const child of Array.isArray(value) ? value : [value]) if (isNode(child)) walk(child, inner);
  }
}

function isInTry(node: Node, { member, isOuter }: { member: string; isOuter: boolean }): boolean {
  if (/Function|Method/.test(node.type)) return false;
  return isOuter || (node.type === "TryStatement" && (member === "block" || isNode(node.finalizer)));
}

function awaitsIn(result: unknown): Node[] {
  if (!isNode(result)) return [];
  if (result.type === "AwaitExpression") return [result];
  return result.type === "ConditionalExpression"
    ? [result.consequent, result.alternate].flatMap(awaitsIn)
    : [];
}

function isLeftAlone(node: Node, source: string): boolean {
  if (
    /^(TS(?!AsExpression|SatisfiesExpression|NonNullExpression|ParameterProperty)|Import|ExportAll)/.test(
      node.type,
    )
  )
    return true;
  const text = source.slice(node.start, node.end);
  if (TURN.test(text)) return true;
  if (node.type === "VariableDeclaration" && LIMIT.test(text)) return true;
  if (node.type === "CallExpression") return TELLING.test(text) || DURABLE.test(text);
  if (/^(Numeric|Boolean)Literal$/.test(node.type))
    return WITHOUT_EFFECT.some((place) => place.test(around(node, source)));
  const only = onlyPartOf(node);
  return only !== undefined && isLeftAlone(only, source);
}

const around = ({ start, end }: Node, source: string): string =>
  `${source.slice(Math.max(0, start - 20), start)}<>${source.slice(end, end + 20)}`;

/** @returns the call of a statement, or what an `if` without `else` guards */
function onlyPartOf({ type, expression, argument, consequent, alternate }: Node): Node | undefined {
  const part =
    type === "ExpressionStatement"
      ? expression
      : type === "AwaitExpression"
        ? argument
        : type === "IfStatement" && !alternate
          ? consequent
          : undefined;
  return isNode(part) ? part : undefined;
}

type Change = Pick<Mutation, "kind" | "text"> & Partial<Pick<Mutation, "start" | "end">>;

const CHANGES: Readonly<Record<string, (node: Node, source: string) => Change[]>> = {
  BinaryExpression: otherOperator,
  LogicalExpression: otherOperator,
  AssignmentExpression: otherOperator,
  UnaryExpression: (node, source) =>
    node.operator === "!" ? [{ kind: "dropped negation", text: textOf(node.argument, source) }] : [],
  AwaitExpression: (node, source) => [{ kind: "dropped await", text: `(${textOf(node.argument, source)})` }],
  NumericLiteral: ({ value }) => [{ kind: "changed number", text: String(Number(value) + 1) }],
  BooleanLiteral: ({ value }) => [{ kind: "changed boolean", text: String(value !== true) }],
  IfStatement: (node, source) => [...negatedTest(node, source), ...droppedGuard(node)],
  ConditionalExpression: negatedTest,
  ExpressionStatement: droppedStatement,
  CallExpression: (node, source) => [...oppositeCall(node), ...droppedCondition(node, source)],
};

const changesOf = (node: Node, source: string): Change[] => CHANGES[node.type]?.(node, source) ?? [];

const textOf = (node: unknown, source: string): string =>
  isNode(node) ? source.slice(node.start, node.end) : "";

function otherOperator({ operator, left, right }: Node, source: string): Change[] {
  if (!isNode(left) || !isNode(right)) return [];
  const isText = [left, right].some(({ type }) => type === "StringLiteral" || type === "TemplateLiteral");
  if (operator === "??") {
    return [{ kind: "dropped default", text: `(${textOf(left, source)})` }];
  }
  const other = OPERATORS[String(operator)];
  if (other === undefined || (isText && operator === "+")) return [];
  return [
    {
      kind: `${operator} to ${other}`,
      text: `(${textOf(left, source)}) ${other} (${textOf(right, source)})`,
    },
  ].map((change) =>
    String(operator).endsWith("=") && !/^[=!<>]/.test(String(operator)) ? assigned(change) : change,
  );
}

/** The left side of an assignment takes no parentheses. */
const assigned = (change: Change): Change => ({
  ...change,
  text: change.text.replace(/^\((.*?)\) /s, "$1 "),
});

/** Omits a change whose effect another mutation has. */
function negatedTest({ test }: Node, source: string): Change[] {
  if (!isNode(test) || /^(!|[!=]==)$/.test(String(test.operator))) return [];
  return [
    { kind: "negated condition", text: `!(${textOf(test, source)})`, start: test.start, end: test.end },
  ];
}

/** `if (…) return …` and `if (…) throw …` without an `else`. */
function droppedGuard({ consequent, alternate }: Node): Change[] {
  if (!isNode(consequent) || isNode(alternate)) return [];
  return [{ kind: "dropped branch", text: ";" }];
}

function droppedStatement(node: Node, source: string): Change[] {
  return textOf(node, source).startsWith("super(") ? [] : [{ kind: "dropped statement", text: ";" }];
}

function oppositeCall({ callee }: Node): Change[] {
  const name = isNode(callee) && isNode(callee.property) ? callee.property : undefined;
  const other = name?.type === "Identifier" ? OPPOSITES[String(name.name)] : undefined;
  if (!name || other === undefined || !Object.hasOwn(OPPOSITES, String(name.name))) return [];
  return [{ kind: `${name.name} to ${other}`, text: other, start: name.start, end: name.end }];
}

/** One of the conditions of a statement that the database runs. */
function droppedCondition({ callee, arguments: given }: Node, source: string): Change[] {
  const name = isNode(callee) && callee.type === "Identifier" ? String(callee.name) : "";
  if (!/^(?:and|or|equalAll)$/.test(name) || !Array.isArray(given)) return [];
  const conditions = given.filter(isNode);
  // the first argument of equalAll is the table, which needs one column at least
  const droppable = name !== "equalAll" ? conditions : conditions.length > 2 ? conditions.slice(1) : [];
  return droppable.map((dropped) => ({
    kind: "dropped SQL condition",
    text: `${name}(${conditions
      .filter((condition) => condition !== dropped)
      .map((condition) => textOf(condition, source))
      .join(", ")})`,
  }));
}
