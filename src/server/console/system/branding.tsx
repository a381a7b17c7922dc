// Logo and icon of the organization: previews on light and dark backgrounds, their upload, and addresses of images on other
// servers.
/** @jsxImportSource preact */
import type { NamedEntry } from "../../../domain/audit/reading/entry-document.ts";
import { IMAGE_BYTES_MAX, IMAGE_SIDE_MAX, type ImageKind } from "../../../domain/system/branding-image.ts";
import { BRANDING_URL_LENGTH_MAX, type Branding, toBranding } from "../../../domain/system/model.ts";
import type { Problem } from "../../../platform/errors.ts";
import { recordTag } from "../../http/conditional.ts";
import { ErrorSummary, Field, Hidden } from "../../pages/forms.tsx";
import { asSentence } from "../../pages/words.ts";
import type { ConsolePage } from "../frame/frame.tsx";
import { CONSOLE } from "../frame/navigation.ts";
import { AsCommand, options } from "../parts/command.tsx";
import { ConsoleForm } from "../parts/form.tsx";
import { numberText } from "../parts/texts.ts";
import { Text, Time, useReader } from "../parts/values.tsx";

export const BRANDING_PATH = `${CONSOLE}/branding`;
/** Name of the field with the image. */
const FILE_FIELD = "file";

/** @returns the version of the branding that a form was made from */
export const versionOf = (branding: Branding): string => recordTag(toBranding(branding));

/** @returns the path that an image is sent to */
export const uploadPath = (kind: ImageKind): string => `${BRANDING_PATH}/${kind}`;

interface BrandingProps {
  branding: Branding;
  /** the entered values, if they were refused */
  entered?: Branding;
  problems?: readonly Problem[];
  /** of a refused image, or of a form that was made before a change */
  status?: number;
  /** the change that was made after the page of the form was opened */
  change?: Pick<NamedEntry, "actorLabel" | "atMs"> | undefined;
  /** the image that the refused form uploads */
  kind?: ImageKind | undefined;
}

export const brandingPage = ({
  branding,
  entered = branding,
  problems = [],
  status = 400,
  change,
  kind,
}: BrandingProps): ConsolePage => ({
  title: "Branding",
  isError: problems.length > 0 || change !== undefined,
  ...((problems.length > 0 || change) && { status }),
  content: (
    <>
      {change && <Changed branding={branding} change={change} kind={kind} />}
      <ErrorSummary error={problems[0] && asSentence(summaryOf(problems[0]))} />
      <Image kind="logo" branding={branding} problems={problems} />
      <Image kind="icon" branding={branding} problems={problems} />
      <Addresses branding={entered} version={versionOf(branding)} problems={problems} isRefused={!!change} />
    </>
  ),
});

/** Shows both values, so that the reader can choose. */
const Changed = ({ branding, change, kind }: Pick<BrandingProps, "branding" | "change" | "kind">) => (
  <div class="error-summary" role="alert" tabIndex={-1} autofocus>
    <p>
      <Text value={change?.actorLabel} /> changed the branding <Time at={change?.atMs} />, after you opened
      this page. Your {kind ?? "changes"} {kind ? "was" : "were"} not saved.{" "}
      {kind
        ? `To replace the ${kind} below, upload yours again. The addresses are now:`
        : "Save again to replace these addresses with those in the form:"}
    </p>
    <ul>
      {FIELDS.map(({ name, label, member }) => (
        <li key={name}>
          {label}: <Text value={branding[member]} none="none" />
        </li>
      ))}
    </ul>
  </div>
);

function summaryOf({ pointer, detail }: Problem): string {
  if (pointer === "/logo_url") return `The address of the logo ${detail}`;
  return pointer === "/favicon_url" ? `The address of the icon ${detail}` : detail;
}

const IMAGES = {
  logo: {
    title: "Logo",
    where: "Pages show it in the header, even before sign-in.",
    none: "The organization has no logo of its own, so pages show the one of this program.",
  },
  icon: {
    title: "Icon",
    where: "Browsers show it in tabs and bookmarks.",
    none: "The organization has no icon of its own, so browsers show the one of this program.",
  },
} as const;

interface ImageProps {
  kind: ImageKind;
  branding: Branding;
  problems: readonly Problem[];
}

