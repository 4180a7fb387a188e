/** Messages that disappear after a while, unless the person is reading them. */
interface Lapse {
  left: number
  since: number
  timer: ReturnType<typeof setTimeout> | undefined
  end(): void
}

/** Long enough to read a sentence and reach the button. With an action, the minimum of WCAG 2.2.1. */
export const READ_MS = 8000
export const ACT_MS = 20_000

/** The time that remains after the person looks away again. */
const AGAIN_MS = 5000

const lapses = new Set<Lapse>()
const reasons = new Set<string>()

function start(lapse: Lapse): void {
  lapse.since = Date.now()
  lapse.timer = setTimeout(() => {
    lapses.delete(lapse)
    lapse.end()
  }, lapse.left)
}

/** Ends something when its time is over. The time stops while anything holds it. */
export function lapseAfter(ms: number, end: () => void): void {
  const lapse: Lapse = { left: ms, since: 0, timer: undefined, end }
  lapses.add(lapse)
  if (reasons.size === 0) start(lapse)
}

/** Holds all of them for a reason: the pointer or the focus is there, or the page is hidden. */
export function hold(reason: string, isHeld: boolean): void {
  const wasHeld = reasons.size > 0
  if (isHeld) reasons.add(reason)
  else reasons.delete(reason)
  if (wasHeld === reasons.size > 0) return
  for (const lapse of lapses)
    if (isHeld) {
      clearTimeout(lapse.timer)
      lapse.left = Math.max(AGAIN_MS, lapse.left - (Date.now() - lapse.since))
    } else start(lapse)
}
