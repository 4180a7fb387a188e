import type { PhpPool } from '../php/pool/pool.ts'
import type { PhpRuntime, PhpVersion } from '../php/runtime.ts'
import type { SiteDirectories } from './site-directories.ts'
import { type Template, templateMarks } from './template.ts'
import { warmUp } from './warm-up.ts'

export interface MachineCodeParts {
  readonly runtime: Pick<PhpRuntime, 'machineCode' | 'containment'>
  readonly siteDirectories: Pick<SiteDirectories, 'makeThrowAway' | 'phpSite' | 'remove'>
  readonly pool: Pick<PhpPool, 'startSpare'>
}

/**
 * Where nothing is kept yet of what V8 makes of a version of PHP: warms a process in a site directory that is nobody's, and has it leave
 * that to all that start later.
 * @param signal ends it at once: who stops does not wait for pages that nobody reads
 * @returns false: not now, since there is no memory for it, or it was to end
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
  const directory = await siteDirectories.makeThrowAway({ ...template, database: 'sqlite' })
  try {
    if (signal.aborted) return false
    // some seconds, once: behind all others they would never come to an end on a busy machine
    const process = await pool.startSpare(
      siteDirectories.phpSite(directory, { phpVersion, address: templateMarks.address }),
      {
        lowPriority: false,
      },
    )
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
