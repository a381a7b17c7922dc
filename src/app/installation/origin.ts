// Determines our origin for links, from the settings or the running service. The service can also ask its listener; a command has no
// listener.
import { resolve } from "node:path";
import type { Listen } from "../../platform/config/addresses.ts";
import type { Config } from "../../platform/config/config.ts";
import { placesIn } from "../../platform/data-directory/data-directory.ts";
import { findServiceState } from "../../platform/data-directory/service-state.ts";

const LOOPBACK = /^(localhost|127(\.\d+){3}|::1)$/;

/** @returns whether the service listens on a loopback TCP address */
export const isLoopback = (listen: Listen): boolean => listen.kind === "tcp" && LOOPBACK.test(listen.host);

/** @returns whether requests to this origin cross the network unencrypted */
export function isUnencryptedRemote(origin: string): boolean {
  const url = URL.parse(origin);
  return url?.protocol === "http:" && !LOOPBACK.test(url.hostname.replace(/^\[|\]$/g, ""));
}

/**
 * @returns `server.public_url`, or else the loopback address of `server.listen`; undefined if neither has an origin,
 * for example with port 0
 */
export function configuredOrigin(config: Config): string | undefined {
  const publicUrl = config.get("server.public_url");
  const listen = config.get("server.listen");
  if (publicUrl !== undefined || listen.kind !== "tcp") return publicUrl;
  if (!isLoopback(listen) || listen.port === 0) return undefined;
  const scheme = config.get("server.tls_cert") === undefined ? "http" : "https";
  const host = listen.host.includes(":") ? `[${listen.host}]` : listen.host;
  return new URL(`${scheme}://${host}:${listen.port}`).origin;
}

/**
 * The default of `server.listen` is not used, because the service may have another setting.
 * @returns the origin for links that a command shows: from its own settings, or else from the running service
 * @throws DomainError `storage.*`
 */
export function originForLinks(config: Config): string | undefined {
  const isGiven = config.has("server.public_url") || config.has("server.listen");
  const configured = isGiven ? configuredOrigin(config) : undefined;
  return configured ?? findServiceState(placesIn(resolve(config.get("data_dir"))))?.origin;
}
