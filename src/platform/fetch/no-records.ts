const NO_RECORDS: ReadonlySet<string> = new Set(['ENODATA', 'ENOTFOUND'])

/** Returns whether the error code of a DNS query means an answer without records, as opposed to a failed query. */
export const meansNoRecords = (code: string): boolean => NO_RECORDS.has(code)
