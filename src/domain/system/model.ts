// Branding: the logo and the icon of an organization. Defines the values of the API and the rules for URLs.
import { type Static, Type } from "@sinclair/typebox";
import type { Problem } from "../../platform/errors.ts";

export const BRANDING_URL_LENGTH_MAX = 2048;

export interface Branding {
  logoUrl: string | null;
  faviconUrl: string | null;
}

/** The new branding: absent, null and blank clear a URL. */
export interface BrandingUpdate {
  logoUrl?: string | null | undefined;
  faviconUrl?: string | null | undefined;
}

const OptionalUrl = Type.Union([Type.String({ maxLength: BRANDING_URL_LENGTH_MAX }), Type.Null()]);

export const BrandingSchema = Type.Object({ logo_url: OptionalUrl, favicon_url: OptionalUrl });

/** @returns the branding for the API */
export const toBranding = ({ logoUrl, faviconUrl }: Branding): Static<typeof BrandingSchema> => ({
  logo_url: logoUrl,
  favicon_url: faviconUrl,
});

/**
 * @param known the replaced branding, whose URLs are accepted again, because the URL of an uploaded image may be `http`
 * @returns the trimmed URLs; adds their problems to `problems`
 */
export const readBranding = (
  update: BrandingUpdate,
  { known, problems }: { known: Branding; problems: Problem[] },
): Branding => ({
  logoUrl: readUrl(update.logoUrl, { pointer: "/logo_url", known: known.logoUrl, problems }),
  faviconUrl: readUrl(update.faviconUrl, { pointer: "/favicon_url", known: known.faviconUrl, problems }),
});

function readUrl(
  given: string | null | undefined,
  { pointer, known, problems }: { pointer: string; known: string | null; problems: Problem[] },
): string | null {
  const text = given?.trim();
  if (!text) return null;
  if (text === known) return text;
  if (text.length > BRANDING_URL_LENGTH_MAX) {
    problems.push({ pointer, detail: `must have at most ${BRANDING_URL_LENGTH_MAX} characters` });
  } else if (!isShowable(text)) {
    problems.push({ pointer, detail: "must be an absolute https URL with a host" });
  }
  return text;
}

/** `http` is for trials on one machine. */
function isShowable(text: string): boolean {
  if (!/^https?:\/\/[^/?#\s][^\s]*$/i.test(text) || !URL.canParse(text)) return false;
  const { protocol, hostname } = new URL(text);
  return protocol === "https:" || isLoopback(hostname);
}

const isLoopback = (hostname: string): boolean =>
  hostname === "localhost" || hostname === "[::1]" || /^127(\.\d{1,3}){3}$/.test(hostname);
