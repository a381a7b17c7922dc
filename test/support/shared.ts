// A server that takes longer to create than a test to run, created once for many tests of a file and reset after each.
import { afterAll, afterEach } from "bun:test";
import { type KeptRows, keepRows } from "./lending/kept-rows.ts";
import type { TestServer } from "./server.ts";

/**
 * For tests that do not change state that a server keeps in memory besides its rows: budgets, counters and open
 * streams.
 * @param serverOf the server in what `create` makes
 * @returns a function that creates it when it is first called. It has the same rows, clock and empty log for each test
 */
export function shared<T extends AsyncDisposable>(
  create: () => Promise<T>,
  serverOf: (made: T) => TestServer,
): () => Promise<T> {
  let made: Promise<{ site: T; rows: KeptRows; putBack(): Promise<void> }> | undefined;
  afterEach(async () => {
    await (await made)?.putBack();
  });
  afterAll(async () => {
    const ending = await made;
    made = undefined;
    ending?.rows.forget();
    await ending?.site[Symbol.asyncDispose]();
  });
  const make = async () => {
    const site = await create();
    const { world, logged, provisionerCalls } = serverOf(site);
    const rows = keepRows(world);
    const putBack = async () => {
      await rows.putBack();
      logged.length = 0;
      provisionerCalls.length = 0;
    };
    return { site, rows, putBack };
  };
  return async () => {
    made ??= make();
    return (await made).site;
  };
}

/** @returns the same for plain servers */
export const sharedServer = <T extends TestServer>(create: () => Promise<T>): (() => Promise<T>) =>
  shared(create, (server) => server);
