// The values of the variables of MCP servers on pages about the policy: hidden until the reader asks for them with a parameter of the
// address, which works without a script.
/** @jsxImportSource preact */
import {
  hasVariables,
  hasVariablesAt,
  withHiddenSides,
} from "../../../domain/governance/shown/hidden-variables.ts";
import { addressWith } from "../list/address.ts";
import { useReader } from "../parts/values.tsx";
import type { Reader } from "../reader.ts";

const PARAMETER = "variables";
const SHOWN = "shown";

/** @returns the address of a page, with the values of variables */
export const withVariables = (url: URL): string => addressWith(url, { [PARAMETER]: SHOWN });

const areShown = ({ url }: Pick<Reader, "url">): boolean => url.searchParams.get(PARAMETER) === SHOWN;

/** @returns functions that hide values, unless the reader asked for them */
export function shownTo(reader: Pick<Reader, "url">) {
  const isWhole = areShown(reader);
  return {
    isHidden: !isWhole,
    /** @param names as for withHiddenSides */
    sides<Item extends { path: string }>(
      items: readonly Item[],
      names: Parameters<typeof withHiddenSides<Item>>[1],
    ): readonly Item[] {
      return isWhole ? items : items.map((item) => withHiddenSides(item, names));
    },
  };
}

interface VariablesProps {
  /** policies that the page shows */
  of?: readonly ({ document: object } | undefined)[];
  /** single places that it shows, with their values */
  sides?: readonly { path: string }[];
  /** address of the page, if it is the response to a form */
  path?: string;
}

/** Says that values are hidden, with a link that shows them; nothing for policies without variables. */
export function Variables({ of = [], sides = [], path }: VariablesProps) {
  const reader = useReader();
  const isNeeded =
    of.some((policy) => policy && hasVariables(policy.document)) ||
    sides.some(({ path: pointer, ...values }) =>
      Object.values(values).some((value) => hasVariablesAt(pointer, value)),
    );
  if (!isNeeded) return null;
  const url = path === undefined ? reader.url : new URL(path, reader.url);
  return (
    <p class="hint">
      {areShown(reader) ? (
        <>
          The values of the variables of MCP servers are shown.{" "}
          <a href={addressWith(url, { [PARAMETER]: undefined })}>Hide values</a>
        </>
      ) : (
        <>
          The values of the variables of MCP servers are hidden. <a href={withVariables(url)}>Show values</a>
        </>
      )}
    </p>
  );
}
