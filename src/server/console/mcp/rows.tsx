// The rows of an MCP server's form: arguments in their order, and variables. Every button sends the form, so it works
// without the script. Auditors get neither buttons nor the warning about what to enter.
/** @jsxImportSource preact */
import { HIDDEN } from "../../../domain/governance/shown/hidden-secrets.ts";
import { KEY_CHARACTERS_MAX } from "../../../platform/text/object-reader.ts";
import { Hidden } from "../../pages/forms.tsx";
import { useReader } from "../parts/values.tsx";
import type { RowAct, Variable } from "./entry.ts";

interface RowsProps {
  /** the row that was just moved or added, which gets the focus */
  moved: RowAct | undefined;
  /** rows that a server may have */
  max: number;
}

export function Arguments({ args, moved, max }: RowsProps & { args: readonly string[] }) {
  const { mayAdminister } = useReader();
  const focus = moved && focusAfter(moved, args.length);
  return (
    <fieldset>
      <legend>Arguments</legend>
      <Hidden name="args" value={String(args.length)} />
      <ol class="entry-rows">
        {args.map((value, at) => (
          // Arguments may repeat, so the position is the key.
          <li key={at}>
            <TextRow
              id={`arg${at}`}
              label={`Argument ${at + 1}`}
              value={value}
              hasFocus={isAdded(moved, "add_arg", at)}
            />
            <RowButton
              act="up"
              at={at}
              label={`Move argument ${at + 1} up`}
              isOff={at === 0}
              hasFocus={focus === `up:${at}`}
            >
              Up
            </RowButton>
            <RowButton
              act="down"
              at={at}
              label={`Move argument ${at + 1} down`}
              isOff={at === args.length - 1}
              hasFocus={focus === `down:${at}`}
            >
              Down
            </RowButton>
            <RowButton act="drop_arg" at={at} label={`Remove argument ${at + 1}`}>
              Remove
            </RowButton>
          </li>
        ))}
      </ol>
      {mayAdminister && args.length < max && (
        <button class="button quiet" type="submit" name="act" value={`add_arg:${args.length}`}>
          Add an argument
        </button>
      )}
      <p class="hint">An empty row is an empty argument. A server has at most {max}.</p>
    </fieldset>
  );
}

export function Variables({ variables, moved, max }: RowsProps & { variables: readonly Variable[] }) {
  const { mayAdminister } = useReader();
  return (
    <fieldset>
      <legend>Environment variables</legend>
      {mayAdminister && (
        <p class="warning">
          Workstations receive values in clear text, and their users can read them. Never enter a key or a
          token of the organization.
        </p>
      )}
      <Hidden name="variables" value={String(variables.length)} />
      <ul class="entry-rows">
        {variables.map(({ name, value, kept }, at) => (
          <li key={at}>
            <input
              id={`env_name${at}`}
              name={`env_name${at}`}
              value={name}
              aria-label={`Name of variable ${at + 1}`}
              placeholder="NAME"
              maxLength={KEY_CHARACTERS_MAX}
              autocomplete="off"
              spellcheck={false}
              autofocus={isAdded(moved, "add_env", at)}
            />
            {kept === undefined ? (
              <TextRow
                id={`env_value${at}`}
                label={`Value of variable ${at + 1}`}
                value={value}
                hasFocus={isAdded(moved, "show_env", at) || isAdded(moved, "new_env", at)}
              />
            ) : (
              <KeptValue at={at} kept={kept} />
            )}
            <RowButton act="drop_env" at={at} label={`Remove variable ${at + 1}`}>
              Remove
            </RowButton>
          </li>
        ))}
      </ul>
      {mayAdminister && variables.length < max && (
        <button class="button quiet" type="submit" name="act" value={`add_env:${variables.length}`}>
          Add a variable
        </button>
      )}
    </fieldset>
  );
}

/** A value that stays in the draft. The page has a reference to it instead. */
const KeptValue = ({ at, kept }: { at: number; kept: string }) => (
  <>
    <Hidden name={`env_kept${at}`} value={kept} />
    <span>
      {HIDDEN} {useReader().mayAdminister && <small>unchanged</small>}
    </span>
    <RowButton act="show_env" at={at} label={`Show the value of variable ${at + 1}`}>
      Show
    </RowButton>
    <RowButton act="new_env" at={at} label={`Replace the value of variable ${at + 1}`}>
      Replace
    </RowButton>
  </>
);

/** @returns the button that moves the row further in the same direction; at an end of the list, in the other direction */
function focusAfter({ kind, at }: RowAct, count: number): string | undefined {
  if (kind === "up") return at === 1 ? "down:0" : `up:${at - 1}`;
  if (kind === "down") return at + 1 === count - 1 ? `up:${at + 1}` : `down:${at + 1}`;
  return undefined;
}

const isAdded = (moved: RowAct | undefined, kind: RowAct["kind"], at: number): boolean =>
  moved?.kind === kind && moved.at === at;

interface TextRowProps {
  id: string;
  label: string;
  value: string;
  hasFocus?: boolean;
}

/** A value may have several lines. A browser ignores the first line end of a textarea. */
const TextRow = ({ id, label, value, hasFocus }: TextRowProps) => (
  <textarea
    id={id}
    name={id}
    rows={1}
    aria-label={label}
    autocomplete="off"
    spellcheck={false}
    autofocus={hasFocus}
  >
    {`\n${value}`}
  </textarea>
);

interface RowButtonProps {
  act: RowAct["kind"];
  at: number;
  label: string;
  children: string;
  isOff?: boolean;
  hasFocus?: boolean;
}

function RowButton({ act, at, label, children, isOff, hasFocus }: RowButtonProps) {
  if (!useReader().mayAdminister) return null;
  return (
    <button
      class="button quiet"
      type="submit"
      name="act"
      value={`${act}:${at}`}
      aria-label={label}
      disabled={isOff}
      autofocus={hasFocus}
    >
      {children}
    </button>
  );
}
