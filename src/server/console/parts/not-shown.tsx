// Tables with the effect of a policy show only some rows; the equivalent command prints all.
/** @jsxImportSource preact */

/** Maximum number of rows of such a table; thousands of rows would delay other requests. */
export const EXPLAINED_ROWS_MAX = 200;

export const NotShown = ({ total }: { total: number }) =>
  total > EXPLAINED_ROWS_MAX ? (
    <p>{total - EXPLAINED_ROWS_MAX} more are not shown here. The command below prints all of them.</p>
  ) : null;
