import { setTimeout as pause } from 'node:timers/promises'
import { flushFileSystem } from '../../platform/files/flush-file-system.ts'

const LOOK_MS = 200
/** Large enough that a small change is flushed only once. */
const MUCH_BYTES = 64 << 20

/**
 * Flushes what long work writes while it runs, so that the flush at its end has little left to write. A GB takes
 * seconds.
 * @param writtenBytes returns how much it has written so far
 */
export async function flushingAlong<Result>(
  path: string,
  writtenBytes: () => number,
  work: Promise<Result>,
  flush: (path: string) => Promise<unknown> = flushFileSystem,
): Promise<Result> {
  let isDone = false
  const end = () => {
    isDone = true
  }
  const ended = work.then(end, end)
  let flushedBytes = 0
  while (!isDone) {
    await Promise.race([ended, pause(LOOK_MS, undefined, { ref: false })])
    const written = writtenBytes()
    if (isDone || written - flushedBytes < MUCH_BYTES) continue
    flushedBytes = written
    await flush(path)
  }
  return work
}
