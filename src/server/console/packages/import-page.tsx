// The import of a bundle into the catalog: the upload, and its plan before anything changes.
/** @jsxImportSource preact */
import type { ComponentChildren } from "preact";
import { BUNDLE_UPLOAD_BYTES_MAX } from "../../../domain/catalog/bundles/pending-bundles.ts";
import { type ImportPlan, isUnchanged, type PackageVersion } from "../../../domain/catalog/service.ts";
import { Hidden } from "../../pages/forms.tsx";
import type { ConsolePage } from "../frame/frame.tsx";
import { AsCommand } from "../parts/command.tsx";
import { ConsoleForm } from "../parts/form.tsx";
import { Count, Facts, Id, Size, Text, Time, useReader } from "../parts/values.tsx";
import { Refusal } from "./refusal.tsx";
import { CATALOG_PATH, IMPORT_PATH, PLAN_PATH } from "./words.ts";

/** Why a bundle was not accepted. */
export interface RefusedImport {
  error: string;
  problems: readonly { pointer: string; detail: string }[];
  status: number;
}

const BREADCRUMBS = [{ href: CATALOG_PATH, label: "Catalog" }] as const;

/** @param trust what was entered as trusted keys @returns the page with the form */
export function importPage({
  trust = "",
  refused,
}: {
  trust?: string;
  refused?: RefusedImport;
}): ConsolePage {
  return {
    title: "Import a bundle",
    breadcrumbs: BREADCRUMBS,
    isError: refused !== undefined,
    status: refused?.status ?? 200,
    content: (
      <>
        {refused && <Refusal {...refused} />}
        <p>
          A bundle is a catalog with its archives, signed where{" "}
          <code>quartermaster catalog export --bundle</code> wrote it. You see the plan before anything
          changes.
        </p>
        <ConsoleForm action={IMPORT_PATH} class="measure" isInParts isWatched>
          <Trust trust={trust} />
          <p>
            <label>
              <input type="checkbox" name="keep" value="yes" checked /> Keep packages that the bundle lacks
            </label>
          </p>
          <div class="field">
            <label for="file">Bundle</label>
            <p class="hint" id="file-hint">
              A file of at most <Size bytes={BUNDLE_UPLOAD_BYTES_MAX} />. It needs no network.
            </p>
            <input id="file" name="file" type="file" required aria-describedby="file-hint" />
          </div>
          <button class="button primary" type="submit">
            Upload and show the plan
          </button>
        </ConsoleForm>
        <AsCommand
          command={["catalog", "import", "BUNDLE", "--trust", "KEY.pub", "--keep", "--dry-run"]}
          api={{ method: "POST", path: "/admin/catalog/import?dry_run=true&keep=true&trust=KEY" }}
        />
      </>
    ),
  };
}

const Trust = ({ trust }: { trust: string }) => (
  <div class="field">
    <label for="trust">Public key of the installation that exported it</label>
    <p class="hint" id="trust-hint">
      <code>quartermaster catalog bundle-key</code> prints it there. Get it over a different channel than the
      bundle.
    </p>
    <textarea
      id="trust"
      name="trust"
      rows={4}
      required
      maxLength={TRUST_CHARACTERS}
      spellcheck={false}
      aria-describedby="trust-hint"
    >
      {trust}
    </textarea>
  </div>
);

/** Maximum number of keys: the old ones and the new one. */
const TRUST_CHARACTERS = 4_000;

/** A bundle that is kept until it is imported. */
export interface PendingImport {
  /** SHA-256 of the file */
  bundle: string;
  name: string;
  trust: string;
  keep: boolean;
}

interface PlanPageProps {
  kept: PendingImport;
  /** undefined if the bundle is refused */
  plan: ImportPlan | undefined;
  refused?: RefusedImport | undefined;
}

/** @returns the page with the plan, or with the reason why there is none */
export function planPage({ kept, plan, refused }: PlanPageProps): ConsolePage {
  const isBlocked = plan !== undefined && plan.blocked.length > 0;
  return {
    title: "What the bundle changes",
    breadcrumbs: [...BREADCRUMBS, { href: IMPORT_PATH, label: "Import a bundle" }],
    isError: refused !== undefined,
    status: refused?.status ?? 200,
    content: (
      <>
        {refused && <Refusal {...refused} />}
        {plan ? <Plan plan={plan} name={kept.name} /> : <KeyRetry kept={kept} />}
        <Apply kept={kept} mayApply={plan !== undefined && !isBlocked && !isUnchanged(plan)} />
      </>
    ),
  };
}

