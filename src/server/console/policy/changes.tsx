// Places that differ between two policies, as a table.
/** @jsxImportSource preact */
import type { ChangeList, ListedChange } from "../../../domain/governance/service.ts";
import { TableHead } from "../parts/table-head.tsx";
import { Count, textHtml } from "../parts/values.tsx";
import { placeText } from "./words.ts";

/** Lists the changes. Additions that publishing makes itself follow below. */
export function Changes({ changes, caption }: { changes: ChangeList; caption: string }) {
  const { listed, left, stamped } = changes;
  return (
    <>
      {listed.length > 0 && <ChangeTable changes={listed} caption={caption} />}
      {left > 0 && (
        <p>
          <Count value={left} /> more places change. The command below lists all of them.
        </p>
      )}
      {stamped.length > 0 && (
        <details>
          <summary>Consequences</summary>
          <ChangeTable changes={stamped} caption="Requirements that the service adds by itself" />
        </details>
      )}
    </>
  );
}

function ChangeTable({ changes, caption }: { changes: readonly ListedChange[]; caption: string }) {
  return (
    <table class="rows places">
      <caption class="visually-hidden">{caption}</caption>
      <TableHead labels={["Place", "Before", "After"]} />
      <tbody dangerouslySetInnerHTML={{ __html: changes.map(rowHtml).join("") }} />
    </table>
  );
}

/** The renderer takes ten times as long for hundreds of rows. */
const rowHtml = (change: ListedChange): string =>
  [
    "<tr>",
    `<td data-label="Place">${textHtml(placeText(change.path))}${change.order ? ": order" : ""}</td>`,
    `<td data-label="Before">${valueHtml(change.before, "before" in change ? "empty" : "not set")}</td>`,
    `<td data-label="After">${valueHtml(change.after, "after" in change ? "empty" : "removed")}</td>`,
    "</tr>",
  ].join("");

const valueHtml = (value: string | undefined, none: string): string =>
  value ? textHtml(value) : `<span class="muted">${none}</span>`;
