// The backups: the files in the folder, the state of each, and the buttons that create and verify one. A restore replaces the
// database of the running service, so the page shows its command only.
/** @jsxImportSource preact */

import type { BackupCheck, BackupFileView, BackupListView } from "../../../domain/system/operations.ts";
import { Hidden } from "../../pages/forms.tsx";
import { asSentence } from "../../pages/words.ts";
import type { ConsolePage } from "../frame/frame.tsx";
import { CONSOLE } from "../frame/navigation.ts";
import { Empty } from "../list/first-step.tsx";
import { AsCommand } from "../parts/command.tsx";
import { ConsoleForm } from "../parts/form.tsx";
import { TableHead } from "../parts/table-head.tsx";
import { Id, Size, State, Text, Time, type Tone, useReader } from "../parts/values.tsx";

export const BACKUPS_PATH = `${CONSOLE}/system/backups`;

/**
 * @param once idempotency key: sending the form again makes no second backup
 * @returns the page of the backups
 */
export const backupsPage = (
  { folder, making, failure, items }: BackupListView,
  once: string,
): ConsolePage => ({
  title: "Backups",
  content: (
    <>
      {failure !== null && (
        <p class="notice attention">
          The last requested backup failed, <Time at={failure.at} />:{" "}
          <Text value={asSentence(failure.detail)} />
        </p>
      )}
      <Make isMaking={making} folder={folder} once={once} />
      {items.length === 0 ? (
        <Empty
          text={
            <>
              The folder <Text value={folder} /> has no backup yet. Make one now, or let the job{" "}
              <a href={`${CONSOLE}/system/jobs#row-backup`}>backup</a> make one at its next run.
            </>
          }
          command={["backup", "create"]}
        />
      ) : (
        <Files items={items} />
      )}
      <AsCommand command={["backup", "list"]} api={{ method: "GET", path: "/admin/backups" }} />
      <section>
        <h2>Restore</h2>
        <p>
          A restore replaces the database, so the service must be stopped and this page cannot start one. Stop
          the service, and run the command of the backup on the server. With <code>--dry-run</code>, it only
          shows what would change. The replaced data is kept.
        </p>
      </section>
    </>
  ),
});

function Make({ isMaking, folder, once }: { isMaking: boolean; folder: string; once: string }) {
  const { mayAdminister } = useReader();
  return (
    <div class="panel">
      <p>
        {isMaking ? "A backup is being made. Load this page again to see it." : <>Backups are kept in </>}
        {!isMaking && <Text value={folder} />}
      </p>
      {mayAdminister && !isMaking && (
        <ConsoleForm action={BACKUPS_PATH}>
          <Hidden name="once" value={once} />
          <button class="button" type="submit">
            Make a backup now
          </button>
        </ConsoleForm>
      )}
      <AsCommand command={["backup", "create"]} api={{ method: "POST", path: "/admin/backups" }} />
    </div>
  );
}

const Files = ({ items }: Pick<BackupListView, "items">) => (
  <table class="rows">
    <caption class="visually-hidden">Backups, newest first</caption>
    <TableHead labels={["Made", "File", "Size", "Verified", "Sealing keys needed", "Actions"]} />
    <tbody>
      {items.map((item) => (
        <File key={item.id} item={item} />
      ))}
    </tbody>
  </table>
);

function File({ item }: { item: BackupFileView }) {
  const { mayAdminister } = useReader();
  const { id, path, kind, version, schema, verification, sealing_key_ids: keys } = item;
  return (
    <tr>
      <td data-label="Made">
        <Time at={item.created_at} none="unknown" />
        <div class="muted">
          {kind}
          {version !== null && `, version ${version}`}
          {schema !== null && `, schema ${schema}`}
        </div>
      </td>
      <td data-label="File">
        <Text value={path} />
      </td>
      <td data-label="Size">
        <Size bytes={item.size_bytes} />
      </td>
      <td data-label="Verified">
        {item.problem === null ? <Verified check={verification} /> : <Unreadable problem={item.problem} />}
      </td>
      <td data-label="Sealing keys needed">
        {keys.length === 0 ? <Text value={null} /> : keys.map((key) => <Id key={key} value={key} />)}
      </td>
      <td data-label="Actions">
        {mayAdminister && verification?.state !== "running" && (
          <ConsoleForm action={`${BACKUPS_PATH}/verify`}>
            <Hidden name="id" value={id} />
            <button class="button quiet" type="submit" aria-label={`Verify ${id}`}>
              Verify
            </button>
          </ConsoleForm>
        )}
        <AsCommand
          command={["backup", "verify", path]}
          api={{ method: "POST", path: `/admin/backups/${encodeURIComponent(id)}/verify` }}
        />
        <details class="as-command">
          <summary>Restore</summary>
          <AsCommand command={["backup", "restore", path, "--dry-run"]} />
        </details>
      </td>
    </tr>
  );
}

const Unreadable = ({ problem }: { problem: string }) => (
  <>
    <State tone="bad">Unreadable</State> <Text value={asSentence(problem)} />
  </>
);

const CHECKS: Readonly<Record<BackupCheck["state"], [Tone, string]>> = {
  running: ["neutral", "Verifying"],
  intact: ["good", "Intact"],
  damaged: ["bad", "Damaged"],
};

function Verified({ check }: { check: BackupCheck | null }) {
  if (check === null) return <span class="muted">not since the service started</span>;
  const [tone, word] = CHECKS[check.state];
  return (
    <>
      <State tone={tone}>{word}</State> <Time at={check.at} />
      {check.problem !== null && (
        <div>
          <Text value={asSentence(check.problem)} />
        </div>
      )}
    </>
  );
}
