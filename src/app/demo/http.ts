// Requests of the simulated workstations and their users to the service of the demo, over its public routes.
import type { Static, TSchema } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { createOutbound, type OutboundRequest } from "../../platform/outbound/outbound.ts";

const DESTINATION = "the service of the demo";
const TIMEOUT_MS = 15_000;

export interface DemoHttp {
  /** @returns the response, whatever its status */
  send(pathOrUrl: string, request?: DemoRequest): Promise<Response>;
  /** Sends a form. @returns the response, whatever its status */
  sendForm(pathOrUrl: string, fields: Readonly<Record<string, string>>): Promise<Response>;
}

export type DemoRequest = Partial<OutboundRequest>;

/** @param signal ends every request */
export function createDemoHttp(origin: string, signal: AbortSignal): DemoHttp {
  const outbound = createOutbound({
    allowed: [{ name: DESTINATION, origin, why: "simulated workstations" }],
  });
  const send: DemoHttp["send"] = (pathOrUrl, request = {}) =>
    outbound.fetch(DESTINATION, pathOrUrl, { timeoutMs: TIMEOUT_MS, signal, ...request });
  return {
    send,
    sendForm: (pathOrUrl, fields) =>
      send(pathOrUrl, {
        method: "POST",
        headers: { "content-type": "application/x-www-form-urlencoded" },
        body: new URLSearchParams(fields).toString(),
      }),
  };
}

/** @throws Error unless the status is 2xx */
export async function expectSuccess(response: Response): Promise<Response> {
  if (response.ok) return response;
  const { pathname } = new URL(response.url);
  const text = (await response.text()).slice(0, SHOWN_CHARACTERS_MAX);
  throw new Error(`${pathname} answered ${response.status}: ${text}`);
}

const SHOWN_CHARACTERS_MAX = 200;

/** @throws Error unless the status is 2xx and the body matches the schema */
export async function jsonOf<Schema extends TSchema>(
  response: Response,
  schema: Schema,
): Promise<Static<Schema>> {
  const body: unknown = await (await expectSuccess(response)).json();
  Value.Assert(schema, body);
  return body;
}
