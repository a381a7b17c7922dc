// Dependencies that the parts of the area share.
import type { Blobs } from "../../platform/blobs/blobs.ts";
import type { Clock } from "../../platform/clock.ts";
import type { Db } from "../../platform/database/database.ts";
import type { Ids } from "../../platform/ids.ts";
import type { Audit } from "../audit/service.ts";
import type { Governance } from "../governance/service.ts";
import type { Harness } from "../harnesses/harnesses.ts";
import type { Identity } from "../identity/service.ts";
import type { ObjectLinks } from "./objects/object-links.ts";
import type { ObjectStores } from "./objects/object-store.ts";
import type { SessionSettings } from "./settings.ts";
import type { TranscriptReader } from "./transcript/reader.ts";

export interface SessionsDependencies {
  db: Db;
  clock: Clock;
  ids: Ids;
  audit: Audit;
  identity: Pick<Identity, "users" | "findUserById" | "inactiveAmong">;
  governance: { revisions: Pick<Governance["revisions"], "inForce"> };
  /** the current ones */
  harnesses(): readonly Harness[];
  settings: SessionSettings;
  stores: ObjectStores;
  /** objects of the local store */
  blobs: Blobs;
  links: ObjectLinks;
  /** reads transcripts; default: in this process */
  transcriptReader?: TranscriptReader | undefined;
}
