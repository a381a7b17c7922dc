// What every HTML answer needs beside its body: the style sheet under a name that changes with its content, and the
// content security policy. Serving both, and the other response headers, is left to the routes.
import { createHash } from "node:crypto";
import styleSheet from "./style.css" with { type: "text" };

const fingerprint = createHash("sha256").update(styleSheet).digest("hex").slice(0, 12);

/** Body of the style sheet, `text/css; charset=utf-8`. */
export const styleSheetBody: string = styleSheet;

/** Path of the style sheet. It names the content, so the answer may be cached for ever. */
export const styleSheetPath = `/assets/${fingerprint}-style.css`;

/**
 * Value of the `Content-Security-Policy` header for every page: no script, no frame, nothing inline, forms only to us.
 * `https:` images are for the organization's logo.
 * @source operator-experience.md section 7, WEB-5
 */
export const contentSecurityPolicy = [
  "default-src 'none'",
  "style-src 'self'",
  "img-src 'self' data: https:",
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join("; ");
