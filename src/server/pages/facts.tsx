// A short list of named facts, as the approval and account pages show them.
/** @jsxImportSource preact */
import type { ComponentChildren } from "preact";

/** One fact inside a `<dl class="facts">`. */
export const Fact = ({ name, children }: { name: string; children: ComponentChildren }) => (
  <div>
    <dt>{name}</dt>
    <dd>{children}</dd>
  </div>
);
