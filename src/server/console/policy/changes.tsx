// Places that differ between two policies, as a table.
/** @jsxImportSource preact */
import { leavesOf } from "../../../domain/governance/reading/policy-lines.ts";
import { type Change, isStamp } from "../../../domain/governance/service.ts";
import { isJsonObject } from "../../../platform/text/json-object.ts";
import { Text, useReader } from "../parts/values.tsx";
import { shownTo } from "./variables.tsx";
import { placeText, valueText } from "./words.ts";

/** Rows of a table; more changes are counted. */
export const CHANGES_SHOWN_MAX = 200;

/** The changes, place by place. Additions that publishing makes itself are listed below. */
export function Changes({ changes, caption }: { changes: readonly Change[]; caption: string }) {
  const written = changes.filter((change) => !isStamp(change)).flatMap(inParts);
  const stamped = changes.filter(isStamp);
  const left = written.length - CHANGES_SHOWN_MAX;
  const shown = shownTo(useReader()).sides(written.slice(0, CHANGES_SHOWN_MAX), ["before", "after"]);
  return (
    <>
      {written.length > 0 && <ChangeTable changes={shown} caption={caption} />}
      {left > 0 && <p>{left} more places change. The command below lists all of them.</p>}
      {stamped.length > 0 && (
        <details>
          <summary>Consequences</summary>
          <ChangeTable changes={stamped} caption="Requirements that the service adds by itself" />
        </details>
      )}
    </>
  );
}

/** A place that was added or removed as a whole is listed value by value. */
function inParts(change: Change): readonly Change[] {
  const { path } = change;
  const side = "before" in change ? ("after" in change ? undefined : "before") : "after";
  const value = side && change[side];
  if (side === undefined || !isJsonObject(value)) return [change];
  const leaves = leavesOf(value, path);
  return leaves.length === 0 ? [change] : leaves.map((leaf) => ({ path: leaf.pointer, [side]: leaf.value }));
}

function ChangeTable({ changes, caption }: { changes: readonly Change[]; caption: string }) {
  return (
    <table class="rows places">
      <caption class="visually-hidden">{caption}</caption>
      <thead>
        <tr>
          <th scope="col">Place</th>
          <th scope="col">Before</th>
          <th scope="col">After</th>
        </tr>
      </thead>
      <tbody>
        {changes.map((change) => (
          <tr key={change.path}>
            <td data-label="Place">
              <Text value={placeText(change.path)} />
            </td>
            <td data-label="Before">
              <Text value={valueText(change.before)} none={"before" in change ? "empty" : "not set"} />
            </td>
            <td data-label="After">
              <Text value={valueText(change.after)} none={"after" in change ? "empty" : "removed"} />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
