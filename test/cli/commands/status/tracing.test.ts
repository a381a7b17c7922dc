// `status` and traces.
import { expect, test } from "bun:test";
import { tracingDocument, tracingFacts } from "../../../../cli/commands/status/tracing.ts";
import { START_MS } from "../../../support/world.ts";

const STATE = {
  waiting: 0,
  sent: 7,
  lastDroppedMs: null,
  failingSinceMs: null,
  error: null,
  dropped: { queue_full: 0, refused: 0, stopped: 0 },
};
const FAILING = {
  ...STATE,
  lastDroppedMs: START_MS,
  failingSinceMs: START_MS,
  error: "it answered 503",
  dropped: { queue_full: 2, refused: 1, stopped: 0 },
};

test("TRC-6 status counts sent and dropped spans, and shows the error of a failing collector", () => {
  expect(tracingFacts({ state: STATE })).toEqual([["traces", "7 spans sent since the start"]]);
  expect(tracingFacts({ state: FAILING })).toEqual([
    ["traces", "7 spans sent since the start, 3 dropped"],
    ["", "it answered 503"],
  ]);
  expect(tracingFacts({ state: undefined })).toEqual([["traces", "none were sent since the start"]]);
  expect(tracingFacts(undefined)).toEqual([]);
});

test("TRC-6 the JSON of status contains the causes of dropped spans, and null while tracing is off", () => {
  expect(tracingDocument({ state: FAILING })).toEqual({
    spans_sent: 7,
    spans_dropped: { queue_full: 2, refused: 1, stopped: 0 },
    last_dropped_at: "2026-01-01T00:00:00.000Z",
    failing_since: "2026-01-01T00:00:00.000Z",
    error: "it answered 503",
  });
  expect(tracingDocument({ state: undefined })).toMatchObject({ spans_sent: 0, spans_dropped: null });
  expect(tracingDocument(undefined)).toBeNull();
});
