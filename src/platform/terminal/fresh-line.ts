/** A text output, such as `process.stdout` and `process.stderr`. */
export interface WordsOutput {
  readonly isTTY?: boolean
  readonly columns?: number
  write(text: string): unknown
}

/**
 * Returns the beginning of every line. A progress bar is in the last line of a terminal, without a line end, and any
 * process of Stead may write there. The writer clears the line first, and the bar is redrawn below. Empty elsewhere.
 */
export const freshLine = ({ isTTY }: Pick<WordsOutput, 'isTTY'>): string => (isTTY ? '\r\u001b[2K' : '')
