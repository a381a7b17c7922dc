// Stores what users save in the console: views, which are named lists, and the columns and rows of each list. A view belongs to
// its owner; an administrator may share it with all administrators.
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

export { addressProblems, NO_FILTER, ONLY_ONCE } from "./list-parameters.ts";
export { type ListColumn, PAGE_SIZES, storedPath } from "./lists.ts";
export * from "./model.ts";

/** The user who saves something. */
export interface Owner {
  actor: Actor;
  userId: string;
  /** may share views with all administrators */
  mayShare: boolean;
  /** may open the lists of administrators */
  readsAll: boolean;
}

/** @returns whether the user is an auditor (setting `console.auditors`) */
export const isAuditor = (auditors: readonly string[], { email }: { email: string }): boolean =>
  auditors.some((auditor) => emailKey(auditor) === emailKey(email));

/** Everything that a user saves, unchecked. */
export interface PreferencesRequest {
  /** at most VIEWS_MAX; an entry with the id of one of the user's views changes that view */
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

  /** @returns views that other users share with all administrators */
  sharedByOthers(organizationId: string, userId: string): readonly SavedView[] {
    return store.sharedViews(this.dependencies.db.read, organizationId, userId);
  }

  /** @returns the user's saved columns and rows of a list, as a query; undefined for none that the list can use */
  usualOf(userId: string, address: string): string | undefined {
    const path = storedPath(address);
    const query = store.findList(this.dependencies.db.read, { ownerId: userId, path });
    return query === undefined ? undefined : usableUsual({ path, query }) || undefined;
  }

  /** @throws DomainError `console_view.not_found`, also for another user's view */
  find({ actor: { organizationId }, userId }: Pick<Owner, "actor" | "userId">, id: string): SavedView {
    const view = store.findView(this.dependencies.db.read, { organizationId, id });
    if (view?.ownerId === userId) return view;
    throw noSuchView();
  }

  /**
   * Saves a view, which replaces a view with the same list and name.
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
      if (store.removeView(tx, id) === 0) throw noSuchView(); // another request was faster
    });
    return view;
  }

  /** Saves columns and rows of a list; a query without them removes the saved ones. @throws DomainError `console.invalid` */
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
   * Replaces everything that the user has saved. A view keeps its id if the request names the id, or its list and name.
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
 * @param named the views of the request, with the ids in the request
 * @param views the same views as they are stored
 * @returns for each view the id of the stored view that it replaces: the named id, or the view with the same list and name
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
    "only administrators who are not auditors may share views with all administrators",
  );
}

/** @returns a problem for each entry with the key of an earlier one */
function repeated<T>(name: string, entries: readonly T[], keyOf: (entry: T) => string): Problem[] {
  const keys = entries.map(keyOf);
  return keys.flatMap((key, at) =>
    keys.indexOf(key) === at
      ? []
      : [{ pointer: `/${name}/${at}`, detail: "this entry repeats an earlier one" }],
  );
}

/** @returns a problem for each view with the id of an earlier one */
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
