// The keys of the console. Single-letter keys can be turned off (WCAG 2.1.4); the switch works in the browser, which remembers it.
/** @jsxImportSource preact */
import type { ConsolePage } from "../frame/frame.tsx";
import { CONSOLE } from "../frame/navigation.ts";
import { TableHead } from "../parts/table-head.tsx";
import type { Reader } from "../reader.ts";

interface Key {
  keys: string;
  does: string;
  /** only for readers of all pages */
  isForAll?: boolean;
  /** page of the navigation that the key opens */
  page?: string;
}

const ALWAYS: readonly Key[] = [
  { keys: "Ctrl K or ⌘ K", does: "Search pages, people, workstations and more" },
  { keys: "Ctrl Enter or ⌘ Enter", does: "Open the review from the editor; publish from the review" },
  { keys: "Esc", does: "Close a dialog" },
];

const LETTERS: readonly Key[] = [
  { keys: "?", does: "This page", isForAll: true },
  { keys: "/", does: "Go to the search field" },
  { keys: "g o", does: "Overview" },
  { keys: "g p", does: "Policy", page: `${CONSOLE}/policy` },
  { keys: "g c", does: "Workstations" },
  { keys: "g u", does: "Users" },
  { keys: "g a", does: "Audit log" },
  { keys: "g m", does: "Your own pages", isForAll: true },
  { keys: "j, k", does: "Next and previous row of a list", isForAll: true },
  { keys: "x", does: "Select the row" },
  { keys: "Enter", does: "Open the row", isForAll: true },
  { keys: "e", does: "Edit the contents of the page" },
];

/**
 * @param pages addresses of the navigation of this reader
 * @returns the page of keys
 */
export const keysPage = ({ readsAll }: Reader, pages: ReadonlySet<string>): ConsolePage => ({
  title: "Keyboard",
  content: (
    <>
      {readsAll && <KeyTable caption="Everywhere" keys={ALWAYS} />}
      <KeyTable
        caption="Letters, outside of fields"
        keys={LETTERS.filter(
          ({ isForAll, page }) => (readsAll || isForAll) && (page === undefined || pages.has(page)),
        )}
      />
      <p hidden data-keys-switch>
        <button class="button quiet" type="button" aria-pressed="true">
          Letters act as keys in this browser
        </button>
      </p>
      <noscript>
        <p>Keys need the script of the console, which does not run in this browser.</p>
      </noscript>
      <p>
        <a href={CONSOLE}>Go to the first page</a>
      </p>
    </>
  ),
});

const KeyTable = ({ caption, keys }: { caption: string; keys: readonly Key[] }) => (
  <table class="keys">
    <caption>{caption}</caption>
    <TableHead labels={["Key", "What it does"]} />
    <tbody>
      {keys.map(({ keys: pressed, does }) => (
        <tr key={pressed}>
          <td data-label="Key">
            <kbd>{pressed}</kbd>
          </td>
          <td data-label="What it does">{does}</td>
        </tr>
      ))}
    </tbody>
  </table>
);
