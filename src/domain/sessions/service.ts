// Captured coding sessions: workstations upload them, owners find and share them, retention removes them. This file assembles the
// area.
import type { Blobs, StoreState } from "../../platform/blobs/blobs.ts";
import type { Sealing } from "../../platform/crypto/sealing.ts";
import { DomainError } from "../../platform/errors.ts";
import { SearchIndex } from "../shared/text-search/search-index.ts";
import type { SessionsDependencies } from "./dependencies.ts";
import { Downloads } from "./downloads/downloads.ts";
import { sessionDetail } from "./lists/detail.ts";
import { SessionFacetLists } from "./lists/facets.ts";
import { SessionLists } from "./lists/lists.ts";
import { INDEXED_TEXTS } from "./lists/search-store.ts";
import type { Viewer } from "./model.ts";
import { createLocalObjects } from "./objects/local-objects.ts";
import { Moving } from "./objects/moving.ts";
import { ObjectLinks } from "./objects/object-links.ts";
import type { ObjectStore } from "./objects/object-store.ts";
import { createStores } from "./objects/object-stores.ts";
import { Removals } from "./objects/removals.ts";
import { SessionRemoval } from "./removal.ts";
import { Retention } from "./retention/retention.ts";
import { countLost } from "./retention/retention-store.ts";
import { Sweep } from "./retention/sweep.ts";
import { Verification } from "./retention/verification.ts";
import { Sharing } from "./sharing/sharing.ts";
import { findArtifact, type RowId, totals } from "./store.ts";
import { inlineTranscriptReader } from "./transcript/reader.ts";
import { Transcripts } from "./transcript/transcripts.ts";
import { Completion } from "./uploads/completion.ts";
import { Announcements } from "./uploads/presign.ts";
import { Receiving } from "./uploads/receiving.ts";
import { UploadTally } from "./uploads/tally.ts";

export type { OpenedObject, ReadObject } from "./downloads/downloads.ts";
export type { SessionDetail } from "./lists/detail.ts";
export type { SessionPage, SessionView } from "./lists/lists.ts";
export type { Viewer } from "./model.ts";
export type { Unmoved } from "./objects/moving.ts";
export type { ObjectStore } from "./objects/object-store.ts";
export { createS3Objects } from "./objects/s3-objects.ts";
export { type MissingBytes, recordMissingBytes } from "./retention/missing-bytes.ts";
export type { Damage } from "./retention/verification.ts";
export type { SessionSettings } from "./settings.ts";
export { type Kept, keptIn, type StoreTotals, totals as sessionTotals } from "./store.ts";
export type { TranscriptEntry } from "./transcript/model.ts";
export type { SecretScan } from "./transcript/secrets.ts";
export type { ReadTranscript } from "./transcript/transcripts.ts";
export { reservedFreeBytes } from "./uploads/free-space.ts";
export type { Presigned } from "./uploads/presign.ts";
export type { AddressParameters } from "./uploads/receiving.ts";
export type { ReadingRight } from "./visibility.ts";

import { visibleSession } from "./visibility.ts";

/** The dependencies of the area. */
export interface SessionsOptions extends Omit<SessionsDependencies, "stores" | "blobs" | "links"> {
  /** objects of captured sessions only */
  sessionBlobs: Blobs;
  /** undefined unless it is configured */
  s3Objects?: ObjectStore | undefined;
  sealing: Pick<Sealing, "mac" | "isMac">;
}

async function storeState(active: ObjectStore, local: Blobs): Promise<StoreState> {
  if (active.kind === "local") return await local.state();
  try {
    await active.check();
    return "usable";
  } catch (error) {
    if (!(error instanceof DomainError)) throw error;
    return "unusable"; // the caller sees only this; the store's requests are logged and counted
  }
}

/** @returns the operations of the area; called once, in domain.ts */
export function createSessions({ sessionBlobs: blobs, s3Objects, sealing, ...given }: SessionsOptions) {
  const links = new ObjectLinks({ sealing, baseUrl: given.settings.baseUrl });
  const local = createLocalObjects({ blobs, links });
  const stores = createStores({ local, s3: s3Objects, active: given.settings.store });
  const dependencies: SessionsDependencies = { ...given, blobs, links, stores };
  const removals = new Removals(dependencies);
  const tally = new UploadTally();
  const lists = new SessionLists(dependencies);
  return {
    announcements: new Announcements(dependencies),
    receiving: new Receiving({ ...dependencies, tally }),
    tally,
    completion: new Completion({ ...dependencies, tally }),
    downloads: new Downloads(dependencies),
    transcripts: new Transcripts({
      ...dependencies,
      reader: dependencies.transcriptReader ?? inlineTranscriptReader,
    }),
    removal: new SessionRemoval({ ...dependencies, removals }),
    removals,
    stores,
    /** @returns whether sessions can be stored and read now; a store that refuses or does not respond is unusable */
    storeState: () => storeState(stores.active, blobs),
    lists,
    facets: new SessionFacetLists(dependencies),
    searchIndex: new SearchIndex(dependencies.db, INDEXED_TEXTS),
    sharing: new Sharing(dependencies),
    retention: new Retention({ ...dependencies, removals }),
    moving: new Moving({ ...dependencies, removals }),
    sweep: new Sweep({ ...dependencies, removals }),
    verification: new Verification(dependencies),

    /** @throws DomainError `sessions.not_found`, `sessions.not_visible` */
    find: (viewer: Viewer, id: string) => visibleSession(dependencies.db.read, viewer, id),

    /** @returns one session with its versions; see lists/detail.ts */
    detail: (viewer: Viewer, id: string) => sessionDetail({ ...dependencies, lists }, viewer, id),

    /** Removes partial files of killed processes. @returns the number of files removed */
    sweepTemporary: () => blobs.sweepTemporary(),

    /** @returns the artifact in any state */
    artifact: (id: RowId) => findArtifact(dependencies.db.read, id),

    /** @returns number and bytes of artifacts by store and state */
    totals: () => totals(dependencies.db.read),

    /** @returns the number of sessions that have no bytes: see objects/lost.ts */
    countLost: () => countLost(dependencies.db.read),
  };
}
