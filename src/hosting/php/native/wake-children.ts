import { connect } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { childrenOf } from '../wasm/process-tree.ts'

const firstLookMs = 5
/** When there seem to be enough: one of them may be about to end. */
const checkMs = 20
const longestPauseMs = 1000

/** A php-fpm whose children are made when they are needed. */
export interface FpmMaster {
  /** As the machine counts. */
  readonly pid: number
  readonly socket: string
}

/**
 * Sees to it that a request gets a child. php-fpm makes one when it hears of a connection and all are at work; of several that come at the same
 * moment it hears once, and one that comes while a child is about to end it never makes up for: the rest would wait until another request is
 * done. So as long as there are fewer children than requests it is told again, by a connection that says nothing.
 * @param atWork how many requests there are; 0 when nobody waits for this one any more
 */
export async function wakeChildren({ pid, socket }: FpmMaster, atWork: () => number): Promise<void> {
  const areEnough = () => childrenOf(pid).length >= atWork()
  for (let pauseMs = areEnough() ? checkMs : firstLookMs; ; pauseMs = Math.min(4 * pauseMs, longestPauseMs)) {
    await pause(pauseMs, undefined, { ref: false })
    if (atWork() === 0) return
    if (areEnough()) continue
    const nudge = connect(socket, () => nudge.destroy())
    nudge.on('error', () => {})
  }
}
