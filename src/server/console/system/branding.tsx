// Logo and icon of the organization: their addresses, and how they look on light and on dark pages.
/** @jsxImportSource preact */
import { BRANDING_URL_LENGTH_MAX, type Branding } from "../../../domain/system/model.ts";
import type { Problem } from "../../../platform/errors.ts";
import { ErrorSummary, Field } from "../../pages/forms.tsx";
import type { ConsolePage } from "../frame/frame.tsx";
import { CONSOLE } from "../frame/navigation.ts";
import { AsCommand } from "../parts/command.tsx";
import { ConsoleForm } from "../parts/form.tsx";
import { Text, useReader } from "../parts/values.tsx";

export const BRANDING_PATH = `${CONSOLE}/branding`;

interface BrandingProps {
  branding: Branding;
  /** what was entered, if it was refused */
  entered?: Branding;
  problems?: readonly Problem[];
}

/** @returns the page of the branding */
export const brandingPage = ({
  branding,
  entered = branding,
  problems = [],
}: BrandingProps): ConsolePage => ({
  title: "Branding",
  isError: problems.length > 0,
  ...(problems.length > 0 && { status: 400 }),
  content: (
    <>
      <ErrorSummary error={problems[0] && `${nameOf(problems[0])} ${problems[0].detail}`} />
      <Preview branding={branding} />
      <Addresses branding={entered} problems={problems} />
      <AsCommand
        api={{
          method: "PUT",
          path: "/admin/branding",
          body: { logo_url: branding.logoUrl, favicon_url: branding.faviconUrl },
        }}
      />
    </>
  ),
});

const nameOf = ({ pointer }: Problem): string =>
  pointer === "/favicon_url" ? "The address of the icon" : "The address of the logo";

const Preview = ({ branding: { logoUrl } }: { branding: Branding }) => (
  <section>
    <h2>Preview</h2>
    {logoUrl === null ? (
      <p>The organization has no logo of its own, so pages show the one of this program.</p>
    ) : (
      <div class="cards">
        {(["light", "dark"] as const).map((scheme) => (
          <div key={scheme} class={`card on-${scheme}`}>
            <img class="preview" src={logoUrl} alt={`The logo on a ${scheme} page`} />
          </div>
        ))}
      </div>
    )}
  </section>
);

const FIELDS = [
  { name: "logo_url", label: "Address of the logo", member: "logoUrl" },
  { name: "favicon_url", label: "Address of the icon", member: "faviconUrl" },
] as const;

function Addresses({ branding, problems }: { branding: Branding; problems: readonly Problem[] }) {
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
      </section>
    );
  return (
    <section>
      <h2>Addresses</h2>
      <p>
        An https address is read by the browser of everybody who signs in, so it needs their network. An empty
        field clears the address.
      </p>
      <ConsoleForm action={BRANDING_PATH}>
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
    </section>
  );
}
