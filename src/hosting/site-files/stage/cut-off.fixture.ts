import fs from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

// biome-ignore lint/suspicious/noExplicitAny: functions of whatever signature
type AnyFunction = (...given: any[]) => unknown
type Holder = Record<string, AnyFunction>

/** All functions that change the disk here. Opening counts when it creates a file. */
const CHANGING: readonly [holder: object, names: readonly string[]][] = [
  [
    fs,
    ['renameSync', 'mkdirSync', 'unlinkSync', 'symlinkSync', 'chmodSync', 'utimesSync', 'lutimesSync', 'lchownSync'],
  ],
  [fs, ['fchmodSync', 'fchownSync', 'futimesSync', 'copyFileSync', 'write']],
  [fs.promises, ['rename', 'unlink', 'rmdir', 'chmod']],
]

/** The error that a disk reports instead of its `at`th change. If cut off, all later changes fail with it. */
export interface Fault {
  readonly at: number
  readonly kind: 'cut off' | 'disk full'
}

/**
 * Runs work in which one change of the disk fails. If cut off, all later changes fail too, as if the process had been
 * killed.
 * @returns whether the work got that far
 */
export async function withFault(fault: Fault, work: () => Promise<unknown>): Promise<boolean> {
  let count = 0
  const strike = () => {
    count++
    if (count < fault.at || (count > fault.at && fault.kind === 'disk full')) return
    throw Object.assign(new Error(`${fault.kind} at ${fault.at}`), fault.kind === 'disk full' && { code: 'ENOSPC' })
  }
  const undo = await patch(strike)
  try {
    await work()
  } catch (error) {
    if (count < fault.at) throw error
  } finally {
    undo()
  }
  return count >= fault.at
}

async function patch(strike: () => void): Promise<() => void> {
  const undoing: (() => void)[] = []
  const replace = (holder: object, name: string, isMeant: (given: unknown[]) => boolean = () => true) => {
    const real = (holder as Holder)[name] as AnyFunction
    const isAsync = holder !== fs
    ;(holder as Holder)[name] = function (this: unknown, ...given: unknown[]) {
      try {
        if (isMeant(given)) strike()
      } catch (error) {
        if (isAsync) return Promise.reject(error)
        throw error
      }
      return real.apply(this, given)
    }
    undoing.push(() => {
      ;(holder as Holder)[name] = real
    })
  }
  const handle = await fs.promises.open(join(tmpdir(), `stead-prototype-${process.pid}`), 'w')
  await handle.close()
  fs.rmSync(join(tmpdir(), `stead-prototype-${process.pid}`))
  replace(Object.getPrototypeOf(handle), 'writeFile')
  const isToWrite = ([, flags]: unknown[]) => typeof flags === 'string' && flags.startsWith('w')
  replace(fs.promises, 'open', isToWrite)
  replace(fs, 'openSync', isToWrite)
  for (const [holder, names] of CHANGING) for (const name of names) replace(holder, name)
  syncBuiltinESMExports()
  return () => {
    for (const undo of undoing.reverse()) undo()
    syncBuiltinESMExports()
  }
}
