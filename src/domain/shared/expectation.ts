// A condition on a record, checked in the transaction that changes it.

/** Called with the current record; throws if it differs from the record that the caller has read. */
export type Expectation<T> = (current: T) => void;
