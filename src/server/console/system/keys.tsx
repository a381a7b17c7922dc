// The keys of the service: those that sign tokens and those that seal secrets. The keys themselves are never shown.
/** @jsxImportSource preact */
import type { SignedTokens, TokenKey } from "../../../domain/system/key-document.ts";
import type { SealingKeyState } from "../../../domain/system/sealing-keys.ts";
import { asSentence } from "../../pages/words.ts";
import type { ConsolePage } from "../frame/frame.tsx";
import { CONSOLE } from "../frame/navigation.ts";
import { AsCommand, type Equivalents } from "../parts/command.tsx";
import { confirmationPage } from "../parts/form.tsx";
import { TableHead } from "../parts/table-head.tsx";
import { Count, Id, State, Text, Time, useReader } from "../parts/values.tsx";

export const KEYS_PATH = `${CONSOLE}/system/keys`;
export const KEY_KINDS = ["access_tokens", "inference_tokens", "sealing"] as const;
export type KeyKind = (typeof KEY_KINDS)[number];

/** The text that must be typed before a rotation. */
export const ROTATION_WORD = "rotate";

const rotationPath = (kind: KeyKind): string => `${KEYS_PATH}/${kind}/rotate`;

const WORDS: Readonly<Record<KeyKind, { heading: string; about: string; command: readonly string[] }>> = {
  access_tokens: {
    heading: "Signing keys of access tokens",
    about: "Access tokens identify workstations.",
    command: ["signing-keys", "rotate"],
  },
  inference_tokens: {
    heading: "Signing keys of inference tokens",
    about: "The gateway accepts requests with inference tokens.",
    command: ["signing-keys", "rotate", "--inference"],
  },
  sealing: {
    heading: "Sealing keys",
    about: "Secrets in the database are sealed, so a copy of the database reveals none of them.",
    command: ["sealing-keys", "rotate"],
  },
};

interface KeysProps {
  /** undefined where the service has no such keys */
  signing: Readonly<Record<SignedTokens, readonly TokenKey[] | undefined>>;
  sealing: readonly SealingKeyState[];
  /** why the sealing key cannot be rotated; undefined if it can */
  sealingRefusal: string | undefined;
}

export const keysPage = ({ signing, sealing, sealingRefusal }: KeysProps): ConsolePage => ({
  title: "Keys",
  content: (
    <>
      <KeySection kind="access_tokens" refusal={undefined}>
        <SigningKeys keys={signing.access_tokens ?? []} />
      </KeySection>
      <KeySection
        kind="inference_tokens"
        refusal={
          signing.inference_tokens ? undefined : "gateway mode is off, so no inference tokens are signed"
        }
      >
        {signing.inference_tokens && <SigningKeys keys={signing.inference_tokens} />}
      </KeySection>
      <KeySection kind="sealing" refusal={sealingRefusal}>
        <SealingKeys keys={sealing} />
      </KeySection>
      <AsCommand command={["signing-keys", "list"]} api={{ method: "GET", path: "/admin/keys" }} />
    </>
  ),
});

interface KeySectionProps {
  kind: KeyKind;
  refusal: string | undefined;
  children: preact.ComponentChildren;
}

function KeySection({ kind, refusal, children }: KeySectionProps) {
  const { mayAdminister } = useReader();
  const { heading, about } = WORDS[kind];
  return (
    <section>
      <h2>{heading}</h2>
      <p>{about}</p>
      {children}
      {refusal !== undefined ? (
        <p class="hint">
          <Text value={asSentence(refusal)} />
        </p>
      ) : (
        mayAdminister && (
          <p>
            <a class="button" href={rotationPath(kind)}>
              Rotate…
            </a>
          </p>
        )
      )}
    </section>
  );
}

const SigningKeys = ({ keys }: { keys: readonly TokenKey[] }) => (
  <table class="rows">
    <caption class="visually-hidden">Signing keys, newest first</caption>
    <TableHead labels={["Key", "State", "Algorithm", "Made", "Verifies until"]} />
    <tbody>
      {keys.map(({ kid, state, algorithm, createdAtMs, verifiesUntilMs }) => (
        <tr key={kid}>
          <td data-label="Key">
            <Id value={kid} />
          </td>
          <td data-label="State">
            <State tone={state === "active" ? "good" : "neutral"}>
              {state === "active" ? "Signs" : "Verifies only"}
            </State>
          </td>
          <td data-label="Algorithm">{algorithm}</td>
          <td data-label="Made">
            <Time at={createdAtMs} />
          </td>
          <td data-label="Verifies until">
            <Time at={verifiesUntilMs} none="valid while it signs" />
          </td>
        </tr>
      ))}
    </tbody>
  </table>
);

const SEALING_STATES = {
  active: ["good", "Seals"],
  old: ["neutral", "Opens only"],
  missing: ["bad", "Missing"],
} as const;

const SealingKeys = ({ keys }: { keys: readonly SealingKeyState[] }) => (
  <table class="rows">
    <caption class="visually-hidden">Sealing keys, missing ones first</caption>
    <TableHead labels={["Key", "State", "Place", "Secrets under it"]} />
    <tbody>
      {keys.map(({ id, state, source, path, secrets, total }) => (
        <tr key={id}>
          <td data-label="Key">
            <Id value={id} />
          </td>
          <td data-label="State">
            <State tone={SEALING_STATES[state][0]}>{SEALING_STATES[state][1]}</State>
          </td>
          <td data-label="Place">
            <Text value={path ?? source} />
          </td>
          <td data-label="Secrets under it">
            <Count value={total} />
            {total > 0 && (
              <div class="muted">
                {Object.entries(secrets)
                  .filter(([, count]) => count > 0)
                  .map(([noun, count]) => `${noun.replaceAll("_", " ")}: ${count}`)
                  .join(", ")}
              </div>
            )}
          </td>
        </tr>
      ))}
    </tbody>
  </table>
);

const CONSEQUENCES: Readonly<Record<KeyKind, readonly string[]>> = {
  access_tokens: [
    "Make a new key for access tokens? New tokens are signed with it immediately.",
    "Tokens that the old key signed stay valid until they expire. Nobody has to sign in again.",
  ],
  inference_tokens: [
    "Make a new key for inference tokens? New tokens are signed with it immediately.",
    "Tokens that the old key signed stay valid until they expire. Running sessions continue.",
  ],
  sealing: [
    "Make a new sealing key? New secrets are sealed with it immediately, and the service seals the older ones again.",
    "The old key file stays, because earlier backups need it. Back up the new key file apart from the database.",
  ],
};

interface RotationForm {
  /** id of the key in use when the form was made, so that sending it again makes no second key */
  version: string | undefined;
  error?: string;
}

/** @returns the page that asks before a rotation */
export function rotationPage(kind: KeyKind, { version, error }: RotationForm): ConsolePage {
  const { heading, command } = WORDS[kind];
  const equivalents: Equivalents = { command, api: { method: "POST", path: `/admin/keys/${kind}/rotate` } };
  return confirmationPage({
    ...equivalents,
    title: `Rotate: ${heading.toLowerCase()}`,
    breadcrumbs: [{ href: KEYS_PATH, label: "Keys" }],
    consequences: CONSEQUENCES[kind],
    action: rotationPath(kind),
    ...(version !== undefined && { fields: { version } }),
    verb: "Rotate",
    back: KEYS_PATH,
    typed: ROTATION_WORD,
    error,
    isSevere: true,
  });
}
