// The fourth step: the place of each harness's components in the archive. At first, the page proposes it from the
// folders.
/** @jsxImportSource preact */
import { PATH_BYTES_MAX } from "../../../../domain/catalog/model.ts";
import type { Addition } from "../../../../domain/governance/additions/addition-model.ts";
import type { Component, Harness } from "../../../../domain/harnesses/harnesses.ts";
import { Hidden } from "../../../pages/forms.tsx";
import type { ConsolePage } from "../../frame/frame.tsx";
import { andText } from "../../own/words.ts";
import { ConsoleForm } from "../../parts/form.tsx";
import { Text, useReader } from "../../parts/values.tsx";
import {
  acceptedBy,
  controlLabel,
  controlName,
  controlOf,
  HELPER_FORM,
  LAYOUT_LABELS,
  type LayoutEntry,
  type LayoutMember,
} from "./layout-entry.ts";
import { type RefusedStep, stepPage } from "./steps.tsx";
import { STEPS } from "./words.ts";

export interface LayoutPageProps {
  addition: Addition;
  harnesses: readonly Harness[];
  /** one for each harness */
  entries: readonly LayoutEntry[];
  /** of the archive */
  paths: readonly string[];
  refused?: RefusedStep | undefined;
}

export function layoutPage(props: LayoutPageProps): ConsolePage {
  const { addition, refused } = props;
  const content = <Form {...props} />;
  const page = { step: "layout" as const, title: "What harnesses use", addition, refused, content };
  const hrefOf = (pointer: string) => {
    const control = controlOf(pointer);
    return control && `#${control}`;
  };
  return stepPage(page, hrefOf, controlLabel);
}

function Form({ addition, harnesses, entries, paths, refused }: LayoutPageProps) {
  const { mayAdminister } = useReader();
  return (
    <>
      <p>
        {addition.adapters
          ? "Paths are those in the archive."
          : "These values come from the folders of the archive. Nothing is saved before you continue."}{" "}
        A package without any of these has settings only.
      </p>
      <ConsoleForm action={STEPS.layout.path} isInParts edits={refused ? "refused" : "saved"}>
        <Hidden name="version_read" value={String(addition.version)} />
        <fieldset disabled={!mayAdminister}>
          <legend class="visually-hidden">Layouts</legend>
          <datalist id="archive-paths">
            {paths.map((path) => (
              <option key={path} value={path} />
            ))}
          </datalist>
          {harnesses.map((harness) => {
            const entry = entries.find(({ harness: key }) => key === harness.key);
            return (
              entry && <OneHarness key={harness.key} harness={harness} entry={entry} refused={refused} />
            );
          })}
          <button class="button primary" type="submit">
            Continue
          </button>
        </fieldset>
      </ConsoleForm>
    </>
  );
}

interface HarnessProps {
  harness: Harness;
  entry: LayoutEntry;
  refused: RefusedStep | undefined;
}

function OneHarness({ harness, entry, refused }: HarnessProps) {
  const { key, label } = harness;
  const use = controlName(key, "use");
  const accepted = acceptedBy(harness);
  const isWrong = (member: LayoutMember) =>
    refused?.problems.some(({ pointer }) => controlOf(pointer) === controlName(key, member)) ?? false;
  const field = (member: LayoutMember) => ({
    harness: key,
    member,
    label: LAYOUT_LABELS[member],
    value: entry[member],
    isWrong: isWrong(member),
  });
  return (
    <section aria-labelledby={`${key}-title`} class="card harness-layout">
      <h2 id={`${key}-title`}>{label}</h2>
      <p>
        <label>
          <input id={use} type="checkbox" name={use} value="yes" checked={entry.isUsed} /> {label} uses files
          of this package
        </label>
      </p>
      <Rules harness={harness} />
      <div class="beside-each-other">
        {PATHS.filter((member) => accepted.includes(member)).map((member) => (
          <Path key={member} {...field(member)} />
        ))}
      </div>
      {accepted.includes("plugins") && <Lines {...field("plugins")} hint="One path on each line" />}
      {accepted.includes("helpers") && (
        <Lines {...field("helpers")} hint={`One on each line: ${HELPER_FORM}`} />
      )}
      <details open={entry.introduced + entry.before + entry.more !== "" || isWrong("more")}>
        <summary>Versions of {label}</summary>
        <div class="beside-each-other">
          <Path {...field("introduced")} isVersion />
          <Path {...field("before")} isVersion />
        </div>
        <Lines
          {...field("more")}
          hint="YAML with the member variants: a list, each with introduced, before and its own paths"
        />
      </details>
    </section>
  );
}

const PATHS = ["skills_dir", "agents_dir", "hooks_file", "plugin_dir"] as const;

/** Lists the components that a version of the harness does not accept, before they are refused. */
function Rules({ harness: { generations } }: Pick<HarnessProps, "harness">) {
  const alone = generations.at(-1)?.needPluginDir ?? [];
  const rules = [
    ...(alone.length > 0 ? [`${namesOf(alone)} only beside a folder of the plugin`] : []),
    ...generations.flatMap(({ refuses, introduced, before }) =>
      refuses.length > 0
        ? [`${before ? `below ${before}` : `from ${introduced} on`} without ${namesOf(refuses)}`]
        : [],
    ),
  ];
  return rules.length === 0 ? null : <p class="hint">{`Accepted: ${rules.join("; ")}.`}</p>;
}

const COMPONENT_WORDS: Readonly<Record<Component, string>> = {
  plugin_dir: "plugin folder",
  skills_dir: "skills",
  agents_dir: "agents",
  hooks_file: "hooks",
  plugins: "plugin modules",
  helpers: "commands",
};

const namesOf = (components: readonly Component[]): string =>
  andText(components.map((component) => COMPONENT_WORDS[component]));

interface FieldProps {
  harness: LayoutEntry["harness"];
  member: LayoutMember;
  value: string;
  isWrong: boolean;
  label: string;
}

const Path = ({
  harness,
  member,
  value,
  isWrong,
  label,
  isVersion,
}: FieldProps & { isVersion?: boolean }) => (
  <div class="field">
    <label for={controlName(harness, member)}>{label}</label>
    <input
      id={controlName(harness, member)}
      name={controlName(harness, member)}
      value={value}
      maxLength={PATH_BYTES_MAX}
      list={isVersion ? undefined : "archive-paths"}
      autocomplete="off"
      spellcheck={false}
      aria-invalid={isWrong}
    />
  </div>
);

const Lines = ({ harness, member, value, isWrong, label, hint }: FieldProps & { hint: string }) => {
  const id = controlName(harness, member);
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <p class="hint" id={`${id}-hint`}>
        <Text value={hint} />
      </p>
      <textarea
        id={id}
        name={id}
        rows={Math.min(Math.max(value.split("\n").length, 2), ROWS_SEEN)}
        spellcheck={false}
        autocapitalize="off"
        aria-describedby={`${id}-hint`}
        aria-invalid={isWrong}
      >
        {value}
      </textarea>
    </div>
  );
};

/** Visible lines of a field. */
const ROWS_SEEN = 10;
