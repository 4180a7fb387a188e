import { setTimeout as pause } from 'node:timers/promises'
import { DatabaseLost } from '../../platform/db/open-fault.ts'
import { complain } from '../../platform/terminal/complain.ts'

/** The time for which a start waits for its database server. */
const WAIT_S = 60
const AGAIN_MS = 500

export interface Waiting {
  readonly waitMs?: number
  readonly againMs?: number
  /** Called once, when the wait begins. */
  readonly say?: (text: string) => void
}

/**
 * Retries `open` while the database server is unreachable, because a booting machine starts its programs in any order.
 * @throws DatabaseLost when the time is over, or any other error of `open` at once
 */
export async function untilReachable<Opened>(
  open: () => Promise<Opened>,
  { waitMs = WAIT_S * 1000, againMs = AGAIN_MS, say = complain }: Waiting = {},
): Promise<Opened> {
  const giveUpAt = performance.now() + waitMs
  let hasSaid = false
  for (;;) {
    try {
      return await open()
    } catch (error) {
      if (!(error instanceof DatabaseLost)) throw error
      const isOver = performance.now() >= giveUpAt
      const waited = `Stead waited ${Math.round(waitMs / 1000)} s. `
      if (isOver) throw new DatabaseLost(`${waited}${error.message}`, { cause: error, exitCode: 1 })
      if (!hasSaid) say(`${error.message} Stead retries for ${Math.round(waitMs / 1000)} s.`)
      hasSaid = true
    }
    await pause(againMs)
  }
}
