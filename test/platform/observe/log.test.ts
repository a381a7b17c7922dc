import { expect, test } from "bun:test";
import { setImmediate } from "node:timers/promises";
import {
  type AdjustableLog,
  bufferLines,
  CUT_EVENT_LENGTH_MAX,
  createLog,
  LOG_LINE_LENGTH_MAX,
  type LogFields,
  type LogOptions,
} from "../../../src/platform/observe/log.ts";
import {
  LOG_DEPTH_MAX,
  LOG_LINE_MEMBERS_MAX,
  LOG_MEMBERS_MAX,
  LOG_TEXT_LENGTH_MAX,
} from "../../../src/platform/observe/log-value.ts";
import { Secret } from "../../../src/platform/secret.ts";

const AT_MS = Date.UTC(2026, 0, 2, 3, 4, 5, 6);

function recorded(options: Partial<LogOptions> = {}): { log: AdjustableLog; lines: string[] } {
  const lines: string[] = [];
  const log = createLog({
    level: "debug",
    format: "json",
    write: (line) => void lines.push(line),
    clock: { nowMs: () => AT_MS },
    ...options,
  });
  return { log, lines };
}

function shown(fields: LogFields, options: Partial<LogOptions> = {}): Record<string, unknown> {
  const { log, lines } = recorded(options);
  log.info("area.happened", fields);
  expect(lines).toHaveLength(1);
  return JSON.parse(lines[0] ?? "");
}

test("a line is one JSON object with time, level, event, then the fields", () => {
  const { log, lines } = recorded();
  log.warning("backup.late", { age_seconds: 7 });
  expect(lines).toEqual([
    '{"ts":"2026-01-02T03:04:05.006Z","level":"warning","event":"backup.late","age_seconds":7}\n',
  ]);
});

test("fields are computed only for a line that is written", () => {
  const { log, lines } = recorded({ level: "info" });
  let computed = 0;
  const fields = () => ({ computed: ++computed });
  log.debug("http.answered", fields);
  expect(computed).toBe(0);
  log.info("http.answered", fields);
  expect(JSON.parse(lines[0] ?? "").computed).toBe(1);
});

test("the text form has the same content on one line for a terminal", () => {
  const { log, lines } = recorded({ format: "text" });
  log.info("http.request", { route: "/admin/:id", note: "two words", tags: ["a"] });
  expect(lines).toEqual([
    '2026-01-02T03:04:05.006Z INFO    http.request route=/admin/:id note="two words" tags=["a"]\n',
  ]);
});

test("lines of one turn of the event loop are written together at its end, those of the next turn separately", async () => {
  const written: string[] = [];
  const { write } = bufferLines((lines) => void written.push(lines));
  write("one\n");
  write("two\n");
  expect(written).toEqual([]);
  await setImmediate();
  write("three\n");
  await setImmediate();
  expect(written).toEqual(["one\ntwo\n", "three\n"]);
});

test("pending lines are written immediately on request, and only once", async () => {
  const written: string[] = [];
  const { write, flush } = bufferLines((lines) => void written.push(lines));
  write("one\n");
  flush();
  expect(written).toEqual(["one\n"]);
  await setImmediate();
  flush();
  expect(written).toEqual(["one\n"]);
});

test("nothing below the chosen level is written", () => {
  const { log, lines } = recorded({ level: "warning" });
  log.debug("a.b");
  log.info("a.b");
  log.warning("a.b");
  log.error("a.b");
  expect(lines.map((line) => JSON.parse(line).level)).toEqual(["warning", "error"]);
});

test("a change of the level applies from then on, also to children", () => {
  const { log, lines } = recorded({ level: "error" });
  const child = log.child({ area: "b" });
  for (const level of ["info", "warning"] as const) {
    log.setLevel(level);
    for (const each of [log, child]) each.info(level);
    for (const each of [log, child]) each.warning(level);
  }
  const written = lines.map((line) => JSON.parse(line)).map(({ level, event }) => `${level} ${event}`);
  const all = [
    "info info",
    "info info",
    "warning info",
    "warning info",
    "warning warning",
    "warning warning",
  ];
  expect(written).toEqual(all);
});

test("a member named toJSON that is not a function is an ordinary member", () => {
  expect(shown({ a: { toJSON: 1, b: 2 } }).a).toEqual({ toJSON: 1, b: 2 });
});

test.each([
  ["debug", "<7>"],
  ["info", "<6>"],
  ["warning", "<4>"],
  ["error", "<3>"],
] as const)("a line at %s under the journal starts with priority %s", (level, prefix) => {
  const { log, lines } = recorded({ journald: true });
  log[level]("a.b");
  expect(lines[0]).toStartWith(`${prefix}{"ts":`);
});

test("a child adds its fields, and those of the call override them", () => {
  const { log, lines } = recorded();
  log.child({ request_id: "r1", actor_id: "u1" }).child({ route: "/x" }).info("a.b", { actor_id: "u2" });
  expect(JSON.parse(lines[0] ?? "")).toMatchObject({ request_id: "r1", actor_id: "u2", route: "/x" });
});

