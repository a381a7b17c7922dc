// Saved views above a list: the reader's own, those that others share with all administrators, and a form that saves the current
// one. Below the list, a form that saves its columns and page size.
/** @jsxImportSource preact */
import {
  NAME_LENGTH_MAX,
  type SavedView,
  storedPath,
  usualQuery,
  viewQuery,
} from "../../../domain/console/service.ts";
import { CONSOLE } from "../frame/navigation.ts";
import { AsCommand } from "../parts/command.tsx";
import { ConsoleForm } from "../parts/form.tsx";
import { Text, useReader } from "../parts/values.tsx";

export const VIEWS_PATH = `${CONSOLE}/me/views`;
export const USUAL_PATH = `${VIEWS_PATH}/usual`;

export const removeViewPath = (id: string): string => `${VIEWS_PATH}/${id}/remove`;

export const viewAddress = ({ path, query }: Pick<SavedView, "path" | "query">): string =>
  query === "" ? path : `${path}?${query}`;

/**
 * Views of this list.
 * @param isUsable whether the list shows rows for its address, so that the address can be saved
 */
export function Views({ isUsable }: { isUsable: boolean }) {
  const { url, savedViews } = useReader();
  const views = savedViews().filter(({ path }) => path === storedPath(url.pathname));
  const query = viewQuery(url.search);
  if (views.length === 0 && (query === "" || !isUsable)) return null;
  return (
    <div class="views">
      {views.length > 0 && (
        <ul class="chips" aria-label="Saved views">
          {views.map((view) => (
            <li key={view.id}>
              <a
                class="chip"
                href={viewAddress(view)}
                aria-current={view.query === query ? "true" : undefined}
              >
                <Text value={view.name} />
              </a>
            </li>
          ))}
          <li>
            <a href={VIEWS_PATH}>Manage views</a>
          </li>
        </ul>
      )}
      {isUsable && query !== "" && views.every((view) => view.query !== query) && <SaveView />}
    </div>
  );
}

/** Explains a saved view that an earlier version stored, or whose user or group no longer exists. */
export function UnusableView() {
  const { url, savedViews, visitor } = useReader();
  const query = viewQuery(url.search);
  const view = savedViews().find((each) => each.path === storedPath(url.pathname) && each.query === query);
  if (view === undefined) return null;
  return (
    <p>
      The saved view “<Text value={view.name} />” asks for values that the list does not have.{" "}
      <a href={url.pathname}>Open the list without them</a>
      {view.ownerId === visitor.principal.userId ? (
        <>
          {" or "}
          <a href={removeViewPath(view.id)} data-dialog="">
            remove the view
          </a>
          .
        </>
      ) : (
        ". Another administrator shares this view."
      )}
    </p>
  );
}

function SaveView() {
  const { mayAdminister, url, visitor } = useReader();
  return (
    <details>
      <summary>Save this view</summary>
      <ConsoleForm action={VIEWS_PATH} class="filters">
        <Address />
        <div class="filter">
          <label for="view-name">Name</label>
          <input id="view-name" name="name" required maxLength={NAME_LENGTH_MAX} autocomplete="off" />
        </div>
        {mayAdminister && (
          <div class="filter">
            <label for="view-shared">Shown to</label>
            <select id="view-shared" name="shared">
              <option value="">Only me</option>
              <option value="1">All administrators</option>
            </select>
          </div>
        )}
        <button class="button" type="submit">
          Save
        </button>
      </ConsoleForm>
      <AsCommand
        command={["views", "create", visitor.principal.email, "NAME", addressOf(url)]}
        api={{
          method: "POST",
          path: "/me/console/views",
          body: { name: "NAME", path: url.pathname, query: viewQuery(url.search), shared: false },
        }}
      />
    </details>
  );
}

const addressOf = ({ pathname, search }: URL): string =>
  viewAddress({ path: pathname, query: viewQuery(search) });

/** Saves the columns and page size of this address for future visits of the list, or resets them. */
export function UsualForm() {
  const { url, usual } = useReader();
  const kept = usual(url.pathname);
  const hasChoice = ["columns", "per_page"].some((name) => url.searchParams.has(name));
  if (!hasChoice && kept === undefined) return null;
  return (
    <ConsoleForm action={USUAL_PATH} class="choices">
      <Address />
      {hasChoice && (
        <button class="button quiet" type="submit" name="act" value="keep">
          Save these columns and rows
        </button>
      )}
      {kept !== undefined && (
        <button class="button quiet" type="submit" name="act" value="forget">
          Reset columns and rows
        </button>
      )}
      {hasChoice && <UsualAsCommand query={usualQuery(url.search)} label="Save as a command" />}
      {kept !== undefined && <UsualAsCommand query="" label="Reset as a command" />}
    </ConsoleForm>
  );
}

function UsualAsCommand({ query, label }: { query: string; label: string }) {
  const { url, visitor } = useReader();
  const path = url.pathname;
  return (
    <AsCommand
      label={label}
      command={["views", "columns", visitor.principal.email, viewAddress({ path, query })]}
      api={{ method: "POST", path: "/me/console/lists", body: { path, query } }}
    />
  );
}

function Address() {
  const { pathname, search } = useReader().url;
  return (
    <>
      <input type="hidden" name="path" value={pathname} />
      <input type="hidden" name="query" value={search} />
    </>
  );
}
