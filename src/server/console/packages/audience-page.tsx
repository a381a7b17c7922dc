// The form for the audience of a package: everybody, or people and groups. Thousands of addresses can be pasted;
// unknown ones stay in the field.
/** @jsxImportSource preact */
import type { PackageAudience } from "../../../domain/governance/model.ts";
import type { Problem } from "../../../platform/errors.ts";
import { Hidden } from "../../pages/forms.tsx";
import { asSentence } from "../../pages/words.ts";
import { type ConsolePage, longText } from "../frame/frame.tsx";
import { type ApiCall, AsCommand } from "../parts/command.tsx";
import { ConsoleForm } from "../parts/form.tsx";
import { SavedElsewhere } from "../parts/saved-elsewhere.tsx";
import { numberText } from "../parts/texts.ts";
import { Facts, Text, useReader } from "../parts/values.tsx";
import { STATUS_LABELS } from "../people/words.ts";
import {
  type AudienceFields,
  type AudienceParts,
  Find,
  Groups,
  Paste,
  type PasteOutcome,
  People,
} from "./audience-parts.tsx";
import { Audience } from "./package-columns.tsx";

/** Number of inactive users that are listed above the form; the field contains the addresses of all of them. */
export const INACTIVE_NAMED_MAX = 20;

export interface AudiencePageProps extends AudienceParts {
  title: string;
  breadcrumbs: NonNullable<ConsolePage["breadcrumbs"]>;
  /** what the button does: `Save and review` */
  verb: string;
  cancel: string;
  /** text of the field `version`: see stated-version.ts */
  version: string;
  /** whether there is any group to name */
  hasGroups: boolean;
  outcome?: PasteOutcome | undefined;
  problems?: readonly Problem[];
  /** of the response with problems; 400 if omitted */
  status?: number;
  /** the draft was saved elsewhere after the form was opened */
  isStale?: boolean;
  /** the equivalent request; undefined for a package that is not in the draft yet */
  api?: ApiCall;
}

export function audiencePage(props: AudiencePageProps): ConsolePage {
  const { title, breadcrumbs, problems = [], status = 400, outcome, api, isStale = false } = props;
  const addresses = longText(props.fields.addresses);
  return {
    title,
    breadcrumbs,
    isError: problems.length > 0 || isStale,
    longText: addresses,
    ...(problems.length > 0 && { status }),
    ...(isStale && { status: 409 }),
    content: (
      <>
        {isStale && (
          <SavedElsewhere version={props.version}>
            <Facts facts={[{ label: "Who gets it now", value: <Audience audience={props.audience} /> }]} />
          </SavedElsewhere>
        )}
        {problems.length > 0 && <Refused problems={problems} />}
        {outcome && <Outcome outcome={outcome} />}
        <Form {...props} mark={addresses.mark} />
        <AsCommand api={api} />
      </>
    ),
  };
}

const FIELD_OF: readonly [pointer: RegExp, field: string][] = [
  [/^\/addresses/, "addresses"],
  [/^\/person/, "person"],
  [/group/, "group"],
];

const Refused = ({ problems }: { problems: readonly Problem[] }) => (
  <div class="error-summary" role="alert" tabIndex={-1} autofocus>
    <h2>Nothing was saved</h2>
    <ul>
      {problems.map(({ pointer, detail }) => (
        <li key={pointer + detail}>
          <a href={`#${FIELD_OF.find(([place]) => place.test(pointer))?.[1] ?? "scope-users"}`}>
            <Text value={asSentence(detail)} />
          </a>
        </li>
      ))}
    </ul>
  </div>
);

/** Some of the addresses were saved; the others are in the field. */
function Outcome({ outcome: { added, unknown, inactive } }: { outcome: PasteOutcome }) {
  const left = inactive.length - INACTIVE_NAMED_MAX;
  const { language } = useReader();
  const counted = (number: number, one: string, many: string) =>
    `${numberText(number, language)} ${number === 1 ? one : many}`;
  return (
    <div class="error-summary" role="alert" tabIndex={-1} autofocus>
      <h2>{added === 0 ? "Nobody was added" : `${counted(added, "person was", "people were")} added`}</h2>
      <ul>
        {unknown > 0 && (
          <li>
            <a href="#addresses">{counted(unknown, "address was", "addresses were")} not found.</a> Correct or
            remove the addresses that are left in the field, then save again.
          </li>
        )}
        {inactive.length > 0 && (
          <li>
            Users who are not active cannot be added:{" "}
            {inactive.slice(0, INACTIVE_NAMED_MAX).map(({ email, status }, at) => (
              <>
                {at > 0 && ", "}
                <Text value={email} /> ({STATUS_LABELS[status].label.toLowerCase()})
              </>
            ))}
            {left > 0 && ` and ${left} more`}.
          </li>
        )}
      </ul>
    </div>
  );
}

function Form(props: AudiencePageProps & { mark: string }) {
  const { action, version, verb, cancel, fields, hasGroups, groups, problems = [], outcome } = props;
  const isRefused = problems.length > 0 || outcome !== undefined || props.isStale === true;
  const { mayAdminister } = useReader();
  return (
    <ConsoleForm action={action} class="measure" isInParts edits={isRefused ? "refused" : "saved"}>
      <Hidden name="version" value={version} />
      <fieldset disabled={!mayAdminister}>
        <legend>Who gets it</legend>
        <Scope
          value="organization"
          fields={fields}
          label="Everybody"
          hint="Including people who join later."
        />
        <Scope
          value="users"
          fields={fields}
          label="Only these people and groups"
          hint="Nobody else sees that it exists."
        />
      </fieldset>
      <People {...props} />
      {mayAdminister && (
        <section aria-labelledby="add-people">
          <h2 id="add-people">Add people</h2>
          <Find {...props} />
          <Paste {...props} />
        </section>
      )}
      {(hasGroups || groups.length > 0) && <Groups {...props} />}
      {mayAdminister && (
        <div class="choices">
          <button class="button primary" type="submit" name="act" value="save">
            {verb}
          </button>
          <a class="button" href={cancel}>
            Cancel
          </a>
        </div>
      )}
    </ConsoleForm>
  );
}

const Scope = ({
  value,
  fields,
  label,
  hint,
}: {
  value: PackageAudience["scope"];
  fields: AudienceFields;
  label: string;
  hint: string;
}) => (
  <p>
    <label>
      <input type="radio" name="scope" id={`scope-${value}`} value={value} checked={fields.scope === value} />{" "}
      {label}
    </label>
    <span class="hint"> {hint}</span>
  </p>
);
