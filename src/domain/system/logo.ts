// The rules for an uploaded logo: a PNG or SVG image whose content is what it says. It is served with a policy under which nothing in
// it can run (server/routes/branding-logo.ts).
import { DomainError } from "../../platform/errors.ts";
import type { LOGO_TYPES } from "./tables.ts";

export const LOGO_BYTES_MAX = 256 * 1024;

export interface Logo {
  mediaType: (typeof LOGO_TYPES)[number];
  bytes: Uint8Array<ArrayBuffer>;
}

/**
 * @returns the image with the type that its content has
 * @throws DomainError `branding.invalid_logo`
 */
export function readLogo(bytes: Uint8Array<ArrayBuffer>): Logo {
  if (bytes.length === 0) throw invalidLogo("the logo is empty");
  if (bytes.length > LOGO_BYTES_MAX) throw invalidLogo(`the logo has more than ${LOGO_BYTES_MAX} bytes`);
  if (isPng(bytes)) return { mediaType: "image/png", bytes };
  refuseOtherThanSvg(bytes);
  return { mediaType: "image/svg+xml", bytes };
}

/** Signature, then the header chunk: PNG specification, sections 5.2 and 11.2.1. */
const PNG_START = Buffer.from("89504e470d0a1a0a0000000d49484452", "hex");
/** Signature, header chunk and end chunk. */
const PNG_BYTES_MIN = 45;

const isPng = (bytes: Uint8Array): boolean =>
  bytes.length >= PNG_BYTES_MIN && PNG_START.equals(bytes.subarray(0, PNG_START.length));

const utf8 = new TextDecoder("utf-8", { fatal: true });
/** The XML declaration and comments before the root element. */
const PROLOG = /^\s*(?:<\?xml[^>]*\?>\s*)?(?:<!--(?:(?!-->)[\s\S])*-->\s*)*/;
const ROOT = /^<svg(?=[\s>])[^>]*\sxmlns\s*=\s*["']http:\/\/www\.w3\.org\/2000\/svg["']/;
const ACTIVE =
  /<\s*(?:script|foreignObject|iframe|object|embed)\b|\son[a-z]+\s*=|javascript:|<!(?:DOCTYPE|ENTITY)/i;

function refuseOtherThanSvg(bytes: Uint8Array): void {
  let text: string;
  try {
    text = utf8.decode(bytes);
  } catch {
    throw invalidLogo("the logo must be a PNG or SVG image");
  }
  const root = text.replace(PROLOG, "");
  if (!ROOT.test(root) || !root.trimEnd().endsWith("</svg>"))
    throw invalidLogo("the logo must be a PNG or SVG image");
  if (ACTIVE.test(text))
    throw invalidLogo("the logo must not have scripts, event attributes, document types or foreign content");
}

const invalidLogo = (message: string): DomainError =>
  new DomainError("invalid", "branding.invalid_logo", message, {
    problems: [{ pointer: "/logo", detail: message }],
  });
