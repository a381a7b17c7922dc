// The connections to the company's git hosts, and the packages for which they have a newer commit. The operator defines
// connections in the configuration file, so the page changes nothing.
/** @jsxImportSource preact */

import type { OutdatedPackage, PackageSourceConnection } from "../../../domain/catalog/service.ts";
import type { ConsolePage } from "../frame/frame.tsx";
import { Empty } from "../list/first-step.tsx";
import { AsCommand } from "../parts/command.tsx";
import { TableHead } from "../parts/table-head.tsx";
import { Id, State, Text, Time, type Tone } from "../parts/values.tsx";
import { NEW_PACKAGE_PATH } from "./new/words.ts";
import { packagePath } from "./words.ts";

export interface ConnectionsPageProps {
  connections: readonly (PackageSourceConnection & {
    reason?: string | undefined;
    sinceMs?: number | undefined;
  })[];
  /** ids of those with a faulty configuration */
  disabled: readonly string[];
  behind: readonly OutdatedPackage[];
}

const STATES: Readonly<Record<PackageSourceConnection["status"], [Tone, string]>> = {
  ok: ["good", "Answers"],
  unverified: ["neutral", "Not used yet"],
  failing: ["attention", "Fails"],
};

export const connectionsPage = ({ connections, disabled, behind }: ConnectionsPageProps): ConsolePage => ({
  title: "Repository connections",
  content: (
    <>
      {disabled.length > 0 && (
        <p>
          Disabled because of their configuration: <Text value={disabled.join(", ")} />. To see the reason, an
          operator runs <code>quartermaster connections list</code>.
        </p>
      )}
      {connections.length > 0 && (
        <>
          <Connections connections={connections} />
          <p>
            <a class="button" href={NEW_PACKAGE_PATH}>
              Add a package from a repository
            </a>
          </p>
        </>
      )}
      {connections.length === 0 && disabled.length === 0 && (
        <Empty
          text={
            <>
              This organization has no connection to a git host. An operator adds connections to the
              configuration file of the service (<code>package_sources.connections</code>).
            </>
          }
          purpose="To check the file, run on the server"
          command={["config", "check"]}
        />
      )}
      {behind.length > 0 && <Behind behind={behind} />}
      <AsCommand
        command={["connections", "list"]}
        api={{ method: "GET", path: "/admin/package-source/connections" }}
      />
    </>
  ),
});

const Connections = ({ connections }: Pick<ConnectionsPageProps, "connections">) => (
  <table class="rows">
    <caption class="visually-hidden">Connections in the order of the configuration</caption>
    <TableHead labels={["Connection", "Host", "Namespaces", "State"]} />
    <tbody>
      {connections.map(({ id, name, provider, namespaces, status, reason, sinceMs }) => (
        <tr key={id}>
          <td data-label="Connection">
            <Text value={name} />
            {name !== id && (
              <div class="muted">
                <code>{id}</code>
              </div>
            )}
          </td>
          <td data-label="Host">{PROVIDER_WORDS[provider]}</td>
          <td data-label="Namespaces">
            <Text value={namespaces.includes("*") ? "all" : namespaces.join(", ")} />
          </td>
          <td data-label="State">
            <State tone={STATES[status][0]}>{STATES[status][1]}</State>{" "}
            {status === "failing" && (
              <>
                since <Time at={sinceMs ?? null} />: <code>{reason}</code>
                <div class="muted">
                  To see the reason, an operator runs <code>quartermaster connections verify {id}</code>.
                </div>
              </>
            )}
          </td>
        </tr>
      ))}
    </tbody>
  </table>
);

const PROVIDER_WORDS: Readonly<Record<PackageSourceConnection["provider"], string>> = {
  github: "GitHub",
  gitlab: "GitLab",
  gitea: "Gitea or Forgejo",
  bitbucket_data_center: "Bitbucket Data Center",
  bitbucket_cloud: "Bitbucket Cloud",
  git: "git server",
};

const Behind = ({ behind }: Pick<ConnectionsPageProps, "behind">) => (
  <section aria-labelledby="behind">
    <h2 id="behind">Newer commits</h2>
    <p>Workstations keep the archive of the policy until somebody publishes another one.</p>
    <table class="rows">
      <caption class="visually-hidden">Packages of the policy with a newer commit</caption>
      <TableHead labels={["Package", "Repository", "Newer commit", "Looked up"]} />
      <tbody>
        {behind.map(({ packageId, repository, ref, latestCommit, checkedAtMs }) => (
          <tr key={packageId}>
            <td data-label="Package">
              <a href={packagePath(packageId)}>{packageId}</a>
            </td>
            <td data-label="Repository">
              <Text value={`${repository}@${ref}`} />
            </td>
            <td data-label="Newer commit">
              <Id value={latestCommit} />
            </td>
            <td data-label="Looked up">
              <Time at={checkedAtMs} />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  </section>
);
