// The part of `status` about connections to the company's git hosts.
import type { OperatorConnection } from "../../../src/domain/catalog/sources/operator-connections.ts";
import { countText } from "../../../src/platform/count-text.ts";
import type { Fact } from "../../output/details.ts";
import { timeOf } from "../../output/details.ts";

/** @returns the number of connections and those with a problem; nothing without connections */
export function connectionFacts(connections: readonly OperatorConnection[]): Fact[] {
  if (connections.length === 0) return [];
  const [first] = connections;
  if (first?.isWholeSetting) return [["repository hosts", first.problems.join("; ")]];
  const wrong = connections.filter(({ status }) => status === "failing" || status === "disabled");
  return [
    ["repository hosts", `${countText(connections.length, "connection")}, ${wrong.length} with a problem`],
    ...wrong.map(({ id = "without an id", status, reason, sinceMs, problems }): Fact => {
      const since = sinceMs === undefined ? "" : ` since ${timeOf(sinceMs)}`;
      return ["", `${id} is ${status}${since}: ${reason ?? problems.join("; ")}`];
    }),
  ];
}

/** @returns the same as JSON */
export const connectionsDocument = (connections: readonly OperatorConnection[]) =>
  connections.map(({ id, status, reason, sinceMs, problems }) => ({
    id: id ?? null,
    status,
    reason: reason ?? null,
    since: timeOf(sinceMs ?? null),
    problems,
  }));
