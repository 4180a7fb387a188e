/** Where words go: `process.stdout` and `process.stderr` are such. */
export interface WordsOutput {
  readonly isTTY?: boolean
  readonly columns?: number
  write(text: string): unknown
}

/**
 * What every line begins with. A progress bar stands in the last line of a terminal without an end of its own, and any process of
 * Stead may write there: whoever does wipes the line first, and the bar is drawn again below. Elsewhere nothing.
 */
export const freshLine = ({ isTTY }: Pick<WordsOutput, 'isTTY'>): string => (isTTY ? '\r\u001b[2K' : '')
