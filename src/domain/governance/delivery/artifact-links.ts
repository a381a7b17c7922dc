// Serves archives to workstations: decides who may fetch one, and issues short-lived links that need no login. The catalog
// stores the bytes and their digests. A link names a digest, so its content never changes.

import { setImmediate } from "node:timers/promises";
import { type Blobs, parseDigest } from "../../../platform/blobs/blobs.ts";
import { type Clock, SECOND_MS } from "../../../platform/clock.ts";
import type { Sealing } from "../../../platform/crypto/sealing.ts";
import { DomainError } from "../../../platform/errors.ts";
import { ownMember } from "../../../platform/json/json-object.ts";
import type { UserGroups } from "../../shared/user-groups.ts";
import type { Revision } from "../model.ts";
import type { Revisions } from "../reading/revisions.ts";
import { membershipIn, type Person, personOf } from "./audiences.ts";

/** How long after its creation a link can start a download. */
export const LINK_TTL_SECONDS = 300;
const PURPOSE = "artifact-link";

/** The content of a link. */
export interface ArtifactLink {
  /** SHA-256, lower case */
  digest: string;
  /** Unix seconds */
  expires: number;
  signature: string;
}

export interface ArtifactFile {
  path: string;
  digest: string;
}

export interface ArtifactLinksDependencies {
  blobs: Pick<Blobs, "path" | "has">;
  clock: Clock;
  sealing: Pick<Sealing, "mac" | "isMac">;
  revisions: Pick<Revisions, "inForce" | "keep" | "list" | "show">;
  /** number of former revisions whose packages may still be fetched */
  formerRevisionsServed(): number;
  userGroups: Pick<UserGroups, "of">;
}

export class ArtifactLinks {
  #served:
    | { revision: Revision; former: number; artifacts: Promise<ReadonlyMap<string, Served>> }
    | undefined;

  constructor(private readonly dependencies: ArtifactLinksDependencies) {}

  /**
   * @returns a link to the archive if the user sees a package with it in the current revision or a recent one
   * @throws DomainError `artifact.not_found` for all other users, including administrators; `artifact.bytes_missing`
   */
  async offer(
    { organizationId, userId }: { organizationId: string; userId: string },
    artifactId: string,
  ): Promise<ArtifactLink> {
    const served = (await this.#artifactsOf(organizationId)).get(artifactId.toLowerCase());
    const person = personOf(userId, this.dependencies.userGroups);
    if (!served?.audiences.some((isIn) => isIn(person))) throw notFound();
    const digest = parseDigest(served.digest);
    if (!(await this.dependencies.blobs.has(digest))) throw bytesMissing();
    const expires = Math.floor(this.dependencies.clock.nowMs() / SECOND_MS) + LINK_TTL_SECONDS;
    return {
      digest,
      expires,
      signature: this.dependencies.sealing.mac(textOf({ digest, expires }), PURPOSE),
    };
  }

  /**
   * @returns the location of the linked bytes
   * @throws DomainError `artifact.link_refused` if the link has expired or is not ours, `artifact.not_found`
   */
  async open({ signature, ...link }: ArtifactLink): Promise<ArtifactFile> {
    const { blobs, clock, sealing } = this.dependencies;
    const isOver = clock.nowMs() >= link.expires * SECOND_MS;
    if (isOver || !sealing.isMac(signature, textOf(link), PURPOSE)) throw linkRefused();
    const digest = parseDigest(link.digest);
    if (!(await blobs.has(digest))) throw notFound();
    return { path: blobs.path(digest), digest };
  }

  #artifactsOf(organizationId: string): Promise<ReadonlyMap<string, Served>> {
    const revision = this.dependencies.revisions.inForce(organizationId);
    const former = this.dependencies.formerRevisionsServed();
    if (this.#served?.revision === revision && this.#served.former === former) return this.#served.artifacts;
    const artifacts = this.#readArtifacts(revision, former);
    this.#served = { revision, former, artifacts };
    artifacts.catch(() => {
      this.#served = undefined;
    });
    return artifacts;
  }

  /** @returns every archive that a package of the revisions names, by id */
  async #readArtifacts(revision: Revision, former: number): Promise<ReadonlyMap<string, Served>> {
    const { revisions } = this.dependencies;
    const { organizationId, sequence } = revision;
    const served = new Map<string, Served>();
    // Reads the newest last, so that they stay in the cache of revisions.
    for (const { id } of revisions.list(organizationId, sequence).slice(0, former).toReversed()) {
      addServed(served, revisions.show(organizationId, id));
      await setImmediate(); // a revision may take megabytes
    }
    addServed(served, revisions.keep(revision));
    return served;
  }
}

interface Served {
  digest: string;
  /** audiences of each package that has the archive, in each revision */
  audiences: ((person: Person) => boolean)[];
}

function addServed(served: Map<string, Served>, revision: Revision): void {
  for (const { id, digest, isIn } of namedIn(revision)) {
    const audiences = served.get(id)?.audiences ?? [];
    audiences.push(isIn);
    served.set(id, { digest, audiences });
  }
}

/** @returns every archive that the packages name, for themselves or for a platform */
const namedIn = ({ document, audiences }: Revision) =>
  document.packages.flatMap((managed) => {
    const isIn = membershipIn(ownMember(audiences, managed.id));
    return [managed, ...Object.values(managed.platform_sources ?? {})].flatMap(
      ({ artifact_id: id, sha256 }) => (id === undefined ? [] : { id, digest: sha256.toLowerCase(), isIn }),
    );
  });

const textOf = ({ digest, expires }: Pick<ArtifactLink, "digest" | "expires">): string =>
  `${digest} ${expires}`;

const notFound = () =>
  new DomainError("not_found", "artifact.not_found", "no such archive", {
    hint: "fetch the policy again: it names the current archives",
  });

const bytesMissing = () =>
  new DomainError("unavailable", "artifact.bytes_missing", "the bytes of this archive are missing", {
    hint: "an administrator can identify it with `quartermaster catalog verify` and seed it again",
  });

const linkRefused = () =>
  new DomainError(
    "forbidden",
    "artifact.link_refused",
    "the download link is invalid or expired; request a new one",
  );
