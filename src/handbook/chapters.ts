// The texts of the handbook, embedded in the executable. contents.ts lists the chapters.
import { invariant } from "../platform/errors.ts";
import capturedSessions from "./chapters/connect/captured-sessions.md" with { type: "text" };
import gateway from "./chapters/connect/gateway.md" with { type: "text" };
import identityProvider from "./chapters/connect/identity-provider.md" with { type: "text" };
import inference from "./chapters/connect/inference.md" with { type: "text" };
import loginSessions from "./chapters/connect/login-sessions.md" with { type: "text" };
import repositories from "./chapters/connect/repositories.md" with { type: "text" };
import workstations from "./chapters/connect/workstations.md" with { type: "text" };
import airGap from "./chapters/operate/air-gap.md" with { type: "text" };
import auditForwarding from "./chapters/operate/audit-forwarding.md" with { type: "text" };
import backups from "./chapters/operate/backups.md" with { type: "text" };
import capacity from "./chapters/operate/capacity.md" with { type: "text" };
import console from "./chapters/operate/console.md" with { type: "text" };
import objectStore from "./chapters/operate/object-store.md" with { type: "text" };
import observe from "./chapters/operate/observe.md" with { type: "text" };
import personalData from "./chapters/operate/personal-data.md" with { type: "text" };
import security from "./chapters/operate/security.md" with { type: "text" };
import standby from "./chapters/operate/standby.md" with { type: "text" };
import tracing from "./chapters/operate/tracing.md" with { type: "text" };
import troubleshoot from "./chapters/operate/troubleshoot.md" with { type: "text" };
import catalogFile from "./chapters/reference/catalog-file.md" with { type: "text" };
import commands from "./chapters/reference/commands.md" with { type: "text" };
import contributing from "./chapters/reference/contributing.md" with { type: "text" };
import glossary from "./chapters/reference/glossary.md" with { type: "text" };
import harnessFile from "./chapters/reference/harness-file.md" with { type: "text" };
import policyFile from "./chapters/reference/policy-file.md" with { type: "text" };
import settings from "./chapters/reference/settings.md" with { type: "text" };
import firstHour from "./chapters/start/first-hour.md" with { type: "text" };
import install from "./chapters/start/install.md" with { type: "text" };
import introduction from "./chapters/start/introduction.md" with { type: "text" };
import { type Section, TOPIC_SECTIONS } from "./contents.ts";
import { sectionOf, withoutFolders, withoutMarkers, withoutPictures, withoutTags } from "./markdown.ts";

const TEXTS: ReadonlyMap<string, string> = new Map(
  Object.entries({
    "air-gap": airGap,
    "audit-forwarding": auditForwarding,
    tracing,
    backups,
    capacity,
    "captured-sessions": capturedSessions,
    repositories,
    "catalog-file": catalogFile,
    commands,
    console,
    contributing,
    "first-hour": firstHour,
    gateway,
    inference,
    glossary,
    "harness-file": harnessFile,
    "identity-provider": identityProvider,
    install,
    introduction,
    "object-store": objectStore,
    observe,
    "personal-data": personalData,
    "policy-file": policyFile,
    security,
    "login-sessions": loginSessions,
    settings,
    standby,
    troubleshoot,
    workstations,
  }),
);

/**
 * @param name of a chapter or of a help topic
 * @returns its Markdown without the tags of its blocks, and without pictures, which the executable does not contain; undefined
 *   for an unknown name
 */
export function handbookText(name: string): string | undefined {
  const section: Section = TOPIC_SECTIONS.get(name) ?? { chapter: name };
  const source = illustratedText(section.chapter);
  if (source === undefined) return undefined;
  const text = withoutPictures(source);
  const part = section.heading === undefined ? text : sectionOf(text, section.heading);
  invariant(part !== undefined, `the chapter ${section.chapter} has the section ${section.heading}`);
  return part;
}

/** @returns the Markdown of a chapter with its pictures, for a reader who has the folder `pictures` beside it */
export function illustratedText(chapter: string): string | undefined {
  const source = TEXTS.get(chapter);
  return source === undefined ? undefined : withoutFolders(withoutTags(withoutMarkers(source)));
}
