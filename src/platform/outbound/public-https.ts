// The part of the outbound client (outbound.ts) for public hosts: https to a checked address, without redirects, and never
// through a proxy of the environment. public-hosts.ts decides which URLs and addresses are public.
import type { LookupAddress } from "node:dns";
import { lookup } from "node:dns/promises";
import type { ClientRequest, IncomingMessage } from "node:http";
import { request as httpsRequest } from "node:https";
import { isIP, type LookupFunction } from "node:net";
import { codeOf, DomainError } from "../errors.ts";
import { isPublicAddress } from "./public-hosts.ts";

/** The definition of public. Tests replace it so that their own server counts as public; no setting can. */
export interface PublicHosts {
  isPublic(address: string): boolean;
  /** @returns every address of the name */
  resolve(host: string): Promise<readonly LookupAddress[]>;
  /** trusted certificates, in PEM; those of the runtime by default */
  ca?: string;
}

export const PUBLIC_HOSTS: PublicHosts = {
  isPublic: isPublicAddress,
  resolve: (host) => lookup(host, { all: true }),
};

export interface PublicRequest {
  headers?: Readonly<Record<string, string>>;
  /** the largest body that is accepted, whether announced or received */
  bytesMax: number;
  signal: AbortSignal;
}

/**
 * Fetches a URL without decoding a content coding. Reading the first piece opens the connection; the last piece or the end of
 * reading closes it.
 * @param url from `publicUrl`
 * @throws DomainError `invalid` `outbound.*`, whose text contains no host or address
 */
export async function* download(
  url: URL,
  { headers, bytesMax, signal }: PublicRequest,
  hosts: PublicHosts,
): AsyncGenerator<Uint8Array> {
  refuseLiteral(url, hosts);
  const request = httpsRequest(url, {
    headers: { ...headers, "user-agent": "quartermaster", "accept-encoding": "identity" },
    agent: false,
    rejectUnauthorized: true, // overrides NODE_TLS_REJECT_UNAUTHORIZED
    lookup: checkedLookup(hosts),
    signal,
    ...(hosts.ca !== undefined && { ca: hosts.ca }),
  });
  try {
    const response = await responseTo(request);
    requireStatus(response, bytesMax);
    let bytes = 0;
    for await (const chunk of response) {
      bytes += chunk.length;
      if (bytes > bytesMax) throw tooLarge(bytesMax);
      yield chunk;
    }
  } catch (error) {
    throw refusalOf(error, signal);
  } finally {
    request.destroy();
  }
}

/** The connection uses exactly the returned address, so a DNS answer that changes later has no effect. */
const checkedLookup =
  ({ resolve, isPublic }: PublicHosts): LookupFunction =>
  (host, _options, done) => {
    resolve(host)
      .then((found) => {
        if (found.length === 0) throw refusal("unresolved", UNRESOLVED);
        if (!found.every(({ address }) => isPublic(address))) throw notPublic();
        return [...found];
      })
      .then(
        (checked) => done(null, checked),
        (error) => done(error, []),
      );
  };

/** An address in the URL needs no lookup. */
function refuseLiteral({ hostname }: URL, { isPublic }: PublicHosts): void {
  const host = hostname.replace(/^\[|\]$/g, "");
  if (isIP(host) !== 0 && !isPublic(host)) throw notPublic();
}

/** After the start of the response, the reader gets errors. The listeners keep an unread error from ending the process. */
const responseTo = (request: ClientRequest): Promise<IncomingMessage> =>
  new Promise((resolve, reject) => {
    request.on("error", reject);
    request.on("response", (response) => {
      response.on("error", reject);
      resolve(response);
    });
    request.end();
  });

function requireStatus({ statusCode = 0, headers }: IncomingMessage, bytesMax: number): void {
  if (statusCode >= 300 && statusCode < 400) {
    throw refusal("redirected", "the host answered with a redirect, which is not followed");
  }
  if (statusCode !== 200) throw refusal("refused", `the host answered with the status ${statusCode}`);
  if (Number(headers["content-length"] ?? 0) > bytesMax) throw tooLarge(bytesMax);
}

const CERTIFICATE_FAULT = /CERT|VERIFY/;
const NAME_FAULT = /^(?:ENOTFOUND|ENODATA|EAI_\w+)$/;
const UNRESOLVED = "the name of the host has no address";

/** The text names only the kind of failure: the cause may name addresses. */
function refusalOf(error: unknown, signal: AbortSignal): DomainError {
  if (error instanceof DomainError) return error;
  const code = codeOf(error) ?? "";
  if (signal.aborted)
    return refusal("too_slow", "the host did not send everything within the time limit", error);
  if (NAME_FAULT.test(code)) return refusal("unresolved", UNRESOLVED, error);
  if (CERTIFICATE_FAULT.test(code)) {
    return refusal("untrusted", "the certificate of the host is not trusted, or not for its name", error);
  }
  return refusal("failed", "the connection to the host failed", error);
}

const notPublic = () => refusal("not_public", "the host has an address that is not public");

const tooLarge = (bytesMax: number) =>
  refusal("too_large", `the response of the host has more than ${bytesMax} bytes`);

const refusal = (what: string, message: string, cause?: unknown): DomainError =>
  new DomainError("invalid", `outbound.${what}`, message, { cause });
