// The models that requests may name: all models that the current policy assigns to allowed agents. The service checks each
// request; clients also enforce their own list on the workstation.
import { type Governance, modelsOf, type Revision } from "../../governance/service.ts";
import type { ProxySettings } from "../settings.ts";

/** @returns the ids; undefined if requests may name any model */
export type AllowedModels = () => ReadonlySet<string> | undefined;

/** @returns a function whose result is the same object until another policy is published */
export function createAllowedModels({
  revisions,
  organizationId,
  modelPolicy,
}: {
  revisions: Pick<Governance["revisions"], "current">;
  organizationId(): string | undefined;
  modelPolicy: ProxySettings["modelPolicy"];
}): AllowedModels {
  if (modelPolicy === "off") return () => undefined;
  let known: { revision: Revision | undefined; models: ReadonlySet<string> } | undefined;
  return () => {
    const id = organizationId();
    const revision = id === undefined ? undefined : revisions.current(id);
    if (!known || known.revision !== revision) known = { revision, models: assignedModels(revision) };
    return known.models;
  };
}

/** @returns the union of the lists of the allowed agents; empty without a policy */
export const assignedModels = (revision: Pick<Revision, "document"> | undefined): ReadonlySet<string> =>
  new Set(
    revision?.document.allowed_harnesses.flatMap((key) => modelsOf(revision.document.harnesses[key])) ?? [],
  );
