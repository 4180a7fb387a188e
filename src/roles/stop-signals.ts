import { complain } from '../platform/terminal/complain.ts'

/** What asks a process to end; SIGHUP comes from a terminal that is closed. */
const stopSignals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const
/** Exit code of what Ctrl-C has cut off, as shells have it. */
export const CUT_OFF = 130
/** One Ctrl-C reaches a process several times: from the terminal, from npm, and by way of the launcher. */
const SAME_PRESS_MS = 1000

/**
 * Calls `stop` at the first signal. Who presses Ctrl-C once more does not want to wait any longer: then `endNow` is called.
 * Signals besides that change nothing.
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
 * For a part that has a supervisor: stopping is that one's. A terminal, or systemd by default, gives the signal to every process;
 * edges would then ask a host that is about to end. The parts wait for the order, or for the end of the supervisor.
 */
export function onOrder(stop: (reason: string) => void): void {
  for (const signal of stopSignals) process.on(signal, () => {})
  process.on('message', (message: StopOrder) => {
    if (message.stop) stop('supervisor is stopping')
  })
  // nobody would restart or stop this process any more
  const orphaned = () => stop('supervisor stopped')
  process.on('disconnect', orphaned)
  if (!process.connected) orphaned()
}

/** The message by which a supervisor stops a part. */
export interface StopOrder {
  readonly stop?: boolean
}
