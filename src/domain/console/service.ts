// What people save in the console: views, which are named lists, and the columns and rows of each list. A view is its owner's;
// an administrator may show it to all administrators.
import type { Db, Sync, Tx } from "../../platform/database/database.ts";
import { DomainError, type Problem } from "../../platform/errors.ts";
import type { Ids } from "../../platform/ids.ts";
import type { Audit } from "../audit/service.ts";
import { emailKey } from "../identity/service.ts";
import type { Actor } from "../shared/actor.ts";
import { storedPath } from "./lists.ts";
import {
  type ConsolePreferences,
  LISTS_MAX,
  type ListAddress,
  type ReadOptions,
  readUsual,
  readView,
  type SavedView,
  usableUsual,
  VIEWS_MAX,
  type ViewRequest,
} from "./model.ts";
import * as store from "./store.ts";

export { type ListColumn, PAGE_SIZES, storedPath } from "./lists.ts";
export * from "./model.ts";

/** Who keeps something: always a user. */
export interface Owner {
  actor: Actor;
  userId: string;
  /** may show views to all administrators */
  mayShare: boolean;
  /** opens the lists of administrators */
  readsAll: boolean;
}

/** @returns whether the person is one of the auditors (setting `console.auditors`) */
export const isAuditor = (auditors: readonly string[], { email }: { email: string }): boolean =>
  auditors.some((auditor) => emailKey(auditor) === emailKey(email));

/** Everything that a person keeps, before any check. */
export interface PreferencesRequest {
  /** at most VIEWS_MAX; one with the id of a view of the person changes this view */
  views: readonly (ViewRequest & { id?: string | undefined })[];
  /** at most LISTS_MAX */
  lists: readonly ListAddress[];
}

type AuditedValues = Readonly<Record<string, string | number | boolean>>;

export interface PreferencesDependencies {
  db: Db;
  ids: Ids;
  audit: Audit;
}

export class Preferences {
  constructor(private readonly dependencies: PreferencesDependencies) {}

  of(userId: string): ConsolePreferences {
    const { read } = this.dependencies.db;
    const lists = store.listsOf(read, userId).flatMap(({ path, query: stored }) => {
      const query = usableUsual({ path, query: stored });
      return query === "" ? [] : [{ path, query }];
    });
    return { views: store.viewsOf(read, userId), lists };
  }

  /** @returns views that other people show to all administrators */
  sharedByOthers(organizationId: string, userId: string): readonly SavedView[] {
    return store.sharedViews(this.dependencies.db.read, organizationId, userId);
  }

  /** @returns columns and rows that the person keeps for a list, as a query; undefined for none that the list can use */
  usualOf(userId: string, address: string): string | undefined {
    const path = storedPath(address);
    const query = store.findList(this.dependencies.db.read, { ownerId: userId, path });
    return query === undefined ? undefined : usableUsual({ path, query }) || undefined;
  }

  /** @throws DomainError `console_view.not_found` also for a view of somebody else */
  find({ actor: { organizationId }, userId }: Pick<Owner, "actor" | "userId">, id: string): SavedView {
    const view = store.findView(this.dependencies.db.read, { organizationId, id });
    if (view?.ownerId === userId) return view;
    throw noSuchView();
  }

