// Addresses of the pages about MCP servers.
import type { HarnessKey } from "../../../domain/harnesses/harnesses.ts";
import { CONSOLE } from "../frame/navigation.ts";

export const MCP_PATH = `${CONSOLE}/mcp`;
export const NEW_SERVER_PATH = `${MCP_PATH}/new`;

export const MCP_BREADCRUMBS = [{ href: MCP_PATH, label: "MCP servers" }] as const;

/** Names that would collide with another address get a tilde in front. */
const OTHER_ADDRESS = /^(?:~.*|new|\.{1,2})$/s;

/** @param harness one with the server; needed if others have a different server of this name */
export function serverPath(name: string, harness?: HarnessKey): string {
  const path = `${MCP_PATH}/${encodeURIComponent(OTHER_ADDRESS.test(name) ? `~${name}` : name)}`;
  return harness === undefined ? path : `${path}?harness=${harness}`;
}

/** @param segment of the path, decoded @returns the name of the server */
export const nameIn = (segment: string): string => (segment.startsWith("~") ? segment.slice(1) : segment);
