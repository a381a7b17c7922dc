// The style sheet and the icon, under paths that contain their digests, and the content security policy of all pages. Routes serve both and
// set the other headers.
import { createHash } from "node:crypto";
import icon from "./icon.svg" with { type: "text" };
import styleSheet from "./style.css" with { type: "text" };

const fingerprintOf = (content: string): string =>
  createHash("sha256").update(content).digest("hex").slice(0, 12);

/** Content of the style sheet, `text/css; charset=utf-8`. */
export const styleSheetBody: string = styleSheet;

/** Path of the style sheet. It contains the digest, so the answer may be cached forever. */
export const styleSheetPath = `/assets/${fingerprintOf(styleSheet)}-style.css`;

/** Content of the program's own icon and logo, `image/svg+xml`. */
export const iconBody: string = icon;

/** Path of the icon. It contains the digest, so the answer may be cached forever. */
export const iconPath = `/assets/${fingerprintOf(icon)}-icon.svg`;

/**
 * Value of `Content-Security-Policy` for every page: no scripts, no frames, nothing inline, forms only to this origin.
 * `https:` images are allowed for the organization's logo.
 */
export const contentSecurityPolicy = [
  "default-src 'none'",
  "style-src 'self'",
  "img-src 'self' data: https:",
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join("; ");
