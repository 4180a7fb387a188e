/** Returns the beginning of an untrusted text as one line without control characters, which can be stored. */
export const shortLine = (text: string, length: number): string =>
  text
    .slice(0, length)
    .replace(/\p{Cc}+/gu, ' ')
    .toWellFormed()
