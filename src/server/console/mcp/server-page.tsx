// The form of one MCP server. Saving changes the draft and publishes nothing.
/** @jsxImportSource preact */
import {
  LABEL_CHARACTERS_MAX,
  MCP_ARGUMENTS_MAX,
  MCP_TEXT_CHARACTERS_MAX,
  type McpServer,
  URL_CHARACTERS_MAX,
} from "../../../domain/governance/model.ts";
import { withHiddenServerSecrets } from "../../../domain/governance/shown/hidden-secrets.ts";
import type { HarnessKey } from "../../../domain/harnesses/harnesses.ts";
import { HARNESS_KEYS } from "../../../domain/harnesses/harnesses.ts";
import type { Problem } from "../../../platform/errors.ts";
import { Hidden } from "../../pages/forms.tsx";
import type { ConsolePage } from "../frame/frame.tsx";
import { harnessText } from "../own/words.ts";
import { AsCommand } from "../parts/command.tsx";
import { ConsoleForm } from "../parts/form.tsx";
import { SavedElsewhere, SavedText } from "../parts/saved-elsewhere.tsx";
import { statedBody } from "../parts/stated-version.ts";
import { Text, useReader } from "../parts/values.tsx";
import { HiddenFields } from "../policy/hidden-values.tsx";
import { controlOf, type McpEntry, type RowAct, shownTexts } from "./entry.ts";
import { Arguments, Variables } from "./rows.tsx";
import { MCP_BREADCRUMBS, MCP_PATH, NEW_SERVER_PATH, serverPath } from "./words.ts";

export interface ServerPageProps {
  /** name of the server in the draft; undefined for a new one */
  name: string | undefined;
  /** one of the harnesses that had the server when the form was opened */
  from: HarnessKey | undefined;
  entry: McpEntry;
  /** text of the field `version`: see stated-version.ts */
  version: string;
  problems?: readonly Problem[];
  /** pointers to values that look like a key or a token and are not confirmed yet */
  secrets?: readonly string[];
  /** harnesses that have a different server of this name */
  others?: readonly HarnessKey[];
  /** the row that was just moved or added, which gets the focus */
  moved?: RowAct | undefined;
  /** the server as saved elsewhere after its author opened the form; null if it was removed there */
  other?: McpServer | null | undefined;
}

export function serverPage(props: ServerPageProps): ConsolePage {
  const { name, problems = [], secrets = [], other } = props;
  const isRefused = problems.length > 0 || secrets.length > 0;
  return {
    title: name ?? "New MCP server",
    breadcrumbs: MCP_BREADCRUMBS,
    isError: isRefused || other !== undefined,
    status: isRefused ? 400 : other === undefined ? 200 : 409,
    content: (
      <>
        {other !== undefined && (
          <SavedElsewhere version={props.version}>
            {other === null ? (
              <p>There is no such server.</p>
            ) : (
              <SavedText
                label="The server as it is now"
                text={JSON.stringify(withHiddenServerSecrets(other), null, 2)}
                href={serverPath(other.name)}
              />
            )}
          </SavedElsewhere>
        )}
        {problems.length > 0 && <Problems {...props} problems={problems} />}
        {secrets.length > 0 && <Secrets {...props} secrets={secrets} />}
        <HiddenFields texts={shownTexts(props.entry)} />
        <ServerForm {...props} />
        <AsCommand
          api={{
            method: "PUT",
            path: "/admin/policy-draft",
            body: { ...statedBody(props.version), mcp: { codex: [{ name: name ?? "…", command: "…" }] } },
          }}
        />
      </>
    ),
  };
}

const Problems = ({ problems, entry }: Pick<ServerPageProps, "entry"> & { problems: readonly Problem[] }) => (
  <div class="error-summary" role="alert" tabIndex={-1} autofocus>
    <p>Nothing is saved yet.</p>
    <ul>
      {problems.map(({ pointer, detail }) => {
        const { id, label } = controlOf(entry, pointer);
        return (
          <li key={pointer + detail}>
            <a href={`#${id}`}>
              <Text value={`${label} ${detail}`} />
            </a>
          </li>
        );
      })}
    </ul>
  </div>
);

const Secrets = ({ secrets, entry }: Pick<ServerPageProps, "entry"> & { secrets: readonly string[] }) => (
  <div class="error-summary" role="alert" tabIndex={-1} autofocus>
    <p>
      Nothing is saved yet: these values look like keys or tokens. Every workstation that gets the policy
      stores them in clear text, and its user can read them.
    </p>
    <ul>
      {secrets.map((pointer) => {
        const { id, label } = controlOf(entry, pointer);
        return (
          <li key={pointer}>
            <a href={`#${id}`}>
              <Text value={label} />
            </a>
          </li>
        );
      })}
    </ul>
  </div>
);

