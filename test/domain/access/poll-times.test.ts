// The memory of polls: its bound, and a clock that goes back.
import { expect, test } from "bun:test";
import { PollTimes } from "../../../src/domain/access/poll-times.ts";

const at = (nowMs: number) => ({ nowMs, intervalMs: 5_000 });

test("a poll that was refused does not move the window", () => {
  const polls = new PollTimes(10);
  expect(polls.accept("a", at(0))).toBe(true);
  expect(polls.accept("a", at(4_999))).toBe(false);
  expect(polls.accept("a", at(5_000))).toBe(true);
  expect(polls.accept("a", at(9_999))).toBe(false);
});

test("a clock that was set back keeps nobody out", () => {
  const polls = new PollTimes(10);
  polls.accept("a", at(1_000_000));
  expect(polls.accept("a", at(10))).toBe(true);
  expect(polls.accept("a", at(11))).toBe(false);
});

test("no more than the bound is remembered, and the one polled longest ago goes first", () => {
  const polls = new PollTimes(2);
  polls.accept("a", at(0));
  polls.accept("b", at(1));
  polls.accept("a", at(5_000));
  expect(polls.size).toBe(2);
  polls.accept("c", at(5_001));
  expect(polls.size).toBe(2);
  expect(polls.accept("a", at(5_002))).toBe(false);
  expect(polls.accept("b", at(5_002))).toBe(true);
});

test("a login that is over is forgotten", () => {
  const polls = new PollTimes(2);
  polls.accept("a", at(0));
  polls.forget("a");
  expect(polls.size).toBe(0);
});
