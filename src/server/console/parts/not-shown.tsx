// Tables with the effect of a policy show some rows; the equivalent command prints all of them.
/** @jsxImportSource preact */

/** Maximum number of rows of such a table; thousands of rows would delay other requests. */
export const EXPLAINED_ROWS_MAX = 200;

/** States below the table how many rows are not shown. */
export const NotShown = ({ total }: { total: number }) =>
  total > EXPLAINED_ROWS_MAX ? (
    <p>{total - EXPLAINED_ROWS_MAX} more are not shown here. The command below prints all of them.</p>
  ) : null;
