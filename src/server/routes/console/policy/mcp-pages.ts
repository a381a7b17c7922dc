// MCP servers in the console: the list, and the form that changes one in the draft of the reader.

import {
  changedLists,
  type Draft,
  findServer,
  harnessesWithName,
  likelySecretsIn,
  type PlacedServer,
  serverProblems,
  serversIn,
  serversNamed,
} from "../../../../domain/governance/service.ts";
import { withHiddenServerSecrets } from "../../../../domain/governance/shown/hidden-secrets.ts";
import { HARNESS_KEYS, type HarnessKey } from "../../../../domain/harnesses/harnesses.ts";
import {
  type Page,
  type PageQuery,
  readPageQuery,
  readWord,
  refuseProblems,
} from "../../../../domain/shared/page.ts";
import { DomainError, type Problem } from "../../../../platform/errors.ts";
import type { Console, Done } from "../../../console/console.ts";
import type { ConsolePage } from "../../../console/frame/frame.tsx";
import type { Fields } from "../../../console/frame/kept-fields.tsx";
import { csvRoute } from "../../../console/list/csv.ts";
import { found, lastPageAddress, listValues, placeIn } from "../../../console/list/list.ts";
import {
  entryIn,
  entryOf,
  entryProblems,
  NEW_ENTRY,
  rowActIn,
  serverOf,
  VARIABLE_VALUE,
  withKeptValues,
  withRowAct,
} from "../../../console/mcp/entry.ts";
import {
  KINDS,
  kindOf,
  type ListedServer,
  SERVER_COLUMNS,
  STATES,
  serverListPage,
  stateOf,
} from "../../../console/mcp/server-list.tsx";
import { serverPage } from "../../../console/mcp/server-page.tsx";
import { MCP_PATH, NEW_SERVER_PATH, nameIn } from "../../../console/mcp/words.ts";
import { harnessText } from "../../../console/own/words.ts";
import { statedIn, versionText } from "../../../console/parts/stated-version.ts";
import { isHiddenFrom } from "../../../console/policy/hidden-values.tsx";
import { REVIEW_PATH } from "../../../console/policy/words.ts";
import type { Reader } from "../../../console/reader.ts";
import { formOperation, pageRoute, seeOther, uploadRoute } from "../../../pages/html.ts";
import type { RouteContext } from "../../../router.ts";
import { exportResponse } from "../lists/list-export.ts";

const ACTION = { needs: "administrator", heldBack: VARIABLE_VALUE } as const;

export function mcpPages(context: RouteContext, console: Console) {
  mcpServerPages(context, console);
  const { router, domain } = context;
  const { drafts } = domain.governance;
  return router
    .get(
      MCP_PATH,
      ({ request }) =>
        console.show(request, "administrator", async (reader) => {
          const draft = drafts.ownOrFirst(reader.actor);
          const { rows, problems } = await found(() => listed(draft, reader));
          const last = rows && lastPageAddress(reader, rows);
          if (last !== undefined) return seeOther(last);
          return serverListPage({ page: rows, problems, isDraft: draft.version > 0 });
        }),
      pageRoute("showMcpServers", "MCP servers as a list"),
    )
    .get(
      `${MCP_PATH}.csv`,
      ({ request }) =>
        console.show(request, "administrator", (reader) => {
          const { items } = matching(drafts.ownOrFirst(reader.actor), reader);
          return exportResponse(domain, reader, {
            list: "mcp",
            columns: SERVER_COLUMNS,
            pages: [items],
          });
        }),
      csvRoute("downloadMcpServers", "MCP servers as a CSV file"),
    );
}

function mcpServerPages({ router, domain }: RouteContext, console: Console) {
  const { drafts } = domain.governance;
  const send = senderOf(domain);
  return router
    .get(
      NEW_SERVER_PATH,
      ({ request }) =>
        console.show(request, "administrator", ({ actor }) =>
          serverPage({
            name: undefined,
            from: undefined,
            entry: NEW_ENTRY,
            version: versionText(drafts.ownOrFirst(actor)),
          }),
        ),
      pageRoute("showNewMcpServer", "The form of a new MCP server"),
    )
    .post(
      NEW_SERVER_PATH,
      ({ request }) =>
        console.actLong(request, { ...ACTION, back: NEW_SERVER_PATH }, (reader, fields) =>
          send(reader, undefined, fields),
        ),
      uploadRoute(formOperation("sendNewMcpServer", "Adds an MCP server to the draft")),
    )
    .get(
      `${MCP_PATH}/:name`,
      ({ request, params }) =>
        console.show(request, "administrator", (reader) => {
          const name = nameIn(params.name);
          const draft = drafts.ownOrFirst(reader.actor);
          const placed = findServer(draft.document, { name, harness: listValues(reader).harness });
          if (!placed) throw noServer();
          const version = versionText(draft);
          const shown = reader.mayAdminister ? placed : withoutSecrets(placed);
          return serverPage({ entry: entryOf(shown), version, ...placesOf(draft, placed) });
        }),
      pageRoute("showMcpServer", "One MCP server, and the form to change it"),
    )
    .post(
      `${MCP_PATH}/:name`,
      ({ request, params }) =>
        console.actLong(
          request,
          { ...ACTION, back: `${MCP_PATH}/${encodeURIComponent(params.name)}` },
          (reader, fields) => send(reader, nameIn(params.name), fields),
        ),
      uploadRoute(formOperation("sendMcpServer", "Changes or removes an MCP server in the draft")),
    );
}

