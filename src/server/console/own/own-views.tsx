// The reader's saved views, those that others share with all administrators, and lists with saved columns.
/** @jsxImportSource preact */
import type { ListAddress, SavedView } from "../../../domain/console/service.ts";
import type { ConsolePage } from "../frame/frame.tsx";
import { removeViewPath, VIEWS_PATH, viewAddress } from "../list/views.tsx";
import { AsCommand } from "../parts/command.tsx";
import { confirmationPage } from "../parts/form.tsx";
import { TableHead } from "../parts/table-head.tsx";
import { visibleText } from "../parts/texts.ts";
import { Text, useReader } from "../parts/values.tsx";

const BREADCRUMBS = [{ href: VIEWS_PATH, label: "Saved views" }];
const API = { method: "GET", path: "/me/console" } as const;

interface OwnViews {
  views: readonly SavedView[];
  lists: readonly ListAddress[];
  /** label of a page by its path */
  labels: ReadonlyMap<string, string>;
}

export const ownViewsPage = ({ views, lists, labels }: OwnViews): ConsolePage => ({
  title: "Saved views",
  content: (
    <>
      {views.length === 0 ? (
        <div class="empty">
          <p>
            No view is saved yet. A view is a list with its filters, order and columns under a name: choose
            filters in a list, then press “Save this view”.
          </p>
        </div>
      ) : (
        <Table views={views} labels={labels} />
      )}
      {lists.length > 0 && (
        <section>
          <h2>Lists with your own columns and rows</h2>
          <ul>
            {lists.map(({ path }) => (
              <li key={path}>
                <a href={path}>{labels.get(path) ?? path}</a>
              </li>
            ))}
          </ul>
          <p class="hint">The button below each of these lists resets them.</p>
        </section>
      )}
      <OwnCommand />
    </>
  ),
});

function OwnCommand() {
  const { email } = useReader().visitor.principal;
  return <AsCommand command={["views", "list", email]} api={API} />;
}

function Table({ views, labels }: Omit<OwnViews, "lists">) {
  const { visitor } = useReader();
  return (
    <table class="rows">
      <caption class="visually-hidden">Saved views</caption>
      <TableHead labels={["Name", "List", "Filters", "Shown to", "Action"]} />
      <tbody>
        {views.map((view) => (
          <tr key={view.id}>
            <td data-label="Name">
              <a href={viewAddress(view)}>
                <Text value={view.name} />
              </a>
            </td>
            <td data-label="List">{labels.get(view.path) ?? view.path}</td>
            <td data-label="Filters">
              <Text value={[...new URLSearchParams(view.query)].map((each) => each.join(": ")).join(", ")} />
            </td>
            <td data-label="Shown to">{view.isShared ? "All administrators" : "You"}</td>
            <td data-label="Action">
              {view.ownerId === visitor.principal.userId ? (
                <a href={removeViewPath(view.id)} data-dialog>
                  Remove <span class="visually-hidden">{visibleText(view.name)}</span>
                </a>
              ) : (
                <span class="muted">Another administrator’s</span>
              )}
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

/**
 * @param email address of the reader
 * @returns the page that asks before a view is removed
 */
export const removeViewPage = ({ id, name, isShared }: SavedView, email: string): ConsolePage =>
  confirmationPage({
    title: "Remove this view?",
    consequences: [
      <>
        “<Text value={name} />” is removed from the list{isShared && " of all administrators"}. The list and
        its rows do not change.
      </>,
    ],
    action: removeViewPath(id),
    verb: "Remove",
    back: VIEWS_PATH,
    breadcrumbs: BREADCRUMBS,
    command: ["views", "remove", email, id],
    api: { method: "DELETE", path: `/me/console/views/${id}` },
  });
