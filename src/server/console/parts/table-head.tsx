// The head of a table with fixed columns. list/list-view.tsx has the head of lists, whose columns can be sorted.
/** @jsxImportSource preact */

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
