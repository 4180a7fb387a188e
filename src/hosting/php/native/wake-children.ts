import { connect } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { childrenOf } from '../wasm/process-tree.ts'

const firstLookMs = 5
/** Used while there seem to be enough children, because one may be about to end. */
const checkMs = 20
const longestPauseMs = 1000

/** A php-fpm that creates its children on demand. */
export interface FpmMaster {
  /** Process ID outside the sandbox. */
  readonly pid: number
  readonly socket: string
}

/**
 * Makes sure that a request gets a child. php-fpm creates one when it notices a connection while all are busy. Of
 * several simultaneous connections it notices only one, and it never makes up for one that arrives while a child is
 * about to end. The rest would wait until another request ends. So while there are fewer children than requests, this
 * notifies php-fpm again with a connection that sends nothing.
 * @param atWork returns the number of requests, or 0 when nobody waits for this one any longer
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