/** The file is stored, so a wrong key can be corrected without sending the file again. */
const KeyRetry = ({ kept: { bundle, name, trust, keep } }: Pick<PlanPageProps, "kept">) => (
  <form method="get" action={PLAN_PATH} class="measure">
    <Hidden name="bundle" value={bundle} />
    <Hidden name="name" value={name} />
    {keep && <Hidden name="keep" value="yes" />}
    <Trust trust={trust} />
    <button class="button" type="submit">
      Try with this key
    </button>
  </form>
);

function Plan({ plan, name }: { plan: ImportPlan; name: string }) {
  const { added, changed, removed, blocked, unchanged, fetches, warnings } = plan;
  return (
    <>
      <Facts
        facts={[
          { label: "Bundle", value: <Text value={name} /> },
          { label: "Signed by", value: <Id value={plan.signer} /> },
          { label: "Exported", value: <Time at={plan.exportedAt} /> },
          {
            label: "Archives",
            value: (
              <>
                <Count value={plan.archives.count} />, <Size bytes={plan.archives.sizeBytes} />,{" "}
                <Count value={plan.archives.new} /> new
              </>
            ),
          },
          { label: "Unchanged packages", value: <Count value={unchanged} /> },
        ]}
      />
      {isUnchanged(plan) && <p>The catalog already has this content, so there is nothing to import.</p>}
      <Part id="refused" title="Refused" items={blocked.map(blockedText)}>
        The current policy uses these packages, so the whole bundle is refused. Change the policy first, or
        keep packages that the bundle lacks.
      </Part>
      <Part id="added" title="Added" items={added.map(versionText)} />
      <Part
        id="changed"
        title="Changed"
        items={changed.map(({ from, to }) =>
          from.version === to.version
            ? `${to.id} ${to.version}, other content`
            : `${to.id} ${from.version} → ${to.version}`,
        )}
      />
      <Part id="removed" title="Removed" items={removed.map(versionText)} />
      <Part
        id="fetches"
        title="Downloads at run time"
        items={fetches.map(({ id, path, what }) => `${id}: ${path} ${what}`)}
      >
        The digest does not cover what these files download.
      </Part>
      <Part id="warnings" title="Warnings" items={warnings} />
    </>
  );
}

const versionText = ({ id, version }: PackageVersion): string => `${id} ${version}`;

const blockedText = ({ revision, ...entry }: ImportPlan["blocked"][number]): string =>
  `${versionText(entry)} is used by r${revision}`;

/** Number of names listed for one part. */
const LISTED = 200;

const Part = ({
  id,
  title,
  items,
  children,
}: {
  id: string;
  title: string;
  items: readonly string[];
  children?: ComponentChildren;
}) =>
  items.length === 0 ? null : (
    <section aria-labelledby={id}>
      <h2 id={id}>
        {title} (<Count value={items.length} />)
      </h2>
      {children && <p>{children}</p>}
      <ul>
        {items.slice(0, LISTED).map((item) => (
          <li key={item}>
            <Text value={item} />
          </li>
        ))}
      </ul>
      {items.length > LISTED && (
        <p>
          And <Count value={items.length - LISTED} /> more.
        </p>
      )}
    </section>
  );

function Apply({ kept, mayApply }: { kept: PendingImport; mayApply: boolean }) {
  if (!useReader().mayAdminister) return null;
  return (
    <ConsoleForm action={PLAN_PATH} class="choices">
      <Hidden name="bundle" value={kept.bundle} />
      <Hidden name="name" value={kept.name} />
      <Hidden name="trust" value={kept.trust} />
      {kept.keep && <Hidden name="keep" value="yes" />}
      {mayApply && (
        <button class="button primary" type="submit" name="act" value="import">
          Import
        </button>
      )}
      <button class="button" type="submit" name="act" value="drop">
        Discard the bundle
      </button>
    </ConsoleForm>
  );
}
