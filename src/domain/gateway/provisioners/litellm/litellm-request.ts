// Sends the requests of the built-in provisioner to the gateway through platform/outbound, with a limit on the size of a response.
// The caller's signal is the only deadline. litellm-api.ts defines the requests.
import { OUTBOUND_TIMEOUT_MAX_MS, type Outbound } from "../../../../platform/outbound/outbound.ts";
import { ProvisionerError } from "../provisioner.ts";

/** A page of a hundred keys with their metadata has a few hundred kilobytes. */
export const RESPONSE_BYTES_MAX = 4 * 1024 * 1024;

export interface AdminMessage {
  method: "GET" | "POST";
  /** with its query */
  path: string;
  headers: Record<string, string>;
  body?: string;
  /** maximum size of the response; default: RESPONSE_BYTES_MAX */
  bytesMax?: number;
}

export interface AdminResponse {
  status: number;
  text: string;
}

/** Rejects if no response arrives; a response may have any status. */
export type AdminRequest = (message: AdminMessage, signal: AbortSignal) => Promise<AdminResponse>;

/**
 * @param destinationName name of the gateway in the list of `outbound`
 * @returns a function that follows no redirect
 * @throws (the function) DomainError `outbound.*`; ProvisionerError `rejected` for a larger answer
 */
export const createAdminRequest =
  (outbound: Pick<Outbound, "fetch">, destinationName: string): AdminRequest =>
  async ({ path, bytesMax = RESPONSE_BYTES_MAX, ...message }, signal) => {
    const timeoutMs = OUTBOUND_TIMEOUT_MAX_MS; // the signal ends the request sooner
    const response = await outbound.fetch(destinationName, path, { ...message, signal, timeoutMs });
    return { status: response.status, text: await boundedText(response, bytesMax) };
  };

async function boundedText({ body }: Response, bytesMax: number): Promise<string> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of body ?? []) {
    length += chunk.length;
    if (length > bytesMax) {
      throw new ProvisionerError("rejected", `the gateway's response has more than ${bytesMax} bytes`);
    }
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}
