// Another process that rotates the signing keys: `bun rotate-child.ts <database file> <keys directory>`; prints the new id.
import { SigningKeys } from "../../../../src/domain/access/tokens/signing-keys.ts";
import { createAudit } from "../../../../src/domain/audit/service.ts";
import { openSealing } from "../../../../src/platform/crypto/sealing.ts";
import { openDatabase } from "../../../../src/platform/database/database.ts";
import { systemIds } from "../../../../src/platform/ids.ts";
import { heldClock } from "../../../support/world.ts";
import { SETTINGS } from "../access-world.ts";

const [file = "", directory = ""] = process.argv.slice(2);
const db = openDatabase(file);
const clock = heldClock();
const sealing = openSealing({ directory, ids: systemIds });
const keys = new SigningKeys({ db, clock, audit: createAudit({ clock }), sealing, settings: SETTINGS });
const { kid } = await keys.rotate({ kind: "operator", id: null, label: "child", organizationId: "test" });
process.stdout.write(kid);
await db.close();
