import { freshLine, type WordsOutput } from './fresh-line.ts'

/** What is being done while somebody waits. */
export interface Progress {
  /** `Downloading WordPress` */
  readonly doing: string
  /** Where from, where that counts. */
  readonly from?: string | undefined
  /** 0 where nothing is counted. */
  readonly receivedBytes: number
  /** `null` while it is not known. */
  readonly totalBytes: number | null
}

const barWidth = 24
/** What moves to and fro in a bar of which the whole is not known. */
const runnerWidth = 4
const redrawMs = 100
/** How often `tick` is to be called. */
const TICK_MS = 250
/** Without a terminal what goes on says so before anybody wonders for two seconds. */
const QUIET_MS = 1500
/** What takes longer says how long. */
const LONG_SECONDS = 1

const megabytes = (bytes: number) => `${(bytes / 2 ** 20).toFixed(1)} MB`

/** What is being done, a bar where it is wanted, sizes where they are known, the source, and how long it has taken so far. */
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

/** One place further with each tick, and back. */
function placeOfRunner(seconds: number): number {
  const places = barWidth - runnerWidth
  const step = Math.floor((seconds * 1000) / TICK_MS) % (2 * places)
  return step <= places ? step : 2 * places - step
}

/** Hands on what is new, what is whole, and of the rest as much as can be seen: a download tells of each of its pieces. */
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
  /** Says again what goes on, where that is due. */
  tick(): void
  /** At the end, also after an error: what is printed next starts on a clean line, and nothing is shown any more. */
  done(): void
}

/** Shows progress on an output: one line drawn over and over on a terminal, else one line a phase, and again while it lasts. */
export function progressBar(output: WordsOutput, now: () => number = () => performance.now()): ProgressBar {
  let current: Progress | undefined
  let isDone = false
  let begunAt = 0
  let drawnAt = 0
  const draw = (progress: Progress) => {
    drawnAt = now()
    const text = progressText(progress, (now() - begunAt) / 1000, output.isTTY === true)
    // a line that wraps cannot be drawn over; the last column makes some terminals wrap
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

/** A bar that speaks up by itself until it is done. */
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
