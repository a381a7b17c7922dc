// Draws a QR code as SVG. uqr computes the modules; the drawing is ours, so that nothing bypasses the escaping of pages.
/** @jsxImportSource preact */
import { encode } from "uqr";

/** Modules of white space around the code (ISO/IEC 18004 section 6.3.8). */
const QUIET_ZONE = 4;

/** @param text what a camera reads; it appears nowhere as text */
export function QrCode({ text, label }: { text: string; label: string }) {
  const { data, size } = encode(text, { ecc: "M", border: QUIET_ZONE });
  const path = data
    .flatMap((row, y) => row.flatMap((isDark, x) => (isDark ? [`M${x} ${y}h1v1h-1z`] : [])))
    .join("");
  return (
    <svg
      class="qr-code"
      viewBox={`0 0 ${size} ${size}`}
      role="img"
      aria-label={label}
      shape-rendering="crispEdges"
    >
      <rect width={size} height={size} fill="#ffffff" />
      <path d={path} fill="#000000" />
    </svg>
  );
}
