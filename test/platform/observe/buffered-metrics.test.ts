// Metrics that are counted in plain numbers: what the registry shows is what was counted, however often and whenever it is read.
import { expect, test } from "bun:test";
import { Registry } from "prom-client";
import {
  BufferedCounter,
  BufferedHistogram,
  WAITING_MAX,
} from "../../../src/platform/observe/buffered-metrics.ts";

const linesOf = async (metrics: Registry): Promise<string[]> =>
  (await metrics.metrics()).split("\n").filter((line) => line !== "" && !line.startsWith("#"));

test("a counter shows each label set once, also when it is read again", async () => {
  const metrics = new Registry();
  const answers = new BufferedCounter({ name: "answers", help: "Answers" }, ["route", "status"], metrics);
  answers.add("/ready\t200", 0);
  answers.add("/login\t303");
  answers.add("/login\t303", 2);
  const first = await linesOf(metrics);
  expect(first).toEqual(['answers{route="/ready",status="200"} 0', 'answers{route="/login",status="303"} 3']);
  expect(await linesOf(metrics)).toEqual(first);
});

test.each([1, WAITING_MAX - 1, WAITING_MAX, WAITING_MAX + 1])(
  "a histogram shows all of %p durations, also when it is read again",
  async (count) => {
    const metrics = new Registry();
    const buckets = { buckets: [0.1, 1], metrics };
    const took = new BufferedHistogram({ name: "took", help: "Time" }, "route", buckets);
    took.zero("/ready");
    for (let at = 0; at < count; at += 1) took.add("/login", 0.5);
    const first = await linesOf(metrics);
    expect(first).toContain('took_count{route="/ready"} 0');
    expect(first).toContain('took_bucket{le="0.1",route="/login"} 0');
    expect(first).toContain(`took_bucket{le="1",route="/login"} ${count}`);
    expect(await linesOf(metrics)).toEqual(first);
  },
);
