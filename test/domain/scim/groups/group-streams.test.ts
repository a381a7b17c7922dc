// Large responses from a snapshot: pieces leave while later ones are produced, and the snapshot is closed whatever the reader does.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { setImmediate } from "node:timers/promises";
import { GroupStreams, type ProducePieces } from "../../../../src/domain/scim/groups/group-streams.ts";
import { openSnapshot } from "../../../../src/platform/database/snapshot.ts";
import { createGroupsWorld, type GroupsWorld } from "./groups-world.ts";

let world: GroupsWorld;
beforeAll(async () => {
  world = await createGroupsWorld();
});
afterAll(() => world.dispose());

/** @returns the response, how many pieces were produced, and whether the snapshot was closed */
function opened(produce: ProducePieces) {
  const state = { given: 0, isClosed: false };
  const streams = new GroupStreams(() => {
    const { connection, close } = openSnapshot(world.file);
    return {
      connection,
      close: () => {
        close();
        state.isClosed = true;
      },
    };
  });
  const pieces = streams.open((snapshot, give) =>
    produce(snapshot, (piece) => {
      give(piece);
      state.given += 1;
    }),
  );
  return { state, reader: pieces[Symbol.asyncIterator](), pieces };
}

const COUNT = 100;
const oneInEachStep: ProducePieces = function* (_, give) {
  for (let nth = 0; nth < COUNT; nth += 1) {
    give(`${nth},`);
    yield;
  }
};

test("the first piece leaves while later ones are produced", async () => {
  const { reader, state } = opened(oneInEachStep);
  expect(await reader.next()).toEqual({ done: false, value: "0," });
  expect(state.isClosed).toBe(false);
  expect(state.given).toBeLessThan(COUNT);
  await reader.return?.();
});

test("a caller that stops reading does not keep the snapshot open, and can read the rest later", async () => {
  const { reader, state } = opened(oneInEachStep);
  await reader.next();
  while (!state.isClosed) await setImmediate();
  expect(state.given).toBe(COUNT);
  let text = "";
  for (let next = await reader.next(); !next.done; next = await reader.next()) text += next.value;
  expect(text).toBe(Array.from({ length: COUNT - 1 }, (_, at) => `${at + 1},`).join(""));
});

test("nothing more is produced for a caller that has left", async () => {
  const { reader, state } = opened(oneInEachStep);
  await reader.next();
  await reader.return?.();
  while (!state.isClosed) await setImmediate();
  expect(state.given).toBeLessThan(COUNT);
});

test("a caller that leaves after the last piece was produced is no error", async () => {
  const { reader, state } = opened(function* (_, give) {
    give("a");
    yield;
  });
  await reader.next();
  await reader.return?.();
  while (!state.isClosed) await setImmediate();
  await setImmediate(); // an unhandled rejection would fail the test
});

test("an error between two pieces reaches the reader after the first, and closes the snapshot", async () => {
  const { reader, state } = opened(function* (_, give) {
    give("a");
    yield;
    throw new Error("partway");
  });
  expect(await reader.next()).toEqual({ done: false, value: "a" });
  await expect(reader.next()).rejects.toThrow("partway");
  expect(state.isClosed).toBe(true);
});

test("SCIM-125 yields to other requests between pieces that wait, even for a fast reader", async () => {
  const { pieces } = opened(function* (_, give) {
    for (let nth = 0; nth < COUNT; nth += 1) give("a");
    yield;
  });
  let [read, turns] = [0, 0];
  let counting: NodeJS.Immediate | undefined;
  const count = () => {
    turns += 1;
    counting = globalThis.setImmediate(count);
  };
  for await (const _ of pieces) if (read++ === 0) counting = globalThis.setImmediate(count);
  clearImmediate(counting);
  expect(read).toBe(COUNT);
  expect(turns).toBeGreaterThanOrEqual(COUNT - 2);
});
