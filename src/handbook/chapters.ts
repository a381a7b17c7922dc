// The texts of the handbook, embedded in the executable. Which chapters there are is in contents.ts.
import { invariant } from "../platform/errors.ts";
import airGap from "./air-gap.md" with { type: "text" };
import backups from "./backups.md" with { type: "text" };
import capacity from "./capacity.md" with { type: "text" };
import catalogFile from "./catalog-file.md" with { type: "text" };
import commands from "./commands.md" with { type: "text" };
import { type Section, TOPIC_SECTIONS } from "./contents.ts";
import contributing from "./contributing.md" with { type: "text" };
import firstHour from "./first-hour.md" with { type: "text" };
import gateway from "./gateway.md" with { type: "text" };
import glossary from "./glossary.md" with { type: "text" };
import harnessFile from "./harness-file.md" with { type: "text" };
import identityProvider from "./identity-provider.md" with { type: "text" };
import install from "./install.md" with { type: "text" };
import introduction from "./introduction.md" with { type: "text" };
import { sectionOf, withoutMarkers, withoutTags } from "./markdown.ts";
import observe from "./observe.md" with { type: "text" };
import personalData from "./personal-data.md" with { type: "text" };
import policyFile from "./policy-file.md" with { type: "text" };
import security from "./security.md" with { type: "text" };
import settings from "./settings.md" with { type: "text" };
import troubleshoot from "./troubleshoot.md" with { type: "text" };
import workstations from "./workstations.md" with { type: "text" };

const TEXTS: ReadonlyMap<string, string> = new Map(
  Object.entries({
    "air-gap": airGap,
    backups,
    capacity,
    "catalog-file": catalogFile,
    commands,
    contributing,
    "first-hour": firstHour,
    gateway,
    glossary,
    "harness-file": harnessFile,
    "identity-provider": identityProvider,
    install,
    introduction,
    observe,
    "personal-data": personalData,
    "policy-file": policyFile,
    security,
    settings,
    troubleshoot,
    workstations,
  }),
);

/**
 * @param name of a chapter or of a help topic
 * @returns its Markdown, without the tags of its blocks; undefined for an unknown name
 */
export function handbookText(name: string): string | undefined {
  const section: Section = TOPIC_SECTIONS.get(name) ?? { chapter: name };
  const source = TEXTS.get(section.chapter);
  if (source === undefined) return undefined;
  const text = withoutTags(withoutMarkers(source));
  const part = section.heading === undefined ? text : sectionOf(text, section.heading);
  invariant(part !== undefined, `the chapter ${section.chapter} has the section ${section.heading}`);
  return part;
}