/** @returns a function that handles a button of the form */
function senderOf({ governance }: RouteContext["domain"]) {
  const { drafts, deployments, revisions } = governance;

  const save = async ({ actor }: Reader, fields: Fields, change: Parameters<typeof changedLists>[1]) => {
    const { document } = drafts.ownOrNew(actor);
    await drafts.saveMcp(actor, statedIn(fields.version), changedLists(document, change));
    return { to: REVIEW_PATH, notice: "The draft is saved. Nothing is published yet." };
  };

  return async (reader: Reader, name: string | undefined, fields: Fields): Promise<ConsolePage | Done> => {
    // A draft needs a base revision, so the first one is published here as at a start.
    if (!revisions.current(reader.organizationId)) await deployments.apply(reader.actor, undefined);
    const draft = drafts.ownOrNew(reader.actor);
    const former =
      name === undefined ? undefined : findServer(draft.document, { name, harness: fields.from });
    const kept = withKeptValues(entryIn(fields), former?.server);
    const shown = {
      name,
      from: HARNESS_KEYS.find((key) => key === fields.from),
      entry: kept.shown,
      version: versionText(statedIn(fields.version)),
      ...(former && { others: placesOf(draft, former).others }),
    };
    const act = rowActIn(fields.act);
    if (act) {
      const entry = withRowAct(shown.entry, act, former?.server);
      return serverPage({ ...shown, entry, moved: act, problems: kept.problems });
    }
    try {
      if (fields.act === "remove") return await save(reader, fields, { former, next: undefined });
      const server = serverOf(kept.whole);
      const change = { former, next: { server, harnesses: shown.entry.harnesses } };
      const problems = [
        ...serverProblems(server),
        ...takenNames(draft, change),
        ...kept.problems,
        ...entryProblems(shown.entry),
      ];
      if (problems.length > 0) return serverPage({ ...shown, problems });
      const secrets = likelySecretsIn(server);
      if (secrets.length > 0 && fields.accepted === undefined) return serverPage({ ...shown, secrets });
      return await save(reader, fields, change);
    } catch (error) {
      if (!(error instanceof DomainError)) throw error;
      if (error.reason === "governance.invalid")
        return serverPage({ ...shown, problems: ownProblems(error.problems) });
      if (error.reason !== "policy_draft.changed") throw error;
      return serverPage({ ...shown, version: versionText(draft), other: former?.server ?? null });
    }
  };
}

const takenNames = ({ document }: Draft, change: Parameters<typeof changedLists>[1]): Problem[] => {
  const taken = harnessesWithName(document, change).map(harnessText);
  return taken.length === 0
    ? []
    : [{ pointer: "/name", detail: `is already that of another server of ${taken.join(", ")}` }];
};

/** Each harness has the same problem, so it is shown once. */
function ownProblems(problems: readonly Problem[]): Problem[] {
  const own = problems.map(({ pointer, detail }) => ({
    pointer: pointer.replace(/^\/mcp\/[^/]+(?:\/\d+)?/, ""),
    detail,
  }));
  return [...new Map(own.map((problem) => [problem.pointer + problem.detail, problem])).values()];
}

/** @returns the harnesses with this server, and the harnesses with a different server of its name */
function placesOf({ document }: Draft, { server, harnesses }: PlacedServer) {
  const others: HarnessKey[] = serversNamed(document, server.name).flatMap((one) =>
    one.harnesses[0] === harnesses[0] ? [] : one.harnesses,
  );
  return { name: server.name, from: harnesses[0], others };
}

const withoutSecrets = (placed: PlacedServer): PlacedServer => ({
  ...placed,
  server: withHiddenServerSecrets(placed.server),
});

/** A search must not find hidden values. @throws DomainError `policy.invalid` */
function matching({ document }: Draft, reader: Reader): { items: ListedServer[]; query: PageQuery } {
  const problems: Problem[] = [];
  const values = listValues(reader);
  const wanted = {
    kind: readWord(values.kind, { name: "kind", words: KINDS, problems }),
    harness: readWord(values.harness, { name: "harness", words: HARNESS_KEYS, problems }),
    state: readWord(values.state, { name: "state", words: STATES, problems }),
  };
  const query = { q: values.q, ...placeIn(values) };
  const { q = "" } = readPageQuery(query, problems);
  refuseProblems("policy.invalid", problems);
  const text = q.toLowerCase();
  const all = isHiddenFrom(reader) ? serversIn(document).map(withoutSecrets) : serversIn(document);
  const named = Map.groupBy(all, ({ server }) => server.name.trim());
  const items = all
    .filter(
      ({ server, harnesses }) =>
        [server.name, server.command, server.url].some((one) => one?.toLowerCase().includes(text)) &&
        (wanted.kind ?? kindOf(server)) === kindOf(server) &&
        (wanted.state ?? stateOf(server)) === stateOf(server) &&
        (wanted.harness === undefined || harnesses.includes(wanted.harness)),
    )
    .map((placed) => ({
      ...placed,
      isAmbiguous: (named.get(placed.server.name.trim())?.length ?? 0) > 1,
    }));
  return { items, query };
}

function listed(draft: Draft, reader: Reader): Page<ListedServer> {
  const { items, query } = matching(draft, reader);
  const { page, perPage } = readPageQuery(query, []);
  return { items: items.slice((page - 1) * perPage, page * perPage), page, perPage, total: items.length };
}

const noServer = (): DomainError =>
  new DomainError("not_found", "governance.no_mcp_server", "there is no such MCP server", {
    hint: "somebody may have removed or renamed it",
  });
