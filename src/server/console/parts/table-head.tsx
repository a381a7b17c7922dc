// The head of a table with fixed columns, and the region in which a wide table scrolls. list/list-view.tsx has the head of lists,
// whose columns can be sorted.
/** @jsxImportSource preact */
import type { ComponentChildren } from "preact";

/** The label of a column; the label of a numeric column is aligned like its numbers. */
type Label = string | { number: string };

export const TableHead = ({ labels }: { labels: readonly Label[] }) => (
  <thead>
    <tr>
      {labels.map((label) =>
        typeof label === "string" ? (
          <th key={label} scope="col">
            {label}
          </th>
        ) : (
          <th key={label.number} scope="col" class="number">
            {label.number}
          </th>
        ),
      )}
    </tr>
  </thead>
);

/** A wide table scrolls in its own region, which the keyboard reaches, so that the page never scrolls sideways. */
export const WideTable = ({ label, children }: { label: string; children: ComponentChildren }) => (
  // biome-ignore lint/a11y/noNoninteractiveTabindex: the keyboard scrolls the focused region
  <section class="scrolling" aria-label={label} tabIndex={0}>
    {children}
  </section>
);
