// The style sheet, under a path that contains its digest, and the content security policy of all pages. Routes serve both and
// set the other headers.
import { createHash } from "node:crypto";
import styleSheet from "./style.css" with { type: "text" };

const fingerprint = createHash("sha256").update(styleSheet).digest("hex").slice(0, 12);

/** Content of the style sheet, `text/css; charset=utf-8`. */
export const styleSheetBody: string = styleSheet;

/** Path of the style sheet. It contains the digest, so the answer may be cached forever. */
export const styleSheetPath = `/assets/${fingerprint}-style.css`;

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
