// Settings that this browser stores: the time zone, for the server, and whether single-letter keys act.

const YEAR_SECONDS = 31_536_000;
const KEYS = "quartermaster-keys";

/** Sends the time zone to the server in a cookie. It applies from the next page on. */
export function rememberZone(): void {
  const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
  const wanted = `quartermaster_zone=${zone}`;
  if (!zone || document.cookie.split("; ").includes(wanted)) return;
  const secure = location.protocol === "https:" ? "; secure" : "";
  // biome-ignore lint/suspicious/noDocumentCookie: the Cookie Store API is missing in plain http
  document.cookie = `${wanted}; path=/; max-age=${YEAR_SECONDS}; samesite=lax${secure}`;
}

/** @returns whether single-letter keys act */
export const keysAreOn = (): boolean => localStorage.getItem(KEYS) !== "off";

/** Turns single-letter keys on or off. */
export const setKeys = (isOn: boolean): void => localStorage.setItem(KEYS, isOn ? "on" : "off");