test("a field cannot replace the line's time, level or event", () => {
  expect(shown({ level: "error", event: "x.y", ts: "z" })).toMatchObject({
    level: "info",
    event: "area.happened",
    ts: "2026-01-02T03:04:05.006Z",
    level_: "error",
    event_: "x.y",
    ts_: "z",
  });
});

test("a field named __proto__ is an ordinary field", () => {
  expect(Object.keys(shown(JSON.parse('{"__proto__":{"a":1}}')))).toContain("__proto__");
});

const key = new Secret("qm_hidden");

test("a secret below the deepest shown level is still marked as a secret", () => {
  let value: unknown = key;
  for (let level = 0; level < LOG_DEPTH_MAX; level += 1) value = { a: value };
  expect(JSON.stringify(shown({ value }))).toContain('"[secret]"');
});

test.each([
  ["at the top", { key }],
  ["in an array in an object", { a: { b: [{ key }] } }],
  ["in a map", { a: new Map([["key", key]]) }],
  ["in a set", { a: new Set([key]) }],
  ["behind toJSON", { a: { toJSON: () => ({ key }) } }],
  ["as the cause of an error", { a: new Error("outer", { cause: key }) }],
  [
    "in an own field of an error",
    { a: Object.assign(new Error("outer"), { request: { key: "qm_hidden" } }) },
  ],
  ["in bytes", { a: new TextEncoder().encode("qm_hidden") }],
])("a secret %s is not shown in any format at any level", (_, fields) => {
  for (const format of ["json", "text"] as const) {
    const { log, lines } = recorded({ format });
    log.debug("a.b", fields);
    log.error("a.b", fields);
    expect(lines.join("")).not.toContain("qm_hidden");
  }
});

test("maps and sets are shown as lists", () => {
  const fields = { map: new Map([["a", 1]]), set: new Set(["b"]), view: new DataView(new ArrayBuffer(3)) };
  expect(shown(fields)).toMatchObject({ map: [["a", 1]], set: ["b"], view: "[3 bytes]" });
});

test("an error shows name, message, reason and causes, and its stack at level error only", () => {
  const error = Object.assign(new TypeError("bad", { cause: new Error("deeper") }), { reason: "a.b" });
  const { log, lines } = recorded();
  log.warning("a.b", { error });
  log.error("a.b", { error });
  const [warning, failure] = lines.map((line) => JSON.parse(line).error);
  expect(warning).toEqual({
    name: "TypeError",
    message: "bad",
    reason: "a.b",
    cause: { name: "Error", message: "deeper" },
  });
  expect(failure.stack).toContain("log.test.ts");
});

test.each([
  ["a line feed", "\n"],
  ["a carriage return", "\r"],
  ["NEL", "\u0085"],
  ["a line separator", "\u2028"],
  ["an escape sequence", "\u001b[2J"],
  ["a C1 control sequence", "\u009b2J"],
  ["DEL", "\u007f"],
  ["a right-to-left override", "\u202e"],
  ["a tag character beyond the basic plane", "\u{e0041}"],
])("%s in a value, a name or an event cannot forge or hide a line", (_, bad) => {
  const text = `x${bad}{"level":"error"}`;
  for (const format of ["json", "text"] as const) {
    const { log, lines } = recorded({ format });
    log.info(text, { plain: text, [text]: [text], error: new Error(text) });
    const line = lines.join("");
    expect(line).toMatch(/^[ -~]+\n$/);
    if (format === "json") expect(JSON.parse(line).plain).toBe(text);
  }
});

test("letters beyond ASCII stay readable", () => {
  const { log, lines } = recorded();
  log.info("a.b", { name: "Zoë 猫 🐈" });
  expect(lines[0]).toContain("Zoë 猫 🐈");
});

test("values that JSON cannot express are written as text", () => {
  const when = new Date(AT_MS);
  const { ts, level, event, ...fields } = shown({
    when,
    never: new Date(Number.NaN),
    big: 12n,
    infinite: Number.POSITIVE_INFINITY,
    call: () => 1,
    symbol: Symbol("s"),
    none: null,
    absent: undefined,
    url: new URL("https://a.example/x"),
  });
  expect(fields).toEqual({
    when: "2026-01-02T03:04:05.006Z",
    never: "[invalid date]",
    big: "12",
    infinite: "Infinity",
    call: "[function]",
    symbol: "Symbol(s)",
    none: null,
    url: "https://a.example/x",
  });
});

test("a cyclic value ends, and a value used twice is shown twice", () => {
  const loop: Record<string, unknown> = { n: 1 };
  loop.self = loop;
  const twice = { n: 2 };
  expect(shown({ loop, list: [twice, twice] })).toMatchObject({
    loop: { n: 1, self: "[circular]" },
    list: [{ n: 2 }, { n: 2 }],
  });
});

test("a getter that throws omits its field, not the line", () => {
  const bad = {
    get x(): string {
      throw new Error("no");
    },
  };
  expect(shown({ bad, good: 1 })).toMatchObject({ bad: "[unreadable]", good: 1 });
});

