// Every setting in force with its source, and the configuration as a file that reproduces it. Both are read-only: the operator
// edits the file.
/** @jsxImportSource preact */

import type { Static } from "@sinclair/typebox";
import type { DeploymentConfigExport } from "../../../domain/governance/reading/admin-view.ts";
import type { Setting } from "../../../domain/system/operations.ts";
import { asSentence } from "../../pages/words.ts";
import type { ConsolePage } from "../frame/frame.tsx";
import { CONSOLE } from "../frame/navigation.ts";
import { Empty } from "../list/first-step.tsx";
import { AsCommand } from "../parts/command.tsx";
import { TableHead } from "../parts/table-head.tsx";
import { Copy, Count, Text } from "../parts/values.tsx";

export const SETTINGS_PATH = `${CONSOLE}/system/settings`;
export const EXPORT_PATH = `${CONSOLE}/system/export`;

export const settingsPage = ({
  file,
  items,
}: {
  file: string | null;
  items: readonly Setting[];
}): ConsolePage => ({
  title: "Settings",
  content: (
    <>
      <p>
        {file === null ? (
          "The service has no configuration file."
        ) : (
          <>
            The configuration file is <Text value={file} />.
          </>
        )}{" "}
        Settings are changed on the server: <code>quartermaster config explain</code> explains how for each of
        them.
      </p>
      <SettingTable caption="Changed settings" items={items.filter(isChosen)} />
      <details>
        <summary>Settings with their default</summary>
        <SettingTable caption="Settings with their default" items={items.filter((item) => !isChosen(item))} />
      </details>
      <AsCommand command={["config", "show"]} api={{ method: "GET", path: "/admin/settings" }} />
    </>
  ),
});

const isChosen = ({ origin }: Setting): boolean => origin !== "default";

function SettingTable({ caption, items }: { caption: string; items: readonly Setting[] }) {
  if (items.length === 0) return <p>Every setting has its default.</p>;
  return (
    <table class="rows">
      <caption class="visually-hidden">{caption}</caption>
      <TableHead labels={["Setting", "Value", "From", "A change takes effect"]} />
      <tbody>
        {items.map(({ key, value, origin, about, needs_restart: needsRestart }) => (
          <tr key={key}>
            <td data-label="Setting">
              <code>{key}</code>
              <div class="muted">{asSentence(about)}</div>
            </td>
            <td data-label="Value">
              <Text value={value} />
            </td>
            <td data-label="From">
              <Text value={origin} />
            </td>
            <td data-label="A change takes effect">{needsRestart ? "after a restart" : "after a reload"}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

type Exported = Static<typeof DeploymentConfigExport>;

/** @returns the page of the export; without an export, nothing is published yet */
export const exportPage = (exported: Exported | undefined): ConsolePage => ({
  title: "Configuration export",
  content: (
    <>
      {exported === undefined ? (
        <Empty
          text="No policy is published yet, so there is nothing to export."
          purpose="To publish one from a file, run on the server"
          command={["policy", "apply", "policy.yaml"]}
        />
      ) : (
        <ExportText exported={exported} />
      )}
      <AsCommand command={["policy", "export"]} api={{ method: "GET", path: "/admin/blue-config/export" }} />
    </>
  ),
});

const ExportText = ({ exported: { yaml, redactions } }: { exported: Exported }) => (
  <>
    <p>
      This file reproduces the configuration and the current policy. Each secret in it is a reference to an
      environment variable.
    </p>
    <section>
      <h2>Secrets that were left out</h2>
      {redactions.length === 0 ? (
        <p>The file had none.</p>
      ) : (
        <>
          <p>
            Set <Count value={redactions.length} /> environment{" "}
            {redactions.length === 1 ? "variable" : "variables"} before you use the file.
          </p>
          <Redactions redactions={redactions} />
        </>
      )}
    </section>
    <section>
      <h2>File</h2>
      <div class="example">
        <Copy text={yaml} what="file" />
        <pre>
          <Text value={yaml} />
        </pre>
      </div>
    </section>
  </>
);

const Redactions = ({ redactions }: Pick<Exported, "redactions">) => (
  <table class="rows">
    <caption class="visually-hidden">Places of secrets, and the environment variable of each</caption>
    <TableHead labels={["Environment variable", "Place in the file"]} />
    <tbody>
      {redactions.map(({ path, environment_variable: variable }) => (
        <tr key={path}>
          <td data-label="Environment variable">
            <code>{variable}</code>
          </td>
          <td data-label="Place in the file">
            <Text value={path} />
          </td>
        </tr>
      ))}
    </tbody>
  </table>
);
