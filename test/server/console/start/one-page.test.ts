// CON-156: with many rows behind every list, no page of the console reads more than one page of any of them.
import { afterAll, expect, test } from "bun:test";
import { PER_PAGE_MAX } from "../../../../src/domain/shared/page.ts";
import { openConnection } from "../../../../src/platform/database/connection.ts";
import { addManyRows } from "../../../support/content/many-rows.ts";
import { createTestServer } from "../../../support/server.ts";

const ROWS = 3 * PER_PAGE_MAX;

/** Rows that the current request got from each function of the domain. */
const rowsBy = new Map<string, number>();

function note(name: string, result: unknown): void {
  const rows = Array.isArray(result) ? result : isObject(result) && "items" in result ? result.items : [];
  if (Array.isArray(rows)) rowsBy.set(name, (rowsBy.get(name) ?? 0) + rows.length);
}

const isObject = (value: unknown): value is object => typeof value === "object" && value !== null;
const isGenerator = (value: unknown): value is Generator<unknown, unknown> =>
  isObject(value) && "next" in value && Symbol.iterator in value;

function* counted(name: string, steps: Generator<unknown, unknown>): Generator<unknown, unknown> {
  const result = yield* steps;
  note(name, result);
  return result;
}

/** @returns the same object, which counts the rows that callers get from its functions and those of its parts */
function watched<T extends object>(target: T, path = "domain"): T {
  return new Proxy(target, {
    get(object, key) {
      const value: unknown = Reflect.get(object, key);
      const name = `${path}.${String(key)}`;
      if (typeof value === "function")
        return (...args: unknown[]) => {
          const result: unknown = Reflect.apply(value, object, args);
          if (isGenerator(result)) return counted(name, result);
          if (result instanceof Promise)
            void result.then(
              (settled) => note(name, settled),
              () => undefined,
            );
          else note(name, result);
          return result;
        };
      return isObject(value) && !(value instanceof Map) ? watched(value, name) : value;
    },
  });
}

const site = await createTestServer({ watch: watched });
afterAll(() => site[Symbol.asyncDispose]());
const admin = await site.signedIn("admin");
const { world, domain } = site;
{
  using connection = openConnection(world.file, {});
  addManyRows(connection, { count: ROWS, nowMs: world.clock.nowMs() });
}
await world.db.write((tx) => {
  for (let at = 0; at < ROWS; at++) {
    world.audit.record(tx, { actor: world.system, action: "job.run", target: `job-${at}` });
    domain.access.sessions.open(tx, admin.user.id, { address: null, userAgent: null });
  }
}, "access");

const pages = site.server.routes.flatMap(({ method, path }) =>
  method === "GET" && /^\/console(?!.*(?::|\.csv$))/.test(path) ? path : [],
);

test("CON-156 no page reads more than one page of a list", async () => {
  const read: string[] = [];
  const tooMany: string[] = [];
  for (const path of pages) {
    rowsBy.clear();
    const answer = await site.request("GET", path, { cookie: admin.cookie });
    await answer.body?.cancel();
    for (const [name, rows] of rowsBy) {
      if (rows > 0) read.push(name);
      if (rows > PER_PAGE_MAX) tooMany.push(`${path}: ${rows} rows of ${name}`);
    }
  }
  expect(tooMany).toEqual([]);
  for (const name of ["clients.inventory.summaries", "identity.users.listInSteps", "auditLog.listByKey"])
    expect(read).toContain(`domain.${name}`);
});
