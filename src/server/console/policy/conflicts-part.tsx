// Conflicts between the policy and the configuration file: both values, and two buttons for each place.
/** @jsxImportSource preact */
import type { Draft, ShownConflicts } from "../../../domain/governance/service.ts";
import { countText } from "../../../platform/count-text.ts";
import { Hidden } from "../../pages/forms.tsx";
import { AsCommand } from "../parts/command.tsx";
import { ConsoleForm } from "../parts/form.tsx";
import { LostComments } from "../parts/lost-comments.tsx";
import { versionText } from "../parts/stated-version.ts";
import { TableHead } from "../parts/table-head.tsx";
import { Text, useReader } from "../parts/values.tsx";
import { CONFLICTS_PATH, placeText } from "./words.ts";

/** Rows of the table; more conflicts are counted. */
export const CONFLICTS_SHOWN_MAX = 100;

/** @param props `draft` is the reader's draft, saved or not */
export function Conflicts({ version, total, conflicts, draft }: ShownConflicts & { draft: Draft }) {
  if (total === 0) return null;
  const left = total - conflicts.length;
  const [{ path } = { path: "" }] = conflicts;
  return (
    <section aria-labelledby="conflicts">
      <h2 id="conflicts">Differences from the configuration file</h2>
      <p>
        The published values stay in force. Keep a value, and it is listed again only if the file changes
        there; or take the value of the file into your draft.
      </p>
      <LostComments typed={draft.typed} act="takeFile" />
      <ConsoleForm action={CONFLICTS_PATH}>
        <Hidden name="version" value={version} />
        <Hidden name="draft" value={versionText(draft)} />
        <ConflictTable conflicts={conflicts} />
      </ConsoleForm>
      {left > 0 && (
        <p>
          {countText(left, "more place differs", "more places differ")}. The command below lists all of them.
        </p>
      )}
      <AsCommand command={["policy", "conflicts", "keep", path]} label="Keep the first one with a command" />
      <AsCommand
        command={["policy", "conflicts", "list"]}
        api={{ method: "GET", path: "/admin/governance-config/deployment-conflicts" }}
      />
    </section>
  );
}

function ConflictTable({ conflicts }: Pick<ShownConflicts, "conflicts">) {
  const { mayAdminister } = useReader();
  return (
    <table class="rows places">
      <caption class="visually-hidden">Both values of each place</caption>
      <TableHead labels={["Place", "In force", "Configuration file", ...(mayAdminister ? ["Settle"] : [])]} />
      <tbody>
        {conflicts.map((conflict) => (
          <tr key={conflict.path}>
            <td data-label="Place">
              <Text value={placeText(conflict.path)} />
            </td>
            <td data-label="In force">
              <Text value={conflict.policy} none={"policy" in conflict ? "empty" : "not set"} />
            </td>
            <td data-label="Configuration file">
              <Text value={conflict.file} none={"file" in conflict ? "empty" : "not set"} />
            </td>
            {mayAdminister && (
              <td data-label="Settle" class="settle">
                <Choice path={conflict.path} name="keep" label="Keep" />{" "}
                <Choice path={conflict.path} name="take" label="Take the file's" />
              </td>
            )}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

const Choice = ({ path, name, label }: { path: string; name: "keep" | "take"; label: string }) => (
  <button class="button" type="submit" name={name} value={path} aria-label={`${label}: ${placeText(path)}`}>
    {label}
  </button>
);
