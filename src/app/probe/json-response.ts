// Asks the probed server for JSON, and explains every other response.
import { DomainError } from "../../platform/errors.ts";
import { isJsonObject, type JsonObject } from "../../platform/json/json-object.ts";
import type { NamedRequest, NamedServer, Reply } from "../../platform/outbound/named-server.ts";

export interface JsonResponse extends Pick<Reply, "status" | "headers" | "durationMs"> {
  document: JsonObject;
  sizeBytes: number;
}

/** Maximum characters of a foreign text in a finding. */
export const TEXT_CHARACTERS_MAX = 200;

/**
 * @returns the response, whatever its status
 * @throws DomainError `probe.redirected`, `probe.not_json`, and the errors of NamedServer
 */
export async function askJson(
  server: NamedServer,
  path: string,
  options?: NamedRequest,
): Promise<JsonResponse> {
  const reply = await server.ask(path, {
    ...options,
    headers: { accept: "application/json", ...options?.headers },
  });
  const { status, headers, body, durationMs } = reply;
  if (status >= 300 && status < 400) throw redirected(path, headers.location);
  return {
    status,
    headers,
    durationMs,
    document: documentIn(reply, path),
    sizeBytes: Buffer.byteLength(body),
  };
}

/**
 * @param path of the request
 * @throws DomainError `probe.not_json`
 */
export function documentIn({ status, body }: Reply, path: string): JsonObject {
  const document = parsed(body);
  if (!document) throw notJson(path, status, body);
  return document;
}

/** @returns the text of an error response, shortened */
export const refusalText = ({ status, document }: JsonResponse): string =>
  `it answered ${status}: ${shortened(textIn(document, "detail") ?? textIn(document, "error_description") ?? textIn(document, "error") ?? "without a reason")}`;

/** @returns the member if it is a non-empty text */
export function textIn(document: JsonObject, name: string): string | undefined {
  const value = document[name];
  return typeof value === "string" && value.trim() !== "" ? value : undefined;
}

function parsed(body: string): JsonObject | undefined {
  try {
    const document: unknown = JSON.parse(body);
    return isJsonObject(document) ? document : undefined;
  } catch {
    return undefined;
  }
}

export const shortened = (text: string, charactersMax = TEXT_CHARACTERS_MAX): string =>
  text.length > charactersMax ? `${text.slice(0, charactersMax)}…` : text;

const redirected = (path: string, location: string | undefined): DomainError =>
  new DomainError(
    "unavailable",
    "probe.redirected",
    `${path} is redirected to ${shortened(location ?? "an unnamed place")}`,
    {
      hint: "give workstations the origin that the redirect names, or configure the proxy to pass this path on",
    },
  );

function notJson(path: string, status: number, body: string): DomainError {
  const kind = /^\s*</.test(body) ? "HTML" : "something else";
  return new DomainError(
    "unavailable",
    "probe.not_json",
    `${path} answered ${status} with ${kind} instead of JSON: the response is from another server or a proxy`,
    {
      hint: "check the address, and configure the proxy to pass every path on to the service without its own sign-in",
    },
  );
}
