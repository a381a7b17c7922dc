// Shows a secret link once, in the response to the form that created it. No address contains the link, and the page is not
// cached.
/** @jsxImportSource preact */
import type { ConsolePage } from "../frame/frame.tsx";
import { endedSecretPage, SHOWN_ONCE } from "../parts/shown-once.tsx";
import { Copy, Time } from "../parts/values.tsx";

export interface OnceLink {
  title: string;
  /** what the link is for, and for whom */
  children: string;
  link: string;
  expiresAtMs: number;
  back: { href: string; label: string };
}

export const linkPage = ({ title, children, link, expiresAtMs, back }: OnceLink): ConsolePage => ({
  title,
  breadcrumbs: [back],
  content: (
    <>
      <p>{children} Quartermaster sends no mail: copy the link now and send it yourself.</p>
      <div class="example">
        <pre>{link}</pre>
        <Copy text={link} what="link" />
      </div>
      <p>
        It works once, until <Time at={expiresAtMs} />. Anyone who has the link can use it. {SHOWN_ONCE}
      </p>
      <p>
        <a href={back.href}>Back</a>
      </p>
    </>
  ),
});

/** @returns the page of a form that was sent again after its link had ended */
export const endedLinkPage = ({ title, back }: Pick<OnceLink, "title" | "back">): ConsolePage =>
  endedSecretPage({
    title,
    breadcrumbs: [back],
    children: (
      <>
        <p>
          This form made a link earlier, and that link no longer works: it was used, canceled or replaced by
          another one, or it has expired. It is not shown, and no other link was made.
        </p>
        <p>
          To make another link, start again from <a href={back.href}>{back.label}</a>.
        </p>
      </>
    ),
  });
