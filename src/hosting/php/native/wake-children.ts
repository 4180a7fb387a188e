import { readFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'

const firstLookMs = 5
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
  for (let pauseMs = firstLookMs; atWork() > 0; pauseMs = Math.min(2 * pauseMs, longestPauseMs)) {
    await pause(pauseMs, undefined, { ref: false })
    if ((await countChildren(pid)) >= atWork()) continue
    const nudge = connect(socket, () => nudge.destroy())
    nudge.on('error', () => {})
  }
}

async function countChildren(pid: number): Promise<number> {
  const text = await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8').catch(() => '')
  return text.split(' ').filter(Boolean).length
}