function Image({ kind, branding, problems }: ImageProps) {
  const { mayAdminister } = useReader();
  const address = kind === "logo" ? branding.logoUrl : branding.faviconUrl;
  const { title, where, none } = IMAGES[kind];
  return (
    <section aria-labelledby={`${kind}-title`}>
      <h2 id={`${kind}-title`}>{title}</h2>
      <p>{address === null ? none : where}</p>
      {address !== null && (
        <div class="cards">
          {(["light", "dark"] as const).map((scheme) => (
            <div key={scheme} class={`card on-${scheme}`}>
              <img
                class={kind === "icon" ? "preview small" : "preview"}
                src={address}
                alt={`The ${kind} on a ${scheme} page`}
              />
            </div>
          ))}
        </div>
      )}
      {mayAdminister && (
        <Upload
          kind={kind}
          version={versionOf(branding)}
          error={problems.find(({ pointer }) => pointer === `/${kind}`)?.detail}
        />
      )}
    </section>
  );
}

interface UploadProps {
  kind: ImageKind;
  version: string;
  error: string | undefined;
}

function Upload({ kind, version, error }: UploadProps) {
  const { language } = useReader();
  const side = numberText(IMAGE_SIDE_MAX, language);
  return (
    <ConsoleForm action={uploadPath(kind)} class="measure" isInParts>
      <Hidden name="version" value={version} />
      <Field
        id={kind}
        label={`Upload ${kind === "logo" ? "a logo" : "an icon"}`}
        hint={`PNG or SVG, at most ${IMAGE_BYTES_MAX / 1024} KiB; a PNG of at most ${side} by ${side} pixels. It is stored here and needs no other server.`}
        error={error}
      >
        {(described) => (
          <input {...described} type="file" name={FILE_FIELD} accept="image/png,image/svg+xml" required />
        )}
      </Field>
      <button class="button" type="submit">
        Upload
      </button>
      <AsCommand
        command={["branding", "upload", kind, kind === "logo" ? "logo.svg" : "icon.png"]}
        api={{ method: "PUT", path: `/admin/branding/${kind}` }}
      />
    </ConsoleForm>
  );
}

const FIELDS = [
  { name: "logo_url", label: "Address of the logo", member: "logoUrl" },
  { name: "favicon_url", label: "Address of the icon", member: "faviconUrl" },
] as const;

interface AddressesProps {
  branding: Branding;
  version: string;
  problems: readonly Problem[];
  isRefused: boolean;
}

function Addresses({ branding, version, problems, isRefused }: AddressesProps) {
  const { mayAdminister } = useReader();
  if (!mayAdminister)
    return (
      <section>
        <h2>Addresses</h2>
        {FIELDS.map(({ name, label, member }) => (
          <p key={name}>
            {label}: <Text value={branding[member]} none="none" />
          </p>
        ))}
        <AddressesCommand branding={branding} />
      </section>
    );
  return (
    <section>
      <h2>Addresses</h2>
      <p>
        An uploaded image has an address of this service. Browsers load any other https address from their own
        network. An empty field clears the address.
      </p>
      <ConsoleForm
        action={BRANDING_PATH}
        class="measure"
        edits={isRefused || problems.length > 0 ? "refused" : "saved"}
      >
        <Hidden name="version" value={version} />
        {FIELDS.map(({ name, label, member }) => (
          <Field
            key={name}
            id={name}
            label={label}
            error={problems.find(({ pointer }) => pointer === `/${name}`)?.detail}
          >
            {(described) => (
              <input
                {...described}
                type="url"
                name={name}
                value={branding[member] ?? ""}
                maxLength={BRANDING_URL_LENGTH_MAX}
                placeholder="https://"
              />
            )}
          </Field>
        ))}
        <button class="button primary" type="submit">
          Save
        </button>
      </ConsoleForm>
      <AddressesCommand branding={branding} />
    </section>
  );
}

const AddressesCommand = ({ branding }: Pick<BrandingProps, "branding">) => (
  <AsCommand
    command={[
      "branding",
      "apply",
      ...options({ "logo-url": branding.logoUrl, "icon-url": branding.faviconUrl }),
    ]}
    api={{ method: "PUT", path: "/admin/branding", body: toBranding(branding) }}
  />
);
