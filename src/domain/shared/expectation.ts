// What a caller expects of a record that is about to change.

/** Called with the record in the transaction that changes it; throws where the record is not what the caller has read. */
export type Expectation<T> = (current: T) => void;