function ServerForm(props: ServerPageProps) {
  const { name, from, entry, version, problems = [], secrets = [], moved, other } = props;
  const { mayAdminister } = useReader();
  const isChanged = moved !== undefined || problems.length > 0 || secrets.length > 0 || other !== undefined;
  const isWrong = (id: string) => problems.some(({ pointer }) => controlOf(entry, pointer).id === id);
  return (
    <ConsoleForm
      action={name === undefined ? NEW_SERVER_PATH : serverPath(name)}
      class="server"
      isInParts
      edits={isChanged ? "refused" : "saved"}
    >
      <Hidden name="version" value={version} />
      {from !== undefined && <Hidden name="from" value={from} />}
      {/* What the Enter key presses: the first button of the form, which would move a row otherwise. */}
      <button type="submit" name="act" value="save" hidden>
        Save
      </button>
      <fieldset disabled={!mayAdminister}>
        <legend class="visually-hidden">The server</legend>
        <div class="field narrow">
          <label for="name">Name</label>
          <input
            id="name"
            name="name"
            value={entry.name}
            maxLength={LABEL_CHARACTERS_MAX}
            autocomplete="off"
            aria-invalid={isWrong("name")}
          />
        </div>
        <Kind entry={entry} />
        <Local entry={entry} moved={moved} isWrong={isWrong} />
        <Remote entry={entry} isWrong={isWrong} />
        <Harnesses {...props} />
        <p>
          <label>
            <input type="checkbox" name="enabled" value="yes" checked={entry.isEnabled} /> Enabled
          </label>
        </p>
        {secrets.length > 0 && (
          <p>
            <label>
              <input type="checkbox" name="accepted" value="yes" /> Users of workstations may read these
              values
            </label>
          </p>
        )}
        {mayAdminister && <Buttons name={name} />}
      </fieldset>
    </ConsoleForm>
  );
}

type PartProps = Pick<ServerPageProps, "entry"> & {
  /** whether a problem is about a control */
  isWrong(id: string): boolean;
};

const Local = ({ entry, moved, isWrong }: PartProps & Pick<ServerPageProps, "moved">) => (
  <fieldset class="local">
    <legend class="visually-hidden">Local server</legend>
    <div class="field">
      <label for="command">Command</label>
      <input
        id="command"
        name="command"
        value={entry.command}
        placeholder="npx"
        maxLength={MCP_TEXT_CHARACTERS_MAX}
        autocomplete="off"
        spellcheck={false}
        aria-invalid={isWrong("command")}
      />
    </div>
    <Arguments args={entry.args} moved={moved} max={MCP_ARGUMENTS_MAX} />
    <Variables variables={entry.variables} moved={moved} max={MCP_ARGUMENTS_MAX} />
  </fieldset>
);

const Remote = ({ entry, isWrong }: PartProps) => (
  <fieldset class="remote">
    <legend class="visually-hidden">Remote server</legend>
    <div class="field">
      <label for="url">URL</label>
      <input
        id="url"
        name="url"
        value={entry.url}
        placeholder="https://mcp.example.com/"
        maxLength={URL_CHARACTERS_MAX}
        autocomplete="off"
        spellcheck={false}
        aria-invalid={isWrong("url")}
      />
    </div>
    <div class="field narrow">
      <label for="transport">Transport</label>
      <input
        id="transport"
        name="transport"
        value={entry.transport}
        list="transports"
        maxLength={LABEL_CHARACTERS_MAX}
        autocomplete="off"
        aria-describedby="transport-hint"
        aria-invalid={isWrong("transport")}
      />
      <datalist id="transports">
        <option value="http" />
        <option value="sse" />
      </datalist>
      <p class="hint" id="transport-hint">
        Leave empty for the default of the harness.
      </p>
    </div>
  </fieldset>
);

const Kind = ({ entry: { isRemote } }: Pick<ServerPageProps, "entry">) => (
  <fieldset>
    <legend>Kind</legend>
    <p>
      <label>
        <input id="local" type="radio" name="kind" value="local" checked={!isRemote} /> Local: a command that
        the harness starts on the workstation, with arguments and variables
      </label>
      <label>
        <input id="remote" type="radio" name="kind" value="remote" checked={isRemote} /> Remote: a URL,
        without arguments or variables
      </label>
    </p>
    <p class="hint">A server has a command or a URL. Values of the other kind are not saved.</p>
  </fieldset>
);

const Harnesses = ({ entry, others = [], name }: ServerPageProps) => (
  <fieldset id="harnesses">
    <legend>Harnesses</legend>
    {HARNESS_KEYS.map((key) => (
      <label key={key}>
        <input type="checkbox" name={`harness_${key}`} value="yes" checked={entry.harnesses.includes(key)} />{" "}
        {harnessText(key)}
        {name !== undefined && others.includes(key) && (
          <>
            , has a <a href={serverPath(name, key)}>different server of this name</a>, which this one would
            replace
          </>
        )}
      </label>
    ))}
  </fieldset>
);

const Buttons = ({ name }: Pick<ServerPageProps, "name">) => (
  <div class="choices">
    <button class="button primary" type="submit" name="act" value="save">
      Save and review
    </button>
    {name !== undefined && (
      <button class="button" type="submit" name="act" value="remove">
        Remove from the draft
      </button>
    )}
    <a class="button" href={MCP_PATH}>
      Cancel
    </a>
  </div>
);
