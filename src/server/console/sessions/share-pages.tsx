// Sharing a captured session: the form for its owner, and the confirmation, which counts strings that look like keys.
/** @jsxImportSource preact */
import type { NamedEntry } from "../../../domain/audit/reading/entry-document.ts";
import { RECIPIENTS_MAX } from "../../../domain/sessions/limits.ts";
import type { SharingMode } from "../../../domain/sessions/model.ts";
import type { SecretScan, SessionView } from "../../../domain/sessions/service.ts";
import { SECRETS_MAX } from "../../../domain/sessions/transcript/limits.ts";
import { SEARCH_LENGTH_MAX } from "../../../domain/shared/page.ts";
import { countText } from "../../../platform/count-text.ts";
import type { Problem } from "../../../platform/errors.ts";
import { Hidden } from "../../pages/forms.tsx";
import { asSentence } from "../../pages/words.ts";
import type { ConsolePage } from "../frame/frame.tsx";
import { andText } from "../own/words.ts";
import { AsCommand } from "../parts/command.tsx";
import { ConsoleForm, confirmationPage } from "../parts/form.tsx";
import { Text, Time } from "../parts/values.tsx";
import { actionPath, BREADCRUMBS, peopleText, sessionPath, titleOf } from "./words.ts";

const MODES: Readonly<Record<SharingMode, { label: string; hint: string }>> = {
  private: { label: "Nobody", hint: "Only you and administrators can see it." },
  selected: { label: "People you choose", hint: "They can see it, read its transcript and download it." },
  workspace: { label: "Everybody in the organization", hint: "Including people who join later." },
};

/** The values of the form. */
export interface ShareForm {
  /** version of the sharing that the form shows */
  version: string;
  mode: string;
  /** addresses, one per line */
  people: string;
  /** part of an address to search for */
  person: string;
}

export interface SharePageProps {
  session: SessionView;
  form: ShareForm;
  /** colleagues whose address contains the text; undefined before the first lookup */
  matches?: readonly string[] | undefined;
  problems?: readonly Problem[];
  /** the change since the form was opened, and its author; undefined if retention removed the entry */
  changed?: { stored: ShareForm; change: NamedEntry | undefined };
}

const breadcrumbsOf = (session: SessionView) => [
  ...BREADCRUMBS,
  { href: sessionPath(session.id), label: titleOf(session) },
];

const fieldOf = ({ pointer }: Problem): string => {
  if (pointer.startsWith("/user_ids")) return "people";
  return pointer === "/q" ? "person" : "mode-private";
};

export const sharePage = ({
  session,
  form,
  matches,
  problems = [],
  changed,
}: SharePageProps): ConsolePage => ({
  title: "Share the session",
  breadcrumbs: breadcrumbsOf(session),
  status: changed ? 409 : problems.length > 0 ? 400 : 200,
  isError: changed !== undefined || problems.length > 0,
  content: (
    <>
      {changed && <Changed {...changed} />}
      {problems.length > 0 && <Faults problems={problems} />}
      <ConsoleForm
        action={actionPath(session.id, "share")}
        class="measure"
        edits={changed || problems.length > 0 ? "refused" : "saved"}
      >
        <Hidden name="version" value={form.version} />
        <Modes chosen={form.mode} />
        <Person person={form.person} matches={matches} />
        <div class="field">
          <label for="people">People</label>
          <p class="hint" id="people-hint">
            Addresses, one per line, at most {RECIPIENTS_MAX}. They apply only with “{MODES.selected.label}”.
          </p>
          <textarea id="people" name="people" rows={6} aria-describedby="people-hint" spellcheck={false}>
            {form.people}
          </textarea>
        </div>
        <div class="choices">
          <button class="button primary" type="submit" name="act" value="save">
            Continue
          </button>
          <a class="button" href={sessionPath(session.id)}>
            Cancel
          </a>
        </div>
      </ConsoleForm>
      <AsCommand
        api={{
          method: "PUT",
          path: `/session-uploads/${session.id}/sharing`,
          body: { mode: "selected", user_ids: ["<id of a user>"] },
        }}
      />
    </>
  ),
});

/** Shows both values, so that the reader can choose. */
const Changed = ({ stored, change }: Required<SharePageProps>["changed"]) => (
  <div class="error-summary" role="alert" tabIndex={-1} autofocus>
    <p>
      {change ? <Text value={change.actorLabel} /> : "Somebody"} changed the sharing
      {change && (
        <>
          {" "}
          <Time at={change.atMs} />
        </>
      )}
      , after you opened this page. Your choice was not saved. The session is shared with:{" "}
      {stored.mode === "selected" ? (
        <Text value={stored.people.split("\n").join(", ")} none="nobody" />
      ) : (
        SHARED_WITH[stored.mode]
      )}
      .
    </p>
    <p>Continue to replace this with your choice, or cancel.</p>
  </div>
);

