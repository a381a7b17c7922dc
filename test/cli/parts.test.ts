// Pure functions of the CLI: ages, tables, progress lines, exit codes.
import { describe, expect, test } from "bun:test";
import { Writable } from "node:stream";
import { processContext } from "../../cli/context.ts";
import { EXIT, failureOf, Interrupted, PERMANENT_FAILURE_EXITS, SomeFailed } from "../../cli/exit.ts";
import { ageText } from "../../cli/output/age.ts";
import { colorOf } from "../../cli/output/color.ts";
import { LINE_INTERVAL_MS, progressText, QUIET_MS, startProgress } from "../../cli/output/progress.ts";
import { SHORTENED_WIDTH_MIN, tableText } from "../../cli/output/table.ts";
import { DomainError, type ErrorKind } from "../../src/platform/errors.ts";
import { heldClock } from "../support/world.ts";

describe("ages", () => {
  test.each([
    [0, "now"],
    [999, "now"],
    [1000, "1s"],
    [59_999, "59s"],
    [60_000, "1m"],
    [3_600_000, "1h"],
    [86_399_999, "23h"],
    [86_400_000, "1d"],
    [-7_200_000, "in 2h"],
  ])("%d ms ago is %s", (ageMs, text) => {
    expect(ageText(1_000_000_000 - ageMs, 1_000_000_000)).toBe(text);
  });
});

describe("tables", () => {
  const style = { wide: false, columns: undefined, nowMs: 0 };
  const columns = [
    { header: "A", value: (row: string) => row },
    { header: "B", value: () => "" },
  ];

  test("a line break in a value does not start a new row", () => {
    expect(tableText(["x\ny"], columns, style)).toBe("A    B\nx\ufffdy  -");
  });

  test.each([
    [SHORTENED_WIDTH_MIN - 1, SHORTENED_WIDTH_MIN],
    [SHORTENED_WIDTH_MIN, SHORTENED_WIDTH_MIN],
    [SHORTENED_WIDTH_MIN + 1, SHORTENED_WIDTH_MIN + 1],
  ])("a table in %d cells gives a long value %d", (room, width) => {
    const narrow = { ...style, columns: room };
    const [, row = ""] = tableText(["a".repeat(20)], columns.slice(0, 1), narrow).split("\n");
    expect(Bun.stringWidth(row)).toBe(width);
  });

  test("a column whose values are arguments of commands is never shortened, but others are", () => {
    const id = "01940000-0000-7000-8000-000000000006";
    const wanted = [
      { header: "ID", value: () => id, isWhole: true },
      { header: "USER", value: () => "a-long-address@example.org" },
    ];
    const lines = tableText([0], wanted, { ...style, columns: 50 }).split("\n");
    expect(lines[1]).toStartWith(`${id}  a-long`);
    expect(lines[1]?.length).toBe(50);
    expect(tableText([0], wanted, { ...style, columns: 20 })).toContain(id);
  });

  test("states have a color on a terminal only, without a change of the alignment", () => {
    const wanted = [
      { header: "STATE", value: (state: string) => state, color: colorOf },
      { header: "NAME", value: () => "x" },
    ];
    const plain = tableText(["failed", "waiting"], wanted, style);
    const painted = tableText(["failed", "waiting"], wanted, { ...style, hasColor: true });
    const red = "\u001b[31m";
    expect(painted).toContain(`${red}failed`);
    expect(Bun.stripANSI(painted)).toBe(plain);
    expect(plain).not.toContain("\u001b");
  });

  test("never cuts a wide character in half", () => {
    const narrow = { ...style, columns: 10 };
    const [, row = ""] = tableText(["建物建物建物建物"], columns.slice(0, 1), narrow).split("\n");
    expect(row).toBe("建物…建物");
  });
});

