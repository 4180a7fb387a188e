import type { CoreProgress } from './core-source.ts'

const barWidth = 24
const redrawMs = 100

const doing: Record<CoreProgress['phase'], string> = {
  resolving: 'Looking for WordPress',
  downloading: 'Downloading WordPress',
  verifying: 'Verifying WordPress',
  unpacking: 'Unpacking WordPress',
}

const megabytes = (bytes: number) => `${(bytes / 2 ** 20).toFixed(1)} MB`

/** One line for a terminal, at most `columns` wide: what is being done, a bar where the whole is known, sizes, the source. */
export function progressLine(progress: CoreProgress, columns: number): string {
  const { phase, receivedBytes, totalBytes, source } = progress
  const share = totalBytes ? Math.min(receivedBytes / totalBytes, 1) : undefined
  const filled = Math.round((share ?? 0) * barWidth)
  const parts = [
    doing[phase],
    share !== undefined && `[${'#'.repeat(filled)}${'.'.repeat(barWidth - filled)}] ${Math.floor(share * 100)}%`,
    share !== undefined && totalBytes && `${megabytes(receivedBytes)} of ${megabytes(totalBytes)}`,
    share === undefined && receivedBytes > 0 && megabytes(receivedBytes),
    `from ${source}`,
  ]
  // A line that wraps cannot be drawn over; the last column makes some terminals wrap.
  return parts
    .filter(Boolean)
    .join('  ')
    .slice(0, Math.max(columns - 1, 0))
}

/** The line that tells of a phase's beginning where there is no terminal to draw on. */
export function phaseLine({ phase, source, totalBytes }: CoreProgress): string {
  return `${doing[phase]}${totalBytes ? ` (${megabytes(totalBytes)})` : ''} from ${source}`
}

/** Where a progress bar is drawn: a `WriteStream` such as process.stderr is one. */
export interface ProgressOutput {
  readonly isTTY?: boolean
  readonly columns?: number
  write(text: string): unknown
}

/**
 * Shows progress on an output: one line drawn over and over on a terminal, else one line a phase. Call `done` at the end,
 * also after an error, so that what is printed next starts on a clean line.
 */
export function progressBar(output: ProgressOutput, now: () => number = () => performance.now()) {
  let lastPhase = ''
  let drawnAt = Number.NEGATIVE_INFINITY
  return {
    show(progress: CoreProgress): void {
      const phase = `${progress.source} ${progress.phase}`
      const isNew = phase !== lastPhase
      lastPhase = phase
      if (!output.isTTY) {
        if (isNew) output.write(`${phaseLine(progress)}\n`)
        return
      }
      const isWhole = progress.totalBytes !== null && progress.receivedBytes >= progress.totalBytes
      if (!isNew && !isWhole && now() - drawnAt < redrawMs) return
      drawnAt = now()
      output.write(`\r\u001b[2K${progressLine(progress, output.columns ?? 80)}`)
    },
    done(): void {
      if (output.isTTY && lastPhase) output.write('\r\u001b[2K')
      lastPhase = ''
    },
  }
}
