// The third step: the id, the version and the name of the package.
/** @jsxImportSource preact */
import { ID_CHARACTERS_MAX, LABEL_CHARACTERS_MAX } from "../../../../domain/catalog/model.ts";
import type { Addition, AdditionIdentity } from "../../../../domain/governance/additions/addition-model.ts";
import { Hidden } from "../../../pages/forms.tsx";
import type { ConsolePage } from "../../frame/frame.tsx";
import { ConsoleForm } from "../../parts/form.tsx";
import { Text, useReader } from "../../parts/values.tsx";
import { type RefusedStep, stepPage } from "./steps.tsx";
import { STEPS } from "./words.ts";

export interface IdentityPageProps {
  addition: Addition;
  /** what was entered, or is proposed */
  entered: AdditionIdentity;
  /** the package of the draft with that id */
  known: { id: string; version: string } | undefined;
  isReplacement: boolean;
  refused?: RefusedStep | undefined;
}

const FIELD = /^\/(?:id|version|name)$/;

/** The name contains the id of the package to replace, so that a tick for one id does not count for another. */
export const packageName = ({ id, version }: { id: string; version: string }): string => `${id} ${version}`;

/** ID_PATTERN for browsers, which reject an unescaped hyphen. */
const ID_CHARACTERS = "[a-z0-9\\-]+";

export function identityPage(props: IdentityPageProps): ConsolePage {
  const { addition, refused } = props;
  const content = <Form {...props} />;
  const page = { step: "identity" as const, title: "Name the package", addition, refused, content };
  return stepPage(page, (pointer) => (FIELD.test(pointer) ? `#${pointer.slice(1)}` : undefined));
}

function Form({ addition, entered, known, isReplacement, refused }: IdentityPageProps) {
  const { mayAdminister } = useReader();
  const isWrong = (name: string) => refused?.problems.some(({ pointer }) => pointer === `/${name}`);
  return (
    <ConsoleForm action={STEPS.identity.path} class="measure" edits={refused ? "refused" : "saved"}>
      <Hidden name="version_read" value={String(addition.version)} />
      <fieldset disabled={!mayAdminister}>
        <legend class="visually-hidden">Name of the package</legend>
        <div class="field">
          <label for="id">Id</label>
          <p class="hint" id="id-hint">
            Lowercase letters, digits and hyphens. The policy and workstations identify the package by it.
          </p>
          <input
            id="id"
            name="id"
            value={entered.id}
            required
            maxLength={ID_CHARACTERS_MAX}
            pattern={ID_CHARACTERS}
            autocomplete="off"
            spellcheck={false}
            aria-describedby="id-hint"
            aria-invalid={isWrong("id")}
          />
        </div>
        {known && <Replaces known={known} isReplacement={isReplacement} />}
        <div class="field narrow">
          <label for="version">Version</label>
          <input
            id="version"
            name="version"
            value={entered.version}
            required
            maxLength={LABEL_CHARACTERS_MAX}
            autocomplete="off"
            aria-invalid={isWrong("version")}
          />
        </div>
        <div class="field">
          <label for="name">Name</label>
          <p class="hint" id="name-hint">
            For people. Empty for the id.
          </p>
          <input
            id="name"
            name="name"
            value={entered.name}
            maxLength={LABEL_CHARACTERS_MAX}
            autocomplete="off"
            aria-describedby="name-hint"
            aria-invalid={isWrong("name")}
          />
        </div>
        <button class="button primary" type="submit">
          Continue
        </button>
      </fieldset>
    </ConsoleForm>
  );
}

const Replaces = ({
  known,
  isReplacement,
}: {
  known: { id: string; version: string };
  isReplacement: boolean;
}) => (
  <p>
    <label>
      <input type="checkbox" name="replaces" value={packageName(known)} checked={isReplacement} /> Replace{" "}
      <Text value={packageName(known)} />, which the draft has. The settings of harnesses for it do not
      change.
    </label>
  </p>
);
