// Loads the harness file at a start and a reload: puts its facts in force, records the change, and logs the result.
import type { Actor } from "../../../domain/shared/actor.ts";
import { DomainError } from "../../../platform/errors.ts";
import type { Log } from "../../../platform/observe/log.ts";
import type { Installation } from "../../installation/installation.ts";

interface Parts {
  actor: Actor;
  log: Log;
}

/** @throws DomainError `harnesses.*`, `file.*`, `signing.not_ed25519` for a file that may not be used */
export async function loadHarnesses(
  { domain: { harnesses } }: Pick<Installation, "domain">,
  { actor, log }: Parts,
): Promise<void> {
  const { source } = harnesses.inForce();
  const changed = await harnesses.recordChange(actor);
  if (source) log.info("harnesses.loaded", { ...source, changed });
  else if (changed) log.info("harnesses.built_in");
}

/** Reads the file again while the service runs. An invalid file is logged and changes nothing. */
export async function reloadHarnesses(
  installation: Pick<Installation, "domain">,
  parts: Parts,
): Promise<void> {
  const { log } = parts;
  try {
    installation.domain.harnesses.reload();
  } catch (error) {
    if (!(error instanceof DomainError)) throw error;
    log.error("harnesses.rejected", { reason: error.reason, message: error.message, next: error.hint });
    for (const problem of error.problems) log.error("harnesses.problem", { ...problem });
    return;
  }
  await loadHarnesses(installation, parts);
}