const SHARED_WITH: Readonly<Record<string, string>> = {
  private: "nobody",
  workspace: "everybody in the organization",
};

const Faults = ({ problems }: { problems: readonly Problem[] }) => (
  <div class="error-summary" role="alert" tabIndex={-1} autofocus>
    <h2>Nothing was changed</h2>
    <ul>
      {problems.map((problem) => (
        <li key={problem.pointer + problem.detail}>
          <a href={`#${fieldOf(problem)}`}>
            <Text value={asSentence(problem.detail)} />
          </a>
        </li>
      ))}
    </ul>
  </div>
);

const Modes = ({ chosen }: { chosen: string }) => (
  <fieldset>
    <legend>Who can see this session</legend>
    {Object.entries(MODES).map(([mode, { label, hint }]) => (
      <p key={mode}>
        <label>
          <input type="radio" name="mode" id={`mode-${mode}`} value={mode} checked={mode === chosen} />{" "}
          {label}
        </label>
        <span class="hint"> {hint}</span>
      </p>
    ))}
  </fieldset>
);

const Person = ({ person, matches }: Pick<ShareForm, "person"> & Pick<SharePageProps, "matches">) => (
  <div class="field">
    <label for="person">Add a person</label>
    <p class="hint" id="person-hint">
      Part of the address of an active colleague
    </p>
    <div class="beside">
      <input
        id="person"
        name="person"
        type="search"
        value={person}
        maxLength={SEARCH_LENGTH_MAX}
        list="colleagues"
        data-people="colleagues"
        aria-describedby="person-hint"
        autocomplete="off"
      />
      <button class="button" type="submit" name="act" value="find">
        Find
      </button>
    </div>
    <datalist id="colleagues" />
    <Matches matches={matches} />
  </div>
);

function Matches({ matches }: Pick<SharePageProps, "matches">) {
  if (!matches) return null;
  if (matches.length === 0) return <p role="status">No active colleague has such an address.</p>;
  return (
    <ul class="chips" aria-label="Colleagues found">
      {matches.map((email) => (
        <li key={email}>
          <button class="chip" type="submit" name="add" value={email}>
            Add <Text value={email} />
          </button>
        </li>
      ))}
    </ul>
  );
}

/** The result of the search for keys, or why it failed. */
export type ScanOutcome = { scan: SecretScan } | { refusal: string };

interface ShareQuestion {
  session: SessionView;
  form: Pick<ShareForm, "version" | "mode" | "people">;
  /** ids of the people by name */
  userIds: readonly string[];
  outcome: ScanOutcome;
}

/** Asks before more people can find a session. */
export const shareQuestion = ({ session, form, userIds, outcome }: ShareQuestion): ConsolePage =>
  confirmationPage({
    title: "Share this session?",
    consequences: [
      <>
        “<bdi>{titleOf(session)}</bdi>” will be found by{" "}
        {form.mode === "workspace" ? "everybody in the organization" : peopleText(userIds.length)}. They read
        the whole transcript: every prompt, every answer, and every output of a tool.
      </>,
      <Secrets outcome={outcome} />,
      "You can stop sharing at any time. People who have downloaded it keep their copy.",
    ],
    action: actionPath(session.id, "share"),
    fields: { version: form.version, mode: form.mode, people: form.people, confirmed: "1" },
    verb: "Share",
    back: sessionPath(session.id),
    breadcrumbs: breadcrumbsOf(session),
    api: {
      method: "PUT",
      path: `/session-uploads/${session.id}/sharing`,
      body: { mode: form.mode, ...(form.mode === "selected" && { user_ids: userIds }) },
    },
  });

function Secrets({ outcome }: { outcome: ScanOutcome }) {
  if ("refusal" in outcome)
    return (
      <span class="warning">
        It could not be searched for keys: <Text value={outcome.refusal} /> Share it only if you know its
        content.
      </span>
    );
  const { kinds, total, isWhole } = outcome.scan;
  const rest = isWhole ? "" : " Only a part of it was searched, because it is too long.";
  if (total === 0)
    return (
      <>
        No string in it looks like a key of a known kind.{rest} Passwords and other kinds are not recognized.
      </>
    );
  return (
    <span class="warning">
      <strong>
        {total >= SECRETS_MAX && "At least "}
        {countText(total, "string in it looks", "strings in it look")} like a key:
      </strong>{" "}
      {andText(kinds.map(({ label, count }) => `${label} (${count})`))}.{rest} Revoke real keys first.
    </span>
  );
}
