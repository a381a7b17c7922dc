// A private certificate authority for a test, and servers on this machine with certificates that it signed.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { generate } from "selfsigned";
import { DAY_MS } from "../../../src/platform/clock.ts";
import { listen } from "../../../src/server/listener/listen.ts";
import { createTestServer, type TestServer, type TestServerOptions } from "../server.ts";
import { NO_PROXIES, raise } from "./listening-server.ts";

export interface Certified {
  /** PEM: the certificates of the server and of its CA */
  cert: string;
  key: string;
  /** certificate of the CA in PEM, which no runtime trusts by itself */
  ca: string;
}

export interface CertificateOptions {
  /** DNS name in the certificate; localhost if omitted */
  name?: string;
  expiresAtMs?: number;
}

/** @returns a certificate signed by a new CA; valid for 90 days by default */
export async function certify({
  name = "localhost",
  expiresAtMs,
}: CertificateOptions = {}): Promise<Certified> {
  const shared = { keyType: "ec", algorithm: "sha256" } as const;
  const authority = await generate([{ name: "commonName", value: "Example Company CA" }], {
    ...shared,
    extensions: [
      { name: "basicConstraints", cA: true, critical: true },
      { name: "keyUsage", keyCertSign: true, cRLSign: true },
    ],
  });
  const endMs = expiresAtMs ?? Date.now() + 90 * DAY_MS;
  const leaf = await generate([{ name: "commonName", value: name }], {
    ...shared,
    ca: { key: authority.private, cert: authority.cert },
    notBeforeDate: new Date(Math.min(endMs, Date.now()) - DAY_MS),
    notAfterDate: new Date(endMs),
    extensions: [{ name: "subjectAltName", altNames: [{ type: 2, value: name }] }],
  });
  return {
    cert: `${leaf.cert.trim()}\n${authority.cert.trim()}\n`,
    key: leaf.private,
    ca: authority.cert,
  };
}

export interface CertifiedServer extends TestServer, Pick<Certified, "ca"> {
  origin: string;
}

/** @returns the test server behind TLS as https://localhost, with a certificate of a private CA */
export async function createCertifiedServer(options: TestServerOptions = {}): Promise<CertifiedServer> {
  const { cert, key, ca } = await certify();
  let port = "";
  const origin = () => `https://localhost:${port}`;
  const server = await createTestServer({ ...options, access: { ...options.access, baseUrl: origin } });
  const tls = { cert: join(server.world.directory, "tls.pem"), key: join(server.world.directory, "tls.key") };
  writeFileSync(tls.cert, cert);
  writeFileSync(tls.key, key, { mode: 0o600 });
  const listener = listen(server.server.handle, {
    listen: { kind: "tcp", host: "127.0.0.1", port: 0 },
    tls,
    ...NO_PROXIES,
    report: raise,
  });
  port = new URL(listener.address).port;
  return {
    ...server,
    ca,
    origin: origin(),
    async [Symbol.asyncDispose]() {
      server.server.endStreams();
      await listener.stop();
      await server[Symbol.asyncDispose]();
    },
  };
}
