// The current facts about harnesses: the built-in ones, extended by the configured harness file. All areas read them here for
// each operation, so that a reload reaches all of them.
import type { Db } from "../../platform/database/database.ts";
import type { Audit } from "../audit/service.ts";
import type { Actor } from "../shared/actor.ts";
import { extendHarnesses, type HarnessExtension, NO_EXTENSION } from "./harness-extension.ts";
import type { Harness } from "./harnesses.ts";

/** The origin of an extension. */
export interface HarnessSource {
  file: string;
  /** SHA-256 of the file's bytes, in hexadecimal */
  sha256: string;
  /** id of the key that signed it */
  signer: string;
}

export interface HarnessesInForce {
  extension: HarnessExtension;
  /** undefined if only the built-in facts apply */
  source: HarnessSource | undefined;
}

export const BUILT_IN: HarnessesInForce = { extension: NO_EXTENSION, source: undefined };

const ACTION = "harnesses.change";

export interface HarnessFactsDependencies {
  db: Db;
  audit: Audit;
  auditLog: { lastAfter(organizationId: string, action: string): string | undefined };
  /** reads the configured file. @throws DomainError `harnesses.*`, `file.*`, `signing.not_ed25519` */
  read(): HarnessesInForce;
}

export class HarnessFacts {
  #known: HarnessesInForce | undefined;

  constructor(private readonly dependencies: HarnessFactsDependencies) {}

  /** Reads the file on first use, because most commands never need it. @throws DomainError as `read` */
  inForce(): HarnessesInForce {
    this.#known ??= this.dependencies.read();
    return this.#known;
  }

  /** @returns every harness; the same object until the facts change. @throws DomainError as `read` */
  harnesses(): readonly Harness[] {
    return extendHarnesses(this.inForce().extension);
  }

  /** Reads the file again; an invalid one changes nothing. @throws DomainError as `read` */
  reload(): void {
    const fresh = this.dependencies.read();
    if (fresh.source?.sha256 !== this.#known?.source?.sha256 || this.#known === undefined)
      this.#known = fresh;
  }

  /** Records in the audit log that the facts have changed. @returns whether they have */
  async recordChange(actor: Actor): Promise<boolean> {
    const { source } = this.inForce();
    const last = this.dependencies.auditLog.lastAfter(actor.organizationId, ACTION);
    const before = last === undefined ? { file: null, sha256: null, signer: null } : JSON.parse(last);
    const after = {
      file: source?.file ?? null,
      sha256: source?.sha256 ?? null,
      signer: source?.signer ?? null,
    };
    if (before.sha256 === after.sha256) return false;
    const ceilings = this.harnesses().map(({ key, generations }) => [
      key,
      generations.at(-1)?.verifiedBefore ?? null,
    ]);
    await this.dependencies.db.write((tx) => {
      const change = { before, after: { ...after, ...Object.fromEntries(ceilings) } };
      this.dependencies.audit.record(tx, { actor, action: ACTION, target: actor.organizationId, ...change });
    }, "unobserved");
    return true;
  }
}
