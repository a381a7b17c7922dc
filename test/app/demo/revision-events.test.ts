// A simulated workstation reads the event stream of revisions.
import { expect, test } from "bun:test";
import { revisionsIn } from "../../../src/app/demo/workstation.ts";

const ONE = 'event: revision\nid: one\ndata: {"revision":"one"}\n\n';
const TWO = 'event: revision\nid: two\ndata: {"revision":"two"}\n\n';

const streamOf = (chunks: readonly string[], end?: Error): Response =>
  new Response(
    new ReadableStream({
      start(controller) {
        for (const chunk of chunks) controller.enqueue(new TextEncoder().encode(chunk));
        if (end) controller.error(end);
        else controller.close();
      },
    }),
  );

test("reads every revision at any chunk boundary and ignores comments", async () => {
  const text = `retry: 2000\n\n${ONE}: keepalive\n\n${TWO}`;
  expect(await Array.fromAsync(revisionsIn(streamOf([text])))).toEqual(["one", "two"]);
  expect(await Array.fromAsync(revisionsIn(streamOf([...text])))).toEqual(["one", "two"]);
});

test("ignores an incomplete event", async () => {
  expect(await Array.fromAsync(revisionsIn(streamOf([ONE, TWO.slice(0, -1)])))).toEqual(["one"]);
});

test("rejects an event without a revision", async () => {
  await expect(Array.fromAsync(revisionsIn(streamOf(['data: {"id":"one"}\n\n'])))).rejects.toThrow();
});

test("ends at the time limit of the request and fails with any other error", async () => {
  const timeout = new DOMException("over", "TimeoutError");
  expect(await Array.fromAsync(revisionsIn(streamOf([], timeout)))).toEqual([]);
  await expect(Array.fromAsync(revisionsIn(streamOf([], new Error("broken"))))).rejects.toThrow("broken");
});
