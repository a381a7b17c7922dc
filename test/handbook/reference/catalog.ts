// The members of a package in a catalog file, from the schema of the package and the limits of its reader.
import {
  HELPERS_MAX,
  ID_CHARACTERS_MAX,
  LABEL_CHARACTERS_MAX,
  ManagedPackage,
  PLATFORMS_MAX,
  PLUGINS_MAX,
  SOURCE_REF_CHARACTERS_MAX,
  VARIANTS_MAX,
} from "../../../src/domain/catalog/model.ts";
import { HARNESS_KEYS } from "../../../src/domain/harnesses/harnesses.ts";
import {
  FREE_FORM_OBJECT_BYTES_MAX,
  FREE_FORM_OBJECT_DEPTH_MAX,
} from "../../../src/domain/shared/free-form-object.ts";
import { membersMarkdown, type Note } from "./schema-members.ts";

const ADAPTER = "adapters.<harness>";
const label = `1 to ${LABEL_CHARACTERS_MAX} characters`;
const path = "a path, see Paths";
const version = "full version such as `2.0.12`";
const source = (of: string): Readonly<Record<string, Note>> => ({
  [`${of}source_ref`]: {
    about: "where the archive is: an `https://` URL, a `file://` URL, or a path beside the catalog file",
    isRequired: true,
    limits: `1 to ${SOURCE_REF_CHARACTERS_MAX} characters`,
  },
  [`${of}artifact_id`]: {
    about: "id of an archive that is stored here already; `source_ref` is then a mere note",
  },
  [`${of}sha256`]: {
    about: "SHA-256 of the archive",
    isRequired: true,
    limits: "64 hexadecimal digits",
  },
});
const layout = (of: string): Readonly<Record<string, Note>> => ({
  [`${of}.plugin_dir`]: { about: "folder of a plugin", limits: path },
  [`${of}.skills_dir`]: { about: "folder of one skill, or of skill folders", limits: path },
  [`${of}.agents_dir`]: { about: "folder of agents", limits: path },
  [`${of}.hooks_file`]: { about: "file of hooks", limits: path },
  [`${of}.plugins`]: {
    about: "plugin modules",
    fallback: "[]",
    limits: `up to ${PLUGINS_MAX}, each ${path}`,
  },
  [`${of}.helpers`]: {
    about: "executables, by the command name under which a workstation offers them",
    fallback: "{}",
    limits: `up to ${HELPERS_MAX}`,
  },
  [`${of}.helpers.<key>.paths`]: {
    about: "path of the executable by platform, with an optional `default`",
    fallback: "{}",
    limits: `up to ${PLATFORMS_MAX}, each ${path}`,
  },
});

const NOTES: Readonly<Record<string, Note>> = {
  id: {
    about: "identifies the package; unique in the list",
    isRequired: true,
    limits: `1 to ${ID_CHARACTERS_MAX} of \`a-z\`, \`0-9\` and \`-\``,
  },
  name: { about: "name for people", limits: label },
  version: { about: "any text that is not blank; put numbers in quotes", isRequired: true, limits: label },
  ...source(""),
  platform_sources: {
    about:
      "archives by platform, such as `linux-x86_64`; workstations need an exact match and ignore `source_ref`",
    limits: `up to ${PLATFORMS_MAX}; names of \`a-z\`, \`0-9\`, \`-\` and \`_\``,
  },
  ...source("platform_sources.<key>."),
  settings: {
    about: "settings for the package; their meaning is the package's",
    fallback: "{}",
    limits: `${FREE_FORM_OBJECT_BYTES_MAX} bytes as JSON, ${FREE_FORM_OBJECT_DEPTH_MAX} levels`,
  },
  adapters: {
    about: "what each harness takes from the archive",
    fallback: "{}",
    limits: HARNESS_KEYS.map((key) => `\`${key}\``).join(", "),
  },
  [ADAPTER]: { about: "availability and layout for one harness" },
  [`${ADAPTER}.introduced`]: {
    about: "first version of the harness that gets the package",
    fallback: "0.0.0",
    limits: version,
  },
  [`${ADAPTER}.before`]: { about: "first version that no longer gets it", limits: version },
  ...layout(ADAPTER),
  [`${ADAPTER}.variants`]: {
    about: "other layouts for some versions, in ascending order and without overlap",
    fallback: "[]",
    limits: `up to ${VARIANTS_MAX}`,
  },
  [`${ADAPTER}.variants[].introduced`]: {
    about: "first version of the variant",
    isRequired: true,
    limits: version,
  },
  [`${ADAPTER}.variants[].before`]: {
    about: "first version after the variant; open without it",
    limits: version,
  },
  ...layout(`${ADAPTER}.variants[]`),
};

export const catalogMembersMarkdown = (): string => membersMarkdown(ManagedPackage, NOTES);
