// The repository connections as the operator sees them: with their hosts, including those that cannot be used.
import type { BrokenConnection, Connection, Connections } from "../connections/connection.ts";
import type { ConnectionStates } from "../mirroring/connection-states.ts";

export interface OperatorConnection extends Pick<BrokenConnection, "isWholeSetting"> {
  id: string | undefined;
  /** undefined if it is disabled */
  connection: Connection | undefined;
  status: "ok" | "unverified" | "failing" | "disabled";
  /** stable reason of the failure; undefined if it works */
  reason?: string | undefined;
  /** UTC milliseconds */
  sinceMs?: number | undefined;
  /** why it is disabled */
  problems: readonly string[];
}

/** @returns all connections of the configuration, disabled ones last */
export const operatorConnections = (
  connections: Connections,
  states: ConnectionStates,
  organizationId: string,
): OperatorConnection[] => [
  ...connections.list().map((connection) => ({
    id: connection.id,
    connection,
    problems: [],
    ...states.of(organizationId, connection.id),
  })),
  ...connections.broken().map((broken) => ({
    ...broken,
    connection: undefined,
    status: "disabled" as const,
  })),
];
