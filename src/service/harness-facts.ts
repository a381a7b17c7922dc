// What a start and a reload do with the harness file: put its facts in force, record the change, and say in the log what holds.
import type { Actor } from "../domain/actor.ts";
import { DomainError } from "../domain/errors.ts";
import type { Installation } from "../installation.ts";
import type { Log } from "../platform/log.ts";

interface Parts {
  actor: Actor;
  log: Log;
}

/** @throws DomainError `harnesses.*`, `file.*`, `signing.not_ed25519` for a file that may not be used */
export async function beginHarnesses(
  { domain: { harnesses } }: Pick<Installation, "domain">,
  { actor, log }: Parts,
): Promise<void> {
  const { source } = harnesses.inForce();
  const changed = await harnesses.recordChange(actor);
  if (source) log.info("harnesses.in_force", { ...source, changed });
  else if (changed) log.info("harnesses.built_in");
}

/** Reads the file again while the service runs; a bad one is logged and changes nothing. */
export async function reloadHarnesses(
  installation: Pick<Installation, "domain">,
  parts: Parts,
): Promise<void> {
  const { log } = parts;
  try {
    installation.domain.harnesses.reload();
  } catch (error) {
    if (!(error instanceof DomainError)) throw error;
    log.error("harnesses.kept", { reason: error.reason, message: error.message, next: error.hint });
    for (const problem of error.problems) log.error("harnesses.problem", { ...problem });
    return;
  }
  await beginHarnesses(installation, parts);
}
