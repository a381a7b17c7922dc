// Revoking thousands of workstations that match a filter: how long one slice holds the event loop.
import { budgeted, type Figure } from "../figures.ts";
import type { ConsoleSite } from "./console-site.ts";

const PATH = "/admin/client-status/revoke";
/** Of 100,000 host names, 11,111 contain it. */
const TEXT = "station-1";
const TURN_MAX_MS = 20;

/** @returns the duration of all slices, and the longest turn */
export async function measureBulk(
  { origin, cookies }: ConsoleSite,
  longest: (work: () => Promise<unknown>) => Promise<number>,
): Promise<Figure[]> {
  const [, cookie = ""] = cookies; // the session of the first one may have ended
  const headers = { cookie, origin, "content-type": "application/json" };
  let [rows, seconds] = [0, 0];
  const turn = await longest(async () => {
    const begin = performance.now();
    for (let cursor: string | undefined; ; ) {
      const body = { filter: { q: TEXT }, expected: 1_000_000, cursor };
      const answer = await fetch(origin + PATH, { method: "POST", headers, body: JSON.stringify(body) });
      if (!answer.ok) throw new Error(`a slice was answered with ${answer.status}: ${await answer.text()}`);
      const { items, next_cursor: next } = await answer.json();
      rows += items.length;
      if (next === null) break;
      cursor = next;
    }
    seconds = (performance.now() - begin) / 1_000;
  });
  return [
    { what: "CON-99 workstations revoked by one filter", unit: "rows", ours: rows },
    { what: "CON-99 all of its slices", unit: "s", ours: seconds },
    {
      what: "CON-132 longest turn of a slice",
      unit: "ms",
      ours: turn,
      verdict: budgeted(TURN_MAX_MS, turn),
    },
  ];
}
