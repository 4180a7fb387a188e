import { setTimeout as pause } from 'node:timers/promises'
import { isLost } from '../../platform/db/open-fault.ts'
import { OperatorError } from '../../platform/operator-error.ts'
import type { RunningRole } from '../process-context.ts'

const AGAIN_MS = 1000

export interface AwayParts<Joined> {
  readonly untilBack: Promise<void>
  /** Makes this process the host again. May run several times. */
  readonly join: () => Promise<Joined>
  /** Starts everything that needs the database. */
  readonly start: (joined: Joined) => Promise<RunningRole>
  /** Ends what serves visitors, if nothing else was started. */
  readonly stop: () => Promise<void>
}

/** Returns a role that serves visitors now, and starts the rest when the database is back. */
export function runWhileAway<Joined>(parts: AwayParts<Joined>): RunningRole {
  const fault = Promise.withResolvers<OperatorError>()
  let isStopping = false
  let isBack = false
  const join = async (): Promise<{ readonly joined: Joined } | undefined> => {
    await parts.untilBack
    isBack = true
    while (!isStopping) {
      try {
        return { joined: await parts.join() }
      } catch (error) {
        // It is away again.
        if (!isLost(error)) throw error
      }
      await pause(AGAIN_MS)
    }
    return undefined
  }
  const started = join().then((done) => done && parts.start(done.joined))
  started.then(
    (role) => role?.fault?.then(fault.resolve),
    (error: Error) => {
      const refusal = new OperatorError(`The host could not start: ${error.message}`, { cause: error, exitCode: 1 })
      fault.resolve(error instanceof OperatorError ? error : refusal)
    },
  )
  return {
    fault: fault.promise,
    async stop() {
      isStopping = true
      // Before, the start may wait for the database forever.
      const role = isBack ? await started.catch(() => undefined) : undefined
      await (role ? role.stop() : parts.stop())
    },
  }
}
