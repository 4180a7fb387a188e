import { complain } from '../platform/terminal/complain.ts'

/** The signals that ask a process to end. SIGHUP comes from a terminal that is closed. */
const stopSignals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const
/** The exit code after Ctrl-C, as in shells. */
export const CUT_OFF = 130
/** One Ctrl-C reaches a process several times: from the terminal, from npm, and through the launcher. */
const SAME_PRESS_MS = 1000

/**
 * Calls `stop` at the first signal. A second Ctrl-C means that the user does not want to wait any longer, and calls
 * `endNow`. Ignores further signals.
 */
export function onStopSignals(stop: (reason: string) => void, endNow: () => void): void {
  let pressedMs: number | undefined
  const take = (signal: string) => {
    if (pressedMs === undefined) {
      pressedMs = performance.now()
      if (signal === 'SIGINT')
        complain('Stopping. Running work finishes first. Press Ctrl-C again to stop immediately.')
      stop(signal)
    } else if (signal === 'SIGINT' && performance.now() - pressedMs > SAME_PRESS_MS) {
      complain('Stopped immediately. Running work was interrupted.')
      endNow()
    }
  }
  for (const signal of stopSignals) process.on(signal, take)
}

/**
 * Ends the process at Ctrl-C, and says so. For a start, which has no work in progress.
 * @returns a function that stops handling it
 */
export function endAtCtrlC(): () => void {
  const end = () => {
    complain('Stopped before Stead has started.')
    process.exit(CUT_OFF)
  }
  process.on('SIGINT', end)
  return () => process.off('SIGINT', end)
}

/**
 * Handles stop orders in a process that has a supervisor, which decides when it stops. A terminal, or systemd by
 * default, sends the signal to every process, and edges would then use a host that is about to end. So the processes
 * wait for the order, or for the end of the supervisor.
 */
export function onOrder(stop: (reason: string) => void): void {
  for (const signal of stopSignals) process.on(signal, () => {})
  process.on('message', (message: StopOrder) => {
    if (message.stop) stop('supervisor is stopping')
  })
  // No supervisor would restart or stop this process any longer.
  const orphaned = () => stop('supervisor stopped')
  process.on('disconnect', orphaned)
  if (!process.connected) orphaned()
}

/** The message with which a supervisor stops a process. */
export interface StopOrder {
  readonly stop?: boolean
}
