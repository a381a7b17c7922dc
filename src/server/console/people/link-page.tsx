// Shows a secret link once, in the response to the form that created it. No address contains the link, and the page is not
// cached.
/** @jsxImportSource preact */
import type { ConsolePage } from "../frame/frame.tsx";
import { Copy, Time } from "../parts/values.tsx";

export interface OnceLink {
  title: string;
  /** what the link is for, and for whom */
  children: string;
  link: string;
  expiresAtMs: number;
  back: { href: string; label: string };
}

/** @returns the page with the link */
export const linkPage = ({ title, children, link, expiresAtMs, back }: OnceLink): ConsolePage => ({
  title,
  breadcrumbs: [back],
  content: (
    <>
      <p>{children} The link is shown only now. Quartermaster sends no mail: send it yourself.</p>
      <div class="example">
        <pre>{link}</pre>
        <Copy text={link} what="link" />
      </div>
      <p>
        It works once, until <Time at={expiresAtMs} />. Anyone who has the link can use it.
      </p>
      <p>
        <a href={back.href}>Back</a>
      </p>
    </>
  ),
});