  /**
   * Saves a view; one of the same list and name is replaced.
   * @throws DomainError `console.invalid`, `console.not_shared`
   */
  async save(owner: Owner, request: ViewRequest): Promise<SavedView> {
    const problems: Problem[] = [];
    const view = readView(request, { prefix: "", problems, readsAll: owner.readsAll });
    refuse(problems);
    checkShared(owner, [view]);
    return await this.#change(
      owner,
      { view: view.name, path: view.path, query: view.query, shared: view.isShared },
      (tx) => {
        const row = this.#rowOf(owner, view, this.dependencies.ids.uuid());
        if (store.countOtherViews(tx, row) >= VIEWS_MAX) throw tooMany("views", VIEWS_MAX);
        return store.putView(tx, row);
      },
    );
  }

  /** @throws DomainError `console_view.not_found` */
  async remove(owner: Owner, id: string): Promise<SavedView> {
    const view = this.find(owner, id);
    await this.#change(owner, { removed: view.name, path: view.path, view_id: id }, (tx) => {
      if (store.removeView(tx, id) === 0) throw noSuchView(); // somebody else was faster
    });
    return view;
  }

  /** Keeps columns and rows of a list; nothing is kept of a query without them. @throws DomainError `console.invalid` */
  async keep(owner: Owner, list: ListAddress): Promise<void> {
    const problems: Problem[] = [];
    const usual = readUsual(list, { prefix: "", problems, readsAll: owner.readsAll });
    refuse(problems);
    await this.#change(owner, { list: usual.path, query: usual.query }, (tx) => {
      if (store.countOtherLists(tx, owner.userId, usual) >= LISTS_MAX) throw tooMany("lists", LISTS_MAX);
      store.putList(tx, owner.userId, usual);
    });
  }

  /**
   * Replaces everything that the person keeps. A view stays, with its id, if the request names its id, or its list and name.
   * @throws DomainError `console.invalid` with all problems, `console.not_shared`
   */
  async replace(owner: Owner, request: PreferencesRequest): Promise<ConsolePreferences> {
    const problems: Problem[] = [];
    const { readsAll } = owner;
    const at = (prefix: string): ReadOptions => ({ prefix, problems, readsAll });
    const views = request.views.map((view, index) => readView(view, at(`/views/${index}`)));
    const lists = request.lists.map((list, index) => readUsual(list, at(`/lists/${index}`)));
    problems.push(
      ...repeated("views", views, ({ path, name }) => `${path} ${name}`),
      ...repeated("lists", lists, ({ path }) => path),
      ...repeatedIds(request.views),
    );
    refuse(problems);
    checkShared(owner, views);
    await this.#change(owner, { views: views.length, lists: lists.length }, (tx) => {
      const ids = stayingIds(request.views, views, store.viewsOf(tx, owner.userId));
      store.removeAll(tx, owner.userId);
      for (const [index, view] of views.entries())
        store.putView(tx, this.#rowOf(owner, view, ids[index] ?? this.dependencies.ids.uuid()));
      for (const list of lists) store.putList(tx, owner.userId, list);
    });
    return this.of(owner.userId);
  }

  #change<T>({ actor, userId }: Owner, after: AuditedValues, work: (tx: Tx) => Sync<T>): Promise<T> {
    const { db, audit } = this.dependencies;
    return db.write((tx) => {
      const result = work(tx);
      audit.record(tx, { actor, action: "console.update", target: userId, after });
      return result;
    }, "unobserved");
  }

  #rowOf(
    { actor: { organizationId }, userId: ownerId }: Owner,
    { name, path, query, isShared }: ViewRequest,
    id: string,
  ): store.ViewRow {
    return { id, organizationId, ownerId, name, path, query, isShared };
  }
}

/**
 * @param named the views of the request, with the ids that it names
 * @param views the same views as they are stored
 * @returns for each view the id of the stored one that it replaces: the named one, or that of the same list and name
 */
function stayingIds(
  named: PreferencesRequest["views"],
  views: readonly ViewRequest[],
  stored: readonly SavedView[],
): (string | undefined)[] {
  const byId = named.map(({ id }) => stored.find((view) => view.id === id)?.id);
  return views.map(
    ({ path, name }, index) =>
      byId[index] ??
      stored.find((view) => view.path === path && view.name === name && !byId.includes(view.id))?.id,
  );
}

const noSuchView = (): DomainError =>
  new DomainError("not_found", "console_view.not_found", "there is no such view");

function checkShared({ mayShare }: Owner, views: readonly ViewRequest[]): void {
  if (mayShare || views.every(({ isShared }) => !isShared)) return;
  throw new DomainError(
    "forbidden",
    "console.not_shared",
    "only administrators show views to all administrators",
  );
}

/** @returns a problem for each entry whose key an earlier one has */
function repeated<T>(name: string, entries: readonly T[], keyOf: (entry: T) => string): Problem[] {
  const keys = entries.map(keyOf);
  return keys.flatMap((key, at) =>
    keys.indexOf(key) === at ? [] : [{ pointer: `/${name}/${at}`, detail: "an earlier entry is the same" }],
  );
}

/** @returns a problem for each view whose id an earlier one has */
const repeatedIds = (views: PreferencesRequest["views"]): Problem[] =>
  views.flatMap(({ id }, at) =>
    id === undefined || views.findIndex((view) => view.id === id) === at
      ? []
      : [{ pointer: `/views/${at}/id`, detail: "an earlier view has this id" }],
  );

function refuse(problems: readonly Problem[]): void {
  if (problems.length === 0) return;
  const message = problems.map(({ detail }) => detail).join("; ");
  throw new DomainError("invalid", "console.invalid", message, { problems });
}

function tooMany(name: string, max: number): DomainError {
  const detail = `there may be at most ${max} ${name}; remove one first`;
  return new DomainError("invalid", "console.invalid", detail, { problems: [{ pointer: "/name", detail }] });
}
