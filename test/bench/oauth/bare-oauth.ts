// The other reference of oauth.ts, in a separate process: Bun.serve that makes only the durable rows of a device code or a refresh in
// a copy of the database, with the statements and shared commits of the service, and signs the access token. It checks, limits,
// counts and logs nothing. Arguments: the database of the service, a file for the copy, and the origin in the responses.
import { Database } from "bun:sqlite";
import { increment, put } from "../../../src/domain/access/budgets/budgets-store.ts";
import { countedAs } from "../../../src/domain/access/budgets/counted-address.ts";
import { insert } from "../../../src/domain/access/device-login/device-logins-store.ts";
import { issuerOf } from "../../../src/domain/access/discovery.ts";
import { deviceCodeOf, userCodeOf } from "../../../src/domain/access/model.ts";
import { findFamily } from "../../../src/domain/access/tokens/grants-store.ts";
import { rotate } from "../../../src/domain/access/tokens/refresh-rotation.ts";
import { readRefreshToken } from "../../../src/domain/access/tokens/refresh-token.ts";
import { ACCESS_TOKEN_TYPE } from "../../../src/domain/access/tokens/signing-keys.ts";
import { users } from "../../../src/domain/identity/tables.ts";
import { macOf } from "../../../src/platform/crypto/sealing.ts";
import { createSigner, generateSigningKeyPair } from "../../../src/platform/crypto/signing.ts";
import { openDatabase, statement } from "../../../src/platform/database/database.ts";
import { equalAll } from "../../../src/platform/database/drizzle.ts";
import { randomToken, sha256Hex, systemIds } from "../../../src/platform/ids.ts";
import { CLIENT_ID } from "./oauth-plan.ts";

const [file = "", copy = "", origin = ""] = process.argv.slice(2);
const DEVICE_CODE_MS = 600_000;
const REFRESH_MS = 30 * 86_400_000;
const ACCESS_SECONDS = 900;
const NO_CACHE = { "content-type": "application/json", "cache-control": "no-store", pragma: "no-cache" };

{
  using original = new Database(file, { readonly: true });
  original.run("VACUUM INTO ?", [copy]);
}
const db = openDatabase(copy);
const { publicJwk, privateKey } = await generateSigningKeyPair("EdDSA");
const sign = createSigner(privateKey, { alg: "EdDSA", kid: publicJwk.kid, typ: ACCESS_TOKEN_TYPE });
const key = Buffer.from(systemIds.bytes(32));
const mac = (text: string, purpose: string) => macOf(key, { text, purpose });
const keys = { mac, macs: (text: string, purpose: string) => [mac(text, purpose)] };
const findUser = statement((connection) =>
  connection.select().from(users).where(equalAll(users, "id")).limit(1).prepare(),
);
const counter = { name: "device_code.address", subject: sha256Hex("127.0.0.1").slice(0, 32) };

const server = Bun.serve({
  hostname: "127.0.0.1",
  port: 0,
  async fetch(request) {
    const fields = new URLSearchParams(await request.text());
    const isRefresh = fields.has("refresh_token");
    const answer = await (isRefresh ? refresh(fields) : requestLogin(fields));
    return new Response(JSON.stringify(answer), { headers: NO_CACHE });
  },
});
console.log(server.url.origin);

function requestLogin(fields: URLSearchParams): Promise<object> {
  const nowMs = Date.now();
  const id = systemIds.uuid();
  const linkToken = randomToken(systemIds);
  const deviceCode = deviceCodeOf(id, randomToken(systemIds));
  const userCode = userCodeOf(linkToken);
  const row = {
    id,
    deviceCodeHash: sha256Hex(deviceCode),
    linkHash: sha256Hex(linkToken),
    userCodeHash: sha256Hex(userCode),
    clientId: CLIENT_ID,
    scope: fields.get("scope") ?? "",
    resource: fields.get("resource"),
    address: "127.0.0.1",
    ...countedAs("127.0.0.1"),
    createdAtMs: nowMs,
    expiresAtMs: nowMs + DEVICE_CODE_MS,
  };
  return db.write((tx) => {
    const window = { nowMs, latestMs: nowMs + DEVICE_CODE_MS, limit: Number.MAX_SAFE_INTEGER };
    const isCounted = increment(tx, { ...counter, ...window });
    if (!isCounted) put(tx, { ...counter, used: 1, resetsAtMs: window.latestMs });
    insert(tx, row);
    return {
      device_code: deviceCode,
      user_code: userCode,
      verification_uri: `${origin}/device`,
      verification_uri_complete: `${origin}/device/${linkToken}`,
      expires_in: DEVICE_CODE_MS / 1_000,
      interval: 1,
    };
  }, "unobserved");
}

async function refresh(fields: URLSearchParams): Promise<object> {
  const nowMs = Date.now();
  const presented = readRefreshToken(fields.get("refresh_token") ?? "");
  if (!presented) throw new Error("not a refresh token");
  const { grant, user, next } = await db.write((tx) => {
    const family = findFamily(tx, presented);
    const user = family && findUser(tx).get({ id: family.grant.userId });
    if (!user) throw new Error("an unknown refresh token");
    const rotation = { grant: family.grant, presented, keys, nowMs, expiresAtMs: nowMs + REFRESH_MS };
    return { grant: family.grant, user, ...rotate(tx, rotation) };
  }, "unobserved");
  const iat = Math.floor(nowMs / 1_000);
  const exp = iat + ACCESS_SECONDS;
  const access_token = sign({
    iss: issuerOf(origin),
    jti: systemIds.uuid(),
    aud: grant.resource,
    sub: user.subject,
    client_id: CLIENT_ID,
    azp: CLIENT_ID,
    scope: grant.scope,
    sid: grant.loginSessionId,
    email: user.email,
    org_id: user.organizationId,
    role: user.role,
    grant_id: grant.id,
    iat,
    exp,
  });
  const times = { expires_in: ACCESS_SECONDS, expires_at: exp };
  return { access_token, token_type: "Bearer", ...times, refresh_token: next.text, scope: grant.scope };
}