const nested = (levels: number): unknown => (levels === 0 ? "leaf" : { in: nested(levels - 1) });

test.each([
  [LOG_DEPTH_MAX - 1, true],
  [LOG_DEPTH_MAX, true],
  [LOG_DEPTH_MAX + 1, false],
])("a leaf below %i levels is shown: %p", (levels, visible) => {
  expect(JSON.stringify(shown({ a: nested(levels) })).includes("leaf")).toBe(visible);
});

test.each([
  [LOG_MEMBERS_MAX - 1, undefined],
  [LOG_MEMBERS_MAX, undefined],
  [LOG_MEMBERS_MAX + 1, "[1 more]"],
])("shows the first of %i members and counts those beyond the limit: %p", (size, rest) => {
  const list = Array.from({ length: size }, (_, index) => index);
  const fields = shown({ list, object: Object.fromEntries(list.map((n) => [`k${n}`, n])) });
  expect(fields.list).toEqual(rest ? [...list.slice(0, LOG_MEMBERS_MAX), rest] : list);
  expect(Reflect.get(fields.object ?? {}, "…")).toBe(rest);
  expect(Object.keys(fields.object ?? {})).toHaveLength(Math.min(size, LOG_MEMBERS_MAX + 1));
});

test.each([
  [LOG_LINE_MEMBERS_MAX - 1, 0],
  [LOG_LINE_MEMBERS_MAX, 0],
  [LOG_LINE_MEMBERS_MAX + 1, 1],
])("a line of %i members in objects is cut by %i", (members, cut) => {
  const fields = Object.fromEntries(
    Array.from({ length: Math.ceil(members / LOG_MEMBERS_MAX) }, (_, part) => {
      const size = Math.min(LOG_MEMBERS_MAX, members - part * LOG_MEMBERS_MAX);
      return [`part${part}`, Object.fromEntries(Array.from({ length: size }, (_, at) => [`k${at}`, at]))];
    }),
  );
  const line = JSON.stringify(shown(fields));
  expect(line.match(/"k\d+"/g)).toHaveLength(members - cut);
  expect(line.includes(`[${cut} more]`)).toBe(cut > 0);
});

const rowsOfTen = (members: number) => Array.from({ length: members / 10 }, () => Array(9).fill(1));

test.each([
  [LOG_LINE_MEMBERS_MAX - 10, false],
  [LOG_LINE_MEMBERS_MAX, false],
  [LOG_LINE_MEMBERS_MAX + 10, true],
])("a line of %i members in total is cut: %p", (members, cut) => {
  const rows = rowsOfTen(members);
  const line = JSON.stringify(shown({ first: rows.slice(0, 40), second: rows.slice(40) }));
  expect(line.includes("more]")).toBe(cut);
});

test.each([
  [-1, false],
  [0, false],
  [1, true],
])("a line with %i more members than the limit, the last in a list, is cut: %p", (more, cut) => {
  const rows = rowsOfTen(LOG_LINE_MEMBERS_MAX - 10);
  const last = Array(9 + more).fill(1);
  const line = JSON.stringify(shown({ first: rows.slice(0, 40), second: [...rows.slice(40), last] }));
  expect(line.includes("[1 more]")).toBe(cut);
});

test.each([
  [LOG_TEXT_LENGTH_MAX - 1, false],
  [LOG_TEXT_LENGTH_MAX, false],
  [LOG_TEXT_LENGTH_MAX + 1, true],
])("a text of %i units is cut: %p", (length, cut) => {
  const kept = "x".repeat(Math.min(length, LOG_TEXT_LENGTH_MAX));
  expect(shown({ a: "x".repeat(length) }).a).toBe(cut ? `${kept}… [1 more]` : kept);
});

test.each([
  [-1, false],
  [0, false],
  [1, true],
])("a line %i units from the limit loses its fields: %p", (over, cut) => {
  const chunk = "x".repeat(LOG_TEXT_LENGTH_MAX);
  const { log, lines } = recorded();
  log.info("a.b", { a: chunk, b: chunk, c: chunk, d: "" });
  const rest = LOG_LINE_LENGTH_MAX - ((lines[0] ?? "").length - 1);
  log.info("a.b", { a: chunk, b: chunk, c: chunk, d: "x".repeat(rest + over) });
  const line = lines[1] ?? "";
  expect(JSON.parse(line).event).toBe("a.b");
  expect(JSON.parse(line).omitted_length).toBe(cut ? LOG_LINE_LENGTH_MAX + 1 : undefined);
});

test.each([-1, 0, 1])(
  "a line that is cut keeps the first part of its event, tested at the limit %i",
  (more) => {
    const { log, lines } = recorded();
    const chunk = "x".repeat(LOG_TEXT_LENGTH_MAX);
    const event = "e".repeat(CUT_EVENT_LENGTH_MAX + more);
    log.info(event, { a: chunk, b: chunk, c: chunk, d: chunk });
    expect(JSON.parse(lines[0] ?? "").event).toBe(event.slice(0, CUT_EVENT_LENGTH_MAX));
  },
);
