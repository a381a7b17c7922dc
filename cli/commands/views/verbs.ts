// `views list`, `create`, `remove` and `columns`: read and change what a user saves in the console.
import { isAuditor, type Owner, type SavedView, viewQuery } from "../../../src/domain/console/service.ts";
import { isActiveAdministrator } from "../../../src/domain/identity/service.ts";
import type { Call } from "../../data-directory/in-domain.ts";
import { isConfirmed } from "../../input/prompt.ts";
import { printable } from "../../output/printable.ts";

interface Row {
  /** null for the columns and rows of a list */
  view: SavedView | null;
  path: string;
  query: string;
}

export async function list(call: Call): Promise<void> {
  const { views, lists } = call.domain.preferences.of(ownerOf(call).userId);
  const rows: Row[] = [
    ...views.map((view) => ({ view, path: view.path, query: view.query })),
    ...lists.map((address) => ({ view: null, ...address })),
  ];
  call.output.list(rows, {
    columns: [
      { header: "NAME", value: ({ view }) => view?.name },
      { header: "LIST", value: ({ path }) => path },
      { header: "QUERY", value: ({ query }) => query },
      { header: "SHARED", value: ({ view }) => (view?.isShared ? "yes" : null) },
      { header: "ID", value: ({ view }) => view?.id, isWhole: true },
    ],
    json: ({ view, ...address }) => ({
      id: view?.id ?? null,
      name: view?.name ?? null,
      ...address,
      shared: view?.isShared ?? false,
    }),
    empty: "no saved views",
  });
}

export async function create(call: Call): Promise<void> {
  const { domain, output, args, has } = call;
  const [, name = "", address = ""] = args;
  const wanted = { name, ...addressIn(address), isShared: has("shared") };
  const view = await domain.preferences.save(ownerOf(call), wanted);
  output.result(
    { changed: true, id: view.id, name: view.name, path: view.path },
    `saved the view ${printable(view.name)}`,
  );
}

export async function remove(call: Call): Promise<void> {
  const { domain, output, args } = call;
  const [reference = "", id = ""] = args;
  const owner = ownerOf(call);
  const { name, isShared } = domain.preferences.find(owner, id);
  const plan = {
    action: `remove the view ${printable(name)} of ${reference}`,
    details: [isShared ? "No administrator sees it afterwards." : "The list and its rows stay."],
  };
  if (!(await isConfirmed(call.context, call.command, plan))) return;
  await domain.preferences.remove(owner, id);
  output.result({ changed: true, id }, `removed the view ${printable(name)}`);
}

export async function columns(call: Call): Promise<void> {
  const { domain, output, args } = call;
  const [, address = ""] = args;
  const owner = ownerOf(call);
  const list = addressIn(address);
  await domain.preferences.keep(owner, list);
  const query = domain.preferences.usualOf(owner.userId, list.path) ?? null;
  const text = query === null ? "opens with its default columns and rows" : `opens with ${printable(query)}`;
  output.result({ changed: true, path: list.path, query }, `${list.path} ${text}`);
}

function ownerOf({ domain, actor, config, args: [reference = ""] }: Call): Owner {
  const user = domain.identity.users.find(actor.organizationId, reference);
  const isAdministrator = isActiveAdministrator(user);
  const audits = isAuditor(config.get("console.auditors"), user);
  return {
    actor,
    userId: user.id,
    mayShare: isAdministrator && !audits,
    readsAll: isAdministrator || audits,
  };
}

/** @param text path of a list, with or without a query */
function addressIn(text: string) {
  const [path = "", ...query] = text.split("?");
  return { path, query: viewQuery(query.join("?")) };
}
