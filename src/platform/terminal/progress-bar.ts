import { freshLine, type WordsOutput } from './fresh-line.ts'

/** The progress of work while a person waits. */
export interface Progress {
  /** For example `Downloading WordPress`. */
  readonly doing: string
  /** The source, if it matters. */
  readonly from?: string | undefined
  /** 0 if nothing is counted. */
  readonly receivedBytes: number
  /** `null` while it is unknown. */
  readonly totalBytes: number | null
}

const barWidth = 24
/** The width of the moving part in a bar whose total is unknown. */
const runnerWidth = 4
const redrawMs = 100
/** The interval for calls of `tick`. */
const TICK_MS = 250
/** Without a terminal, a new line appears before two silent seconds pass. */
const QUIET_MS = 1500
/** Work that takes longer shows its time. */
const LONG_SECONDS = 1

const megabytes = (bytes: number) => `${(bytes / 2 ** 20).toFixed(1)} MB`

/** Returns the work, an optional bar, known sizes, the source, and the time so far. */
export function progressText(
  { doing, from, receivedBytes, totalBytes }: Progress,
  seconds: number,
  hasBar: boolean,
): string {
  const share = totalBytes ? Math.min(receivedBytes / totalBytes, 1) : undefined
  const parts = [
    doing,
    hasBar &&
      (share === undefined ? barOf(placeOfRunner(seconds), runnerWidth) : barOf(0, Math.round(share * barWidth))),
    share !== undefined && `${Math.floor(share * 100)}%`,
    share !== undefined && totalBytes && `${megabytes(receivedBytes)} of ${megabytes(totalBytes)}`,
    share === undefined && receivedBytes > 0 && megabytes(receivedBytes),
    from && `from ${from}`,
    seconds >= LONG_SECONDS && `${Math.floor(seconds)} s`,
  ]
  return parts.filter(Boolean).join('  ')
}

const barOf = (from: number, length: number): string =>
  `[${'.'.repeat(from)}${'#'.repeat(length)}${'.'.repeat(barWidth - from - length)}]`

/** Returns the place of the moving part: one further with each tick, and back. */
function placeOfRunner(seconds: number): number {
  const places = barWidth - runnerWidth
  const step = Math.floor((seconds * 1000) / TICK_MS) % (2 * places)
  return step <= places ? step : 2 * places - step
}

/**
 * Passes on new phases, complete ones, and otherwise as many updates as are visible, because a download reports each
 * piece.
 */
export function everySoOften(
  show: (progress: Progress) => void,
  now: () => number = () => performance.now(),
): (progress: Progress) => void {
  let last: Progress | undefined
  let shownAt = Number.NEGATIVE_INFINITY
  return (progress) => {
    const isNew = progress.doing !== last?.doing || progress.from !== last.from
    const isWhole = progress.totalBytes !== null && progress.receivedBytes >= progress.totalBytes
    if (!isNew && !isWhole && now() - shownAt < redrawMs) return
    last = progress
    shownAt = now()
    show(progress)
  }
}

export interface ProgressBar {
  show(progress: Progress): void
  /** Repeats the state when it is due. */
  tick(): void
  /** Ends the bar, also after an error. Later output begins on a clean line, and nothing more is shown. */
  done(): void
}

/**
 * Shows progress on an output. On a terminal it redraws one line. Otherwise it prints one line per phase, and repeats
 * it during the phase.
 */
export function progressBar(output: WordsOutput, now: () => number = () => performance.now()): ProgressBar {
  let current: Progress | undefined
  let isDone = false
  let begunAt = 0
  let drawnAt = 0
  const draw = (progress: Progress) => {
    drawnAt = now()
    const text = progressText(progress, (now() - begunAt) / 1000, output.isTTY === true)
    // A wrapped line cannot be redrawn, and the last column makes some terminals wrap.
    const columns = (output.columns || 80) - 1
    output.write(output.isTTY ? `${freshLine(output)}${text.slice(0, columns)}` : `${text}\n`)
  }
  return {
    show(progress) {
      if (isDone) return
      const isNew = progress.doing !== current?.doing || progress.from !== current.from
      current = progress
      if (isNew) begunAt = now()
      if (isNew || output.isTTY) draw(progress)
    },
    tick() {
      if (current && (output.isTTY || now() - drawnAt >= QUIET_MS)) draw(current)
    },
    done() {
      if (current && output.isTTY) output.write(freshLine(output))
      current = undefined
      isDone = true
    },
  }
}

/** Creates a bar that updates automatically until it is done. */
export function livingBar(output: WordsOutput): ProgressBar {
  const bar = progressBar(output)
  const timer = setInterval(bar.tick, TICK_MS)
  timer.unref()
  return {
    ...bar,
    done() {
      clearInterval(timer)
      bar.done()
    },
  }
}
