// The first step: the archive, as a file of the browser, from a public host, or from a repository connection.
/** @jsxImportSource preact */
import { ARCHIVE_LIMITS } from "../../../../domain/catalog/archive/limits.ts";
import { SOURCE_REF_CHARACTERS_MAX } from "../../../../domain/catalog/model.ts";
import type { PackageSourceConnection } from "../../../../domain/catalog/sources/package-sources.ts";
import type { Addition } from "../../../../domain/governance/additions/addition-model.ts";
import type { Problem } from "../../../../platform/errors.ts";
import { Hidden } from "../../../pages/forms.tsx";
import type { ConsolePage } from "../../frame/frame.tsx";
import type { Fields } from "../../frame/kept-fields.tsx";
import { AsCommand } from "../../parts/command.tsx";
import { ConsoleForm } from "../../parts/form.tsx";
import { Size, Text, useReader } from "../../parts/values.tsx";
import { CONNECTIONS_PATH } from "../words.ts";
import { type RefusedStep, stepPage } from "./steps.tsx";
import { NEW_PACKAGE_PATH, STEPS, UPLOAD_PATH } from "./words.ts";

export interface SourcePageProps {
  addition: Addition | undefined;
  /** whether archives on public hosts may be fetched */
  isPublic: boolean;
  connections: readonly PackageSourceConnection[];
  /** what was entered */
  fields?: Fields;
  refused?: RefusedStep | undefined;
}

/** Labels of the controls that a problem may point to. Entries of an archive have no controls. */
const LABELS: Readonly<Record<string, string>> = {
  "/file": "Archive",
  "/source_ref": "Address",
  "/repository": "Repository",
  "/ref": "Branch, tag or commit",
  "/path": "Folder",
};

const labelled = (problem: Problem): Problem => {
  const label = LABELS[problem.pointer];
  return label === undefined ? problem : { ...problem, detail: `${label}: ${problem.detail}` };
};

export function sourcePage(props: SourcePageProps): ConsolePage {
  const { addition } = props;
  const refused = props.refused && { ...props.refused, problems: props.refused.problems.map(labelled) };
  const content = (
    <>
      {addition && <Going addition={addition} />}
      <Upload />
      <PublicArchive {...props} />
      <Repository {...props} />
    </>
  );
  return stepPage({ step: "source", title: "Add a package", addition, refused, content }, (pointer) =>
    LABELS[pointer] === undefined ? undefined : `#${pointer.slice(1)}`,
  );
}

const Going = ({ addition: { source, identity } }: { addition: Addition }) => (
  <p class="notice">
    You are adding <Text value={identity?.id ?? source.sourceRef} />.{" "}
    <a href={STEPS.inspection.path}>Continue</a>, or choose another archive: its name and its audience stay.
  </p>
);

const Upload = () => (
  <section aria-labelledby="upload">
    <h2 id="upload">From this computer</h2>
    <ConsoleForm action={UPLOAD_PATH} class="measure" isInParts isWatched>
      <div class="field">
        <label for="file">Archive</label>
        <p class="hint" id="file-hint">
          A <code>.tar.gz</code> file of at most <Size bytes={ARCHIVE_LIMITS.compressedBytesMax} />. It needs
          no network.
        </p>
        <input
          id="file"
          name="file"
          type="file"
          required
          accept=".tar.gz,.tgz,application/gzip"
          aria-describedby="file-hint"
        />
      </div>
      <button class="button primary" type="submit">
        Upload and inspect
      </button>
    </ConsoleForm>
    <AsCommand
      command={["catalog", "upload", "ARCHIVE.tar.gz"]}
      api={{ method: "POST", path: "/admin/package-source/upload?name=ARCHIVE.tar.gz" }}
    />
  </section>
);

function PublicArchive({ isPublic, fields = {} }: SourcePageProps) {
  const { mayAdminister } = useReader();
  return (
    <section aria-labelledby="public">
      <h2 id="public">From a public host</h2>
      {isPublic ? (
        <ConsoleForm action={NEW_PACKAGE_PATH} class="measure">
          <Hidden name="act" value="inspect" />
          <fieldset disabled={!mayAdminister}>
            <legend class="visually-hidden">Public archive</legend>
            <div class="field">
              <label for="source_ref">Address</label>
              <p class="hint" id="source-hint">
                <code>https://…</code> of a <code>.tar.gz</code> file, or{" "}
                <code>github:owner/repository@ref</code>
              </p>
              <input
                id="source_ref"
                name="source_ref"
                value={fields.source_ref}
                maxLength={SOURCE_REF_CHARACTERS_MAX}
                required
                autocomplete="off"
                spellcheck={false}
                aria-describedby="source-hint"
              />
            </div>
            <button class="button" type="submit">
              Fetch and inspect
            </button>
          </fieldset>
        </ConsoleForm>
      ) : (
        <p>
          Public sources are switched off on this installation (setting <code>package_sources.public</code>).
        </p>
      )}
    </section>
  );
}

function Repository({ connections, fields = {} }: SourcePageProps) {
  const { mayAdminister } = useReader();
  return (
    <section aria-labelledby="repository-title">
      <h2 id="repository-title">From a repository connection</h2>
      {connections.length === 0 ? (
        <p>
          This organization has no repository connections. An operator adds them to the configuration file of
          the service.
        </p>
      ) : (
        <ConsoleForm action={NEW_PACKAGE_PATH} class="measure">
          <Hidden name="act" value="inspect" />
          <fieldset disabled={!mayAdminister}>
            <legend class="visually-hidden">Repository</legend>
            <div class="field">
              <label for="connection_id">Connection</label>
              <p class="hint" id="connection-hint">
                <a href={CONNECTIONS_PATH}>State of the connections</a>
              </p>
              <select id="connection_id" name="connection_id" aria-describedby="connection-hint">
                {connections.map(({ id, name, namespaces, status }) => (
                  <option key={id} value={id} selected={fields.connection_id === id}>
                    {`${name} (${namespaces.includes("*") ? "all namespaces" : namespaces.join(", ")})${status === "failing" ? ", fails" : ""}`}
                  </option>
                ))}
              </select>
            </div>
            <Entered name="repository" label="Repository" value={fields.repository} hint="namespace/name" />
            <Entered
              name="ref"
              label="Branch, tag or commit"
              value={fields.ref}
              hint="The policy pins the commit; a branch or tag only says where to look for a newer one."
            />
            <Entered
              name="path"
              label="Folder (optional)"
              value={fields.path}
              hint="Only this folder becomes the archive; empty for the whole repository."
            />
            <button class="button" type="submit">
              Mirror and inspect
            </button>
          </fieldset>
        </ConsoleForm>
      )}
    </section>
  );
}

const Entered = ({
  name,
  label,
  value,
  hint,
}: {
  name: string;
  label: string;
  value: string | undefined;
  hint?: string;
}) => (
  <div class="field">
    <label for={name}>{label}</label>
    {hint && (
      <p class="hint" id={`${name}-hint`}>
        {hint}
      </p>
    )}
    <input
      id={name}
      name={name}
      value={value}
      maxLength={SOURCE_REF_CHARACTERS_MAX}
      autocomplete="off"
      spellcheck={false}
      {...(hint && { "aria-describedby": `${name}-hint` })}
    />
  </div>
);
