// `connections list` and `connections show`: the repository connections of the configuration, usable or not.
import {
  type OutdatedPackage,
  unknownConnection,
  WEBHOOK_PATH,
} from "../../../src/domain/catalog/service.ts";
import type { OperatorConnection } from "../../../src/domain/catalog/sources/operator-connections.ts";
import type { Call } from "../../data-directory/in-domain.ts";
import { detailsText, type Fact, timeOf } from "../../output/details.ts";
import type { Column } from "../../output/table.ts";

const COLUMNS: readonly Column<OperatorConnection>[] = [
  { header: "ID", value: ({ id }) => id, isWhole: true },
  { header: "PROVIDER", value: ({ connection }) => connection?.provider },
  { header: "NAMESPACES", value: ({ connection }) => connection?.namespaces.join(",") },
  { header: "STATUS", value: ({ status }) => status, color: ({ status }) => COLORS[status] },
  { header: "WHY", value: whyOf },
];

const COLORS = { ok: "green", unverified: "dim", failing: "yellow", disabled: "red" } as const;

function whyOf({ connection, problems, reason }: OperatorConnection): string | undefined {
  if (problems.length > 0) return problems.join("; ");
  return connection?.namespaces.length === 0 ? NO_NAMESPACE : reason;
}

/** Not a fault: installations may share their configuration file. */
const NO_NAMESPACE = "none of its namespaces belongs to this organization";

const document = ({ id, connection, status, reason, sinceMs, problems }: OperatorConnection) => ({
  id: id ?? null,
  name: connection?.name ?? null,
  provider: connection?.provider ?? null,
  address: connection?.apiBase ?? null,
  namespaces: connection?.namespaces ?? [],
  skip_links: connection?.skipLinks ?? null,
  status,
  reason: reason ?? null,
  since: timeOf(sinceMs ?? null),
  problems,
});

export async function list({ domain, actor, output }: Call): Promise<void> {
  const rows = domain.packageSources.operatorView(actor.organizationId);
  output.list(rows, { columns: COLUMNS, json: document, empty: "no repository connections" });
}

/** @throws DomainError `package_source.unknown_connection` */
export async function show({ domain, actor, output, args }: Call): Promise<void> {
  const [id = ""] = args;
  const found = findIn(domain.packageSources.operatorView(actor.organizationId), id);
  const { connection, status, sinceMs } = found;
  const behind = domain.sourceWatch
    .behind(actor.organizationId)
    .filter(({ connectionId }) => connectionId === id);
  output.result(
    {
      ...document(found),
      watch_every_hours: connection?.watchEveryHours ?? null,
      expects_webhooks: connection?.webhookSecret !== undefined,
      behind: behind.map(behindDocument),
    },
    detailsText([
      ["id", id],
      ["name", connection?.name],
      ["provider", connection?.provider],
      ["address", connection?.apiBase],
      ["namespaces", connection?.namespaces.join(", ")],
      ["credential", connection?.credential().kind],
      ["symbolic links", connection && (connection.skipLinks ? "left out" : "refused")],
      ["looks for newer commits", connection && watchText(connection.watchEveryHours)],
      ["webhooks", connection && (connection.webhookSecret ? `at ${WEBHOOK_PATH}/${id}` : "not expected")],
      ...behind.map(
        ({ packageId, ref, latestCommit }): Fact => [
          "newer commit available",
          `${packageId}: ${ref} is ${latestCommit}`,
        ],
      ),
      ["status", status],
      ["why", whyOf(found)],
      ["since", sinceMs === undefined ? undefined : new Date(sinceMs)],
    ]),
  );
}

const watchText = (hours: number | undefined): string =>
  hours === undefined ? "no" : hours === 1 ? "every hour" : `every ${hours} hours`;

const behindDocument = (behind: OutdatedPackage) => ({
  package_id: behind.packageId,
  repository: behind.repository,
  ref: behind.ref,
  commit: behind.commit,
  latest_commit: behind.latestCommit,
  checked_at: timeOf(behind.checkedAtMs),
});

/** @throws DomainError `package_source.unknown_connection` */
function findIn(known: readonly OperatorConnection[], id: string): OperatorConnection {
  const found = known.find((connection) => connection.id === id);
  if (found) return found;
  throw unknownConnection(id);
}
