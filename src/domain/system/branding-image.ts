// The rules for an uploaded logo or icon: a PNG or SVG image whose content matches its type. It is served with a content security
// policy that blocks all scripts in it (server/routes/branding-images.ts).
import { DomainError } from "../../platform/errors.ts";
import { sha256Hex } from "../../platform/ids.ts";
import type { IMAGE_TYPES } from "./tables.ts";

const BRANDING_IMAGES = ["logo", "icon"] as const;
export type ImageKind = (typeof BRANDING_IMAGES)[number];

export const IMAGE_BYTES_MAX = 256 * 1024;
/** Maximum pixels per side. Browsers use at least four bytes for each pixel of a PNG, however small its file is. */
export const IMAGE_SIDE_MAX = 2_048;

/** Length of the digest in the URL, which makes browsers load a new image immediately. */
const DIGEST_CHARACTERS = 12;

/** @returns the path at which the uploaded image is served */
export const imagePath = <Kind extends ImageKind>(kind: Kind) => `/branding/${kind}` as const;

/** @returns the URL of an uploaded image */
export const imageAddress = (baseUrl: string, kind: ImageKind, bytes: Uint8Array): string =>
  `${baseUrl}${imagePath(kind)}?v=${sha256Hex(bytes).slice(0, DIGEST_CHARACTERS)}`;

export interface BrandingImage {
  mediaType: (typeof IMAGE_TYPES)[number];
  bytes: Uint8Array<ArrayBuffer>;
}

/**
 * @returns the image with the type of its content
 * @throws DomainError `branding.invalid_logo`, `branding.invalid_icon`
 */
export function readImage(kind: ImageKind, bytes: Uint8Array<ArrayBuffer>): BrandingImage {
  const why = refusalOf(bytes);
  if (why === undefined) return { mediaType: isPng(bytes) ? "image/png" : "image/svg+xml", bytes };
  const message = `the ${kind} ${why}`;
  throw new DomainError("invalid", `branding.invalid_${kind}`, message, {
    problems: [{ pointer: `/${kind}`, detail: message }],
  });
}

/** @returns what is wrong with the image, as the end of a sentence */
function refusalOf(bytes: Uint8Array): string | undefined {
  if (bytes.length === 0) return "is empty";
  if (bytes.length > IMAGE_BYTES_MAX) return `has more than ${IMAGE_BYTES_MAX / 1024} KiB`;
  return isPng(bytes) ? pngRefusal(bytes) : svgRefusal(bytes);
}

/** Signature, then the header chunk: PNG specification, sections 5.2 and 11.2.1. */
const PNG_START = Buffer.from("89504e470d0a1a0a0000000d49484452", "hex");
/** Signature, header chunk and end chunk. */
const PNG_BYTES_MIN = 45;

const isPng = (bytes: Uint8Array): boolean =>
  bytes.length >= PNG_BYTES_MIN && PNG_START.equals(bytes.subarray(0, PNG_START.length));

const WIDTH_AT = 16;
const HEIGHT_AT = 20;

function pngRefusal({ buffer, byteOffset, byteLength }: Uint8Array): string | undefined {
  const view = new DataView(buffer, byteOffset, byteLength);
  const [width, height] = [view.getUint32(WIDTH_AT), view.getUint32(HEIGHT_AT)];
  if (width > 0 && height > 0 && width <= IMAGE_SIDE_MAX && height <= IMAGE_SIDE_MAX) return undefined;
  return `is ${width} by ${height} pixels; at most ${IMAGE_SIDE_MAX} by ${IMAGE_SIDE_MAX} are allowed`;
}

const utf8 = new TextDecoder("utf-8", { fatal: true });
/** The XML declaration and comments before the root element. */
const PROLOG = /^\s*(?:<\?xml[^>]*\?>\s*)?(?:<!--(?:(?!-->)[\s\S])*-->\s*)*/;
const ROOT = /^<svg(?=[\s>])[^>]*\sxmlns\s*=\s*["']http:\/\/www\.w3\.org\/2000\/svg["']/;
const ACTIVE =
  /<\s*(?:script|foreignObject|iframe|object|embed)\b|\son[a-z]+\s*=|javascript:|<!(?:DOCTYPE|ENTITY)/i;

const OTHER_TYPE = "must be a PNG or SVG image";

function svgRefusal(bytes: Uint8Array): string | undefined {
  let text: string;
  try {
    text = utf8.decode(bytes);
  } catch {
    return OTHER_TYPE;
  }
  const root = text.replace(PROLOG, "");
  if (!ROOT.test(root) || !root.trimEnd().endsWith("</svg>")) return OTHER_TYPE;
  return ACTIVE.test(text)
    ? "must not have scripts, event attributes, document types or foreign content"
    : undefined;
}
