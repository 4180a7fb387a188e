import { execFile } from 'node:child_process'
import { setTimeout as pause } from 'node:timers/promises'
import { promisify } from 'node:util'

const run = promisify(execFile)

/** Some hundred small files reach the disk with one call (syncfs) instead of one each. */
export async function flushFileSystem(path: string): Promise<void> {
  await run('sync', ['-f', path]).catch(() => {})
}

const LOOK_MS = 200
/** Seldom enough that a small change is flushed once. */
const MUCH_BYTES = 64 << 20

/**
 * What long work writes reaches the disk while it goes on, so that the flush at its end has little left to wait for: a GB takes seconds.
 * @param writtenBytes how much it has written by now
 */
export async function flushingAlong<Result>(
  path: string,
  writtenBytes: () => number,
  work: Promise<Result>,
  flush = flushFileSystem,
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
