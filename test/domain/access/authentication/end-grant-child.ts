// Another process that revokes a grant: `bun end-grant-child.ts <database file> <grant id>`.
import { endGrants } from "../../../../src/domain/access/logins/end-logins.ts";
import { systemClock } from "../../../../src/platform/clock.ts";
import { openDatabase } from "../../../../src/platform/database/database.ts";

const [file = "", grantId = ""] = process.argv.slice(2);
const db = openDatabase(file);
await db.write((tx) => endGrants(tx, { grantIds: [grantId], reason: "child", nowMs: systemClock.nowMs() }));
await db.close();
