// The reference for tokens.ts, in a separate process: the minimum cost of a new token: the verification of its
// signature with node:crypto, and one prepared look-up of its grant and its user. Arguments: a data directory, and a
// file with tokens. The connection has the cache of the service. Prints µs of processor time of each, as JSON.
import { createPublicKey, verify } from "node:crypto";
import { join } from "node:path";
import { decodeProtectedHeader } from "jose";
import { DATABASE_NAME } from "../../../src/domain/backup/model.ts";
import { openConnection } from "../../../src/platform/database/connection.ts";
import { openBeside } from "../tools/installation.ts";

const TOKENS = 20_000;
const LOOK_UPS = 50_000;
/** of one transaction, as in a turn of the service: locks cost more than a look-up */
const LOOK_UPS_PER_TURN = 32;
const TOKEN_BYTES = 1_024;

const [directory = "", file = ""] = process.argv.slice(2);
const installation = await openBeside(directory, 0);
const tokens = (
  await Bun.file(file)
    .slice(0, TOKENS * TOKEN_BYTES)
    .text()
)
  .split("\n")
  .slice(0, -1);
const { kid = "" } = decodeProtectedHeader(tokens[0] ?? "");
const jwk = installation.domain.access.keys.find(kid);
if (!jwk) throw new Error("no key of this directory signed the tokens");
const key = createPublicKey({ key: jwk, format: "jwk" });

const before = process.cpuUsage();
for (const token of tokens) {
  const at = token.lastIndexOf(".");
  const signature = Buffer.from(token.slice(at + 1), "base64url");
  if (!verify(null, Buffer.from(token.slice(0, at)), key, signature)) throw new Error("a signature is wrong");
}
const verified = process.cpuUsage(before);
await installation.close();

using database = openConnection(join(directory, DATABASE_NAME), { readonly: true });
const grants = database
  .query<{ id: string }, [number]>("SELECT id FROM grants ORDER BY random() LIMIT ?")
  .all(LOOK_UPS)
  .map(({ id }) => id);
const holder = database.query<unknown, [string]>(
  `SELECT users.id, users.organization_id, users.subject, users.role, users.status, grants.login_session_id, grants.revoked_at_ms
   FROM grants JOIN users ON users.id = grants.user_id WHERE grants.id = ?`,
);
const beforeLookUps = process.cpuUsage();
for (let first = 0; first < grants.length; first += LOOK_UPS_PER_TURN) {
  database.run("BEGIN");
  for (const id of grants.slice(first, first + LOOK_UPS_PER_TURN))
    if (holder.values(id).length !== 1) throw new Error("a grant has no user");
  database.run("ROLLBACK");
}
const lookedUp = process.cpuUsage(beforeLookUps);

const perItem = ({ user, system }: NodeJS.CpuUsage, count: number) => (user + system) / count;
console.log(
  JSON.stringify({
    verificationUs: perItem(verified, tokens.length),
    lookUpUs: perItem(lookedUp, grants.length),
  }),
);
