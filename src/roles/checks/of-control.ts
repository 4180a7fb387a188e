import type { Log } from '../../platform/log/log.ts'
import type { Area, FoundByChecks } from '../../resources/installation/installation-check.ts'
import type { ProcessContext } from '../process-context.ts'
import type { AsksOutside } from './run-checks.ts'

/** By then, the other roles run, or have a reason not to. */
const SAY_AFTER_MS = 60_000

/** Areas whose faults would otherwise show at night, when Stead uses what the operator chose. */
const AT_START: readonly Area[] = ['clock', 'storage', 'mail']

/** Runs the list on the machine of a control. */
export type OwnChecks = (asksOutside: AsksOutside) => Promise<FoundByChecks>

/** @param parts returns the names of the roles that run under one supervisor with the control */
export function checksOfControl(
  { config, database, sealer }: Pick<ProcessContext, 'config' | 'database' | 'sealer'>,
  parts: () => Readonly<Record<string, boolean>>,
): OwnChecks {
  return async (asksOutside) => {
    // Loaded late: nothing is checked before a start has succeeded.
    const { runChecks } = await import('./run-checks.ts')
    const running = new Set(['control', ...Object.keys(parts())])
    const records = { kind: 'open', database, sealer } as const
    const found = await runChecks({ config, records, running, asksOutside, now: Date.now })
    return { at: Date.now(), found }
  }
}

/** Logs the problems of this machine, its storage, and its mail server, a line for each, once the other roles have had time to start. */
export function logProblems(log: Log, check: OwnChecks, afterMs = SAY_AFTER_MS): void {
  const say = async () => {
    for (const { area, state, text, remedy } of (await check(AT_START)).found)
      if (state === 'problem' || state === 'warning') log.warn({ area, state, remedy }, text)
  }
  setTimeout(() => void say().catch((error) => log.warn({ err: error }, 'the checks failed')), afterMs).unref()
}
