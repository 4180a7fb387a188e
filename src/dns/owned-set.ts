import type { RecordSet } from './wire/record-data.ts'

/** A set of records as it appears in an answer. Below a wildcard, the owner is the name in the question. */
export interface OwnedSet {
  readonly owner: string
  readonly set: RecordSet
}
