// `policy explain`: shows the settings and packages of one user on one harness, and where they come from.
import type { Explanation } from "../../../src/domain/governance/service.ts";
import type { User } from "../../../src/domain/identity/service.ts";
import type { Call } from "../../data-directory/in-domain.ts";
import { detailsText, type Fact } from "../../output/details.ts";
import { tableText } from "../../output/table.ts";
import { numberText, valueText } from "./view.ts";

export async function explain({ domain, actor, output, context, text }: Call): Promise<void> {
  const user = domain.identity.users.find(actor.organizationId, text("user") ?? "");
  const version = text("installed");
  const question = { userId: user.id, harness: text("harness") ?? "", version };
  const reference = text("revision");
  const revision =
    reference === undefined ? undefined : domain.governance.revisions.named(actor.organizationId, reference);
  const explanation = await domain.governance.explain(actor, question, revision);
  const style = { wide: true, columns: undefined, nowMs: context.clock.nowMs() };
  const parts = [detailsText(factsOf(user, explanation, version)), ...tablesOf(explanation, style)];
  output.result(documentOf(user, explanation), parts.join("\n\n"));
}

function factsOf(user: User, explanation: Explanation, version: string | undefined): Fact[] {
  const { revision, harness, isAllowed, isRequired, versionRefusal } = explanation;
  const verdict = versionRefusal === undefined ? "may run" : `may not run: ${versionRefusal}`;
  return [
    ["user", user.status === "active" ? user.email : `${user.email} (${user.status})`],
    ["revision", numberText(revision)],
    ["harness", `${harness}, ${isAllowed ? "allowed" : "not allowed"}`],
    ...(version === undefined ? [] : [[`version ${version}`, verdict] satisfies Fact]),
    ["runs on a stale policy", !isRequired],
  ];
}

function tablesOf({ values, packages }: Explanation, style: Parameters<typeof tableText>[2]): string[] {
  const settings = [
    { header: "LINE", value: ({ line }: Explanation["values"][number]) => line },
    { header: "ENFORCED", value: ({ pointer }: Explanation["values"][number]) => pointer },
    { header: "VALUE", value: ({ value }: Explanation["values"][number]) => valueText(value) },
  ];
  const offered = [
    { header: "LINE", value: ({ line }: Explanation["packages"][number]) => line },
    { header: "PACKAGE", value: ({ id }: Explanation["packages"][number]) => id },
    { header: "VERSION", value: ({ version }: Explanation["packages"][number]) => version },
    { header: "STATE", value: ({ state }: Explanation["packages"][number]) => STATES[state] },
  ];
  return [
    values.length === 0
      ? "No settings are enforced; the user controls all of them."
      : tableText(values, settings, style),
    ...(packages.length === 0 ? [] : [tableText(packages, offered, style)]),
  ];
}

const STATES: Readonly<Record<Explanation["packages"][number]["state"], string>> = {
  installed: "installed",
  hidden: "not in its audience",
  disabled: "disabled for this harness",
  other_harness: "for other harnesses",
  other_version: "for other versions",
};

const documentOf = (user: User, explanation: Explanation) => {
  const { revision, harness, isAllowed, isRequired, versionRefusal, values, defaults, packages } =
    explanation;
  return {
    user: { id: user.id, email: user.email, status: user.status },
    revision: revision.id,
    number: revision.sequence,
    harness,
    allowed: isAllowed,
    required: isRequired,
    version_refusal: versionRefusal ?? null,
    values,
    defaults,
    packages,
  };
};
