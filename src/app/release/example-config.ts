// The example configuration of a release: every setting with its description and default, all commented out except the few that
// each installation must decide. It is generated from the table of settings, so that it is never out of date.
import { fileKeyOf, SETTING_NAMES, type SettingName, settingOf } from "../../platform/config/table.ts";

type Decided = Readonly<Partial<Record<SettingName, string>>>;

/** Settings without a sensible default. */
const DECIDED: Decided = {
  "server.public_url": "https://control.example.org",
  "bootstrap.admin_email": "admin@example.org",
  "bootstrap.organization_name": "Example",
};

const EXAMPLE_HEAD = `# Settings of Quartermaster. Those with a # before their name have the value shown, or none.
# Copy this file to /etc/quartermaster/quartermaster.yaml, and check it with:
#   quartermaster config check --config /etc/quartermaster/quartermaster.yaml
# What a setting is, and its other spellings: quartermaster config explain server.listen
`;

const PACKAGED_HEAD = `# Settings of Quartermaster. Those with a # before their name have the value shown, or none: remove the # to change it, also
# before the section. server.public_url comes first: the address under which workstations reach the service.
# Check this file with:
#   quartermaster config check --config /etc/quartermaster/quartermaster.yaml
# What a setting is, and its other spellings: quartermaster config explain server.listen
`;

/** @returns a YAML configuration file that `config check` accepts unchanged */
export const exampleConfig = (): string => settingsText(EXAMPLE_HEAD, DECIDED);

/** @returns the configuration file of a package: every setting has its default */
export const packagedConfig = (): string => settingsText(PACKAGED_HEAD, {});

function settingsText(head: string, decided: Decided): string {
  const lines = [head];
  let open: readonly string[] = [];
  for (const name of SETTING_NAMES) {
    const sections = name.split(".").slice(0, -1);
    lines.push(...headingsFor(sections, { open, decided }), ...settingLines(name, decided));
    open = sections;
  }
  return `${lines.join("\n")}\n`;
}

/** A section that contains only comments is commented out as well, because a section must not be empty. */
function headingsFor(
  sections: readonly string[],
  { open, decided }: { open: readonly string[]; decided: Decided },
): string[] {
  const known = sections.findIndex((section, depth) => section !== open[depth]);
  if (known === -1) return [];
  return sections.slice(known).flatMap((section, offset) => {
    const depth = known + offset;
    const mark = isDecided(sections.slice(0, depth + 1), decided) ? "" : "# ";
    return [...(depth === 0 ? [""] : []), `${indentOf(depth)}${mark}${section}:`];
  });
}

const isDecided = (sections: readonly string[], decided: Decided): boolean =>
  Object.keys(decided).some((name) => name.startsWith(`${sections.join(".")}.`));

function settingLines(name: SettingName, values: Decided): string[] {
  const { doc, default: fallback = "", credential } = settingOf(name);
  const indent = indentOf(name.split(".").length - 1);
  const key = (credential === undefined ? name : fileKeyOf(name)).split(".").at(-1);
  const decided = values[name];
  const about = credential === undefined ? doc : `file that holds the ${doc}`;
  const line = decided === undefined ? `# ${key}: ${quoted(fallback)}`.trimEnd() : `${key}: ${decided}`;
  return [`${indent}# ${about}`, `${indent}${line}`];
}

const indentOf = (depth: number): string => "  ".repeat(depth);

/** Quotes only text that YAML would read as something else. */
const quoted = (text: string): string => (/^[[{&*!|>%@`]|: |#/.test(text) ? JSON.stringify(text) : text);
