import type { PhpPool } from '../php/pool/pool.ts'
import type { PhpRuntime, PhpVersion } from '../php/runtime.ts'
import { embeddedKind } from '../site-database/database-kind.ts'
import type { SiteDirectories } from './site-directories.ts'
import { type Template, templateMarks } from './template.ts'
import { warmUp } from './warm-up.ts'

export interface MachineCodeParts {
  readonly runtime: Pick<PhpRuntime, 'machineCode' | 'containment'>
  readonly siteDirectories: Pick<SiteDirectories, 'makeThrowAway' | 'phpSite' | 'remove'>
  readonly pool: Pick<PhpPool, 'startSpare'>
}

/**
 * Keeps the machine code that V8 generates for a version of PHP, if there is none yet. Warms a process in a temporary
 * site directory and saves its code for all later processes.
 * @param signal ends it immediately, because nobody waits for its pages
 * @returns false when memory is short now, or when it was aborted
 */
export async function keepMachineCode(
  { runtime, siteDirectories, pool }: MachineCodeParts,
  template: Template,
  phpVersion: PhpVersion,
  signal: AbortSignal,
): Promise<boolean> {
  if (signal.aborted) return false
  const code = runtime.machineCode
  if (runtime.containment().runtimes[phpVersion] !== 'wasm' || !code?.isMissing(phpVersion)) return true
  const directory = await siteDirectories.makeThrowAway({ ...template, database: embeddedKind })
  try {
    if (signal.aborted) return false
    // This takes a few seconds, once. At low priority it would never finish on a busy machine.
    const site = siteDirectories.phpSite(directory, { phpVersion, address: templateMarks.address })
    const process = await pool.startSpare(site, { lowPriority: false, signal }).catch((error) => {
      if (signal.aborted) return undefined
      throw error
    })
    const stop = () => process?.stop(0)
    signal.addEventListener('abort', stop)
    try {
      if (!process?.machineCode || !(await warmUp(process, () => !signal.aborted))) return false
      await code.keep(phpVersion, await process.machineCode())
      return true
    } catch (error) {
      if (signal.aborted) return false
      throw error
    } finally {
      signal.removeEventListener('abort', stop)
      await stop()
    }
  } finally {
    await siteDirectories.remove(directory)
  }
}
