// Branding of an organization: everyone may read it, and its administrators may replace it.
import type { Db, Tx } from "../../platform/database/database.ts";
import { DomainError, type Problem } from "../../platform/errors.ts";
import type { Audit } from "../audit/service.ts";
import type { Identity } from "../identity/service.ts";
import type { Actor } from "../shared/actor.ts";
import type { Expectation } from "../shared/expectation.ts";
import { type BrandingImage, type ImageKind, readImage } from "./branding-image.ts";
import { type Branding, type BrandingUpdate, readBranding } from "./model.ts";
import * as store from "./store.ts";

const NONE: Branding = { logoUrl: null, faviconUrl: null };

export interface UploadedImage {
  kind: ImageKind;
  bytes: Uint8Array<ArrayBuffer>;
  address: string;
  expect?: Expectation<Branding> | undefined;
}

export interface BrandingDependencies {
  db: Db;
  audit: Audit;
  identity: Pick<Identity, "findOrganization">;
}

export function createBranding({ db, audit, identity }: BrandingDependencies) {
  return {
    /** Grows whenever this or another process may have changed a branding. */
    revision: (): number => db.revision("branding"),

    /** @returns the branding of this data directory's organization, for unauthenticated callers */
    current(): Branding {
      const organization = identity.findOrganization(db.read);
      return (organization && store.findBranding(db.read, organization.id)) ?? NONE;
    },

    get: (organizationId: string): Branding => store.findBranding(db.read, organizationId) ?? NONE,

    /** @returns the uploaded image of the organization of this data directory; undefined if there is none */
    currentImage(kind: ImageKind): BrandingImage | undefined {
      const organization = identity.findOrganization(db.read);
      return organization && store.findImage(db.read, { organizationId: organization.id, kind });
    },

    /**
     * Stores an uploaded image and uses its URL in the branding.
     * @param address URL of the uploaded image, which contains its digest
     * @throws DomainError `branding.invalid_logo`, `branding.invalid_icon`
     */
    uploadImage(actor: Actor, { kind, bytes, address, expect }: UploadedImage): Promise<Branding> {
      const image = readImage(kind, bytes);
      return db.write((tx) => {
        const { organizationId } = actor;
        const before = store.findBranding(tx, organizationId) ?? NONE;
        expect?.(before);
        const after = { ...before, [kind === "logo" ? "logoUrl" : "faviconUrl"]: address };
        store.putImage(tx, { organizationId, kind }, image);
        return replace({ tx, audit, actor }, { before, after });
      }, "branding");
    },

    /**
     * Throws what `update` would throw, without changing anything.
     * @returns the branding after `update`
     */
    checkUpdate({ organizationId }: Actor, update: BrandingUpdate, expect?: Expectation<Branding>): Branding {
      const before = store.findBranding(db.read, organizationId) ?? NONE;
      const after = readUpdate(update, before);
      expect?.(before);
      return after;
    },

    /**
     * Replaces both URLs; an absent, null or blank one is cleared. Equal values change nothing.
     * @throws DomainError `branding.invalid`
     */
    async update(actor: Actor, update: BrandingUpdate, expect?: Expectation<Branding>): Promise<Branding> {
      const { organizationId } = actor;
      const known = store.findBranding(db.read, organizationId) ?? NONE;
      const after = readUpdate(update, known);
      if (!expect && isSame(known, after)) return after;
      return await db.write((tx) => {
        const before = store.findBranding(tx, organizationId) ?? NONE;
        expect?.(before);
        return isSame(before, after) ? after : replace({ tx, audit, actor }, { before, after });
      }, "branding");
    },
  };
}

/** Stores a branding with its audit entry. @returns the branding */
function replace(
  { tx, audit, actor }: { tx: Tx; audit: Audit; actor: Actor },
  { before, after }: Readonly<Record<"before" | "after", Branding>>,
): Branding {
  const target = actor.organizationId;
  store.putBranding(tx, target, after);
  const summaries = { before: { ...before }, after: { ...after } };
  audit.record(tx, { actor, action: "branding.update", target, ...summaries });
  return after;
}

/** @throws DomainError `branding.invalid` */
function readUpdate(update: BrandingUpdate, known: Branding): Branding {
  const problems: Problem[] = [];
  const after = readBranding(update, { known, problems });
  if (problems.length > 0) throw invalidBranding(problems);
  return after;
}

const isSame = (one: Branding, other: Branding): boolean =>
  one.logoUrl === other.logoUrl && one.faviconUrl === other.faviconUrl;

function invalidBranding(problems: readonly Problem[]): DomainError {
  const message = problems.map(({ pointer, detail }) => `${pointer.slice(1)} ${detail}`).join("; ");
  return new DomainError("invalid", "branding.invalid", message, { problems });
}