describe("CLI-13 progress lines", () => {
  test("shows a spinner with amount and rate if the total is unknown", () => {
    const state = { label: "reading", unit: "items", done: 30, elapsedMs: 2000 } as const;
    expect(progressText(state)).toBe("| reading: 30 items, 15/s");
  });

  test.each(["x", "verifying the audit log", "a label that is longer than the line it is printed on"])(
    "keeps amount, unit and rate in 80 columns, with the label %s",
    (label) => {
      const state = { label, unit: "entries", done: 999_999, total: 1_000_000, elapsedMs: 2_000 };
      const text = progressText(state, 79);
      expect(text.length).toBeLessThanOrEqual(79);
      expect(text).toEndWith(": 999999 of 1000000 entries, 500000/s");
      const bytes = { ...state, unit: "bytes", done: 400 * 2 ** 20, total: 412 * 2 ** 20 };
      expect(progressText(bytes, 79).length).toBeLessThanOrEqual(79);
      expect(progressText(bytes, 79)).toEndWith("MiB/s");
    },
  );

  test("shows 100% if the amount exceeds the total", () => {
    const state = { label: "x", unit: "items", total: 10, done: 20, elapsedMs: 1000 } as const;
    expect(progressText(state)).toStartWith("[########################] 100% x: 20 of 10");
  });

  /** @returns the number of redraws after `elapsedMs` of work */
  const drawn = (elapsedMs: number, isTTY: boolean) => {
    const writes: string[] = [];
    const stderr = Object.assign(
      new Writable({
        write: (chunk, _, next) => {
          writes.push(String(chunk));
          next();
        },
      }),
      { isTTY, columns: 80 },
    );
    const clock = heldClock();
    const progress = startProgress({ ...processContext(), stderr, clock }, { label: "x", unit: "items" });
    clock.advance(elapsedMs);
    progress.advance(1);
    const { length } = writes;
    progress.end();
    return length;
  };

  test("a terminal shows the first line after one second", () => {
    expect(drawn(QUIET_MS - 1, true)).toBe(0);
    expect(drawn(QUIET_MS, true)).toBe(1);
    expect(drawn(QUIET_MS + 1, true)).toBe(1);
  });

  test("a pipe gets the first line after ten seconds", () => {
    expect(drawn(LINE_INTERVAL_MS - 1, false)).toBe(0);
    expect(drawn(LINE_INTERVAL_MS, false)).toBe(1);
    expect(drawn(LINE_INTERVAL_MS + 1, false)).toBe(1);
  });
});

describe("CLI-6 exit codes", () => {
  const codes: Record<ErrorKind, number> = {
    invalid: 2,
    not_found: 3,
    gone: 3,
    conflict: 4,
    unauthenticated: 5,
    forbidden: 5,
    unavailable: 6,
    upstream: 6,
    too_many: 6,
    unverified: 7,
  };
  const codeOf = (error: unknown) => failureOf(error, "run").exit_code;

  test.each(Object.entries(codes))("%s exits with its code", (kind, code) => {
    expect(codeOf(new DomainError(kind as ErrorKind, "area.what", "text"))).toBe(code);
  });

  test("a broken or full disk is a failure of the machine, not a retryable one", () => {
    expect(codeOf(new DomainError("unavailable", "storage.full", "text"))).toBe(1);
    expect(PERMANENT_FAILURE_EXITS).not.toContain(EXIT.unexpected); // systemd starts the service again until there is space
    expect(codeOf(new DomainError("unavailable", "storage.failed", "text"))).toBe(1);
    expect(codeOf(new DomainError("unavailable", "storage.busy", "text"))).toBe(6);
  });

  test("errors that waiting cannot repair do not exit as unavailable", () => {
    expect(codeOf(new DomainError("unavailable", "storage.damaged", "text"))).toBe(7);
    expect(codeOf(new DomainError("unavailable", "storage.not_permitted", "text"))).toBe(5);
    expect(codeOf(new DomainError("unavailable", "schema.migration_failed", "text"))).toBe(4);
    expect(codeOf(new DomainError("unavailable", "sealing.key_missing", "text"))).toBe(4);
    expect(codeOf(new DomainError("unavailable", "sealing.damaged", "text"))).toBe(7);
  });

  test("bugs, partial failures and signals have their own exit codes", () => {
    expect(codeOf(new TypeError("x"))).toBe(1);
    expect(codeOf("thrown text")).toBe(1);
    expect(codeOf(new SomeFailed("x"))).toBe(8);
    expect(codeOf(new Interrupted("SIGINT"))).toBe(130);
    expect(codeOf(new Interrupted("SIGTERM"))).toBe(143);
  });

  test("uses the retry delay as the hint if the error has none", () => {
    const error = new DomainError("too_many", "limit.reached", "text", { retryAfterSeconds: 7 });
    expect(failureOf(error, "run").hint).toBe("try again in 7 s");
  });
});
