import type { Config } from '../../config.ts'
import type { Sealer } from '../../platform/crypto/seal.ts'
import type { Database } from '../../platform/db/database.ts'
import { OperatorError } from '../../platform/operator-error.ts'
import type { Area, InstallationCheck } from '../../resources/installation/installation-check.ts'

/** A finding of a check, in the check's area unless it names another. */
export type Finding = Omit<InstallationCheck, 'area'> & { readonly area?: Area }

/** The control database as checks see it. */
export type FoundRecords =
  | { readonly kind: 'open'; readonly database: Database; readonly sealer: Sealer }
  /** There is nothing to check yet. */
  | { readonly kind: 'none'; readonly why: string }
  | { readonly kind: 'fault'; readonly error: unknown }

export interface CheckContext {
  readonly config: Config
  readonly records: FoundRecords
  /** The roles that run here and must answer. `stopped`: none runs, and all of them must be able to start. */
  readonly running: ReadonlySet<string> | 'stopped'
  /** Whether checks may contact other machines: DNS, the certificate authority, storage, mail. */
  readonly asksOutside: boolean
  /** Milliseconds UTC. */
  readonly now: () => number
}

/** One entry of the list that `stead doctor`, the API, and the start share. It changes nothing. */
export interface Check {
  readonly area: Area
  /** Runs the check. An error that it throws becomes a problem. */
  run(context: CheckContext): Promise<readonly Finding[]>
}

export const ok = (text: string): Finding => ({ state: 'ok', text, remedy: null })
export const skipped = (text: string): Finding => ({ state: 'skipped', text, remedy: null })
export const warning = (text: string, remedy: string): Finding => ({ state: 'warning', text, remedy })
export const problem = (text: string, remedy: string): Finding => ({ state: 'problem', text, remedy })

const REPORT = 'Run stead doctor again. If the error remains, open an issue with this text.'

/** Converts an error to a problem. An operator error first states what is wrong, then what to do. */
export function problemOf(error: unknown): Finding {
  const { message } = error as Error
  if (!(error instanceof OperatorError)) return problem(`The check failed: ${message}.`, REPORT)
  const [text = message, ...rest] = message.split(/(?<=[.:])\s+(?=[A-Z])|\n/)
  return problem(text, rest.join(' ') || 'Correct the setting or its target.')
}

/** Runs `use` with the control database, if it is open. */
export async function onDatabase(
  { records }: CheckContext,
  use: (open: { database: Database; sealer: Sealer }) => Promise<readonly Finding[]>,
): Promise<readonly Finding[]> {
  return records.kind === 'open' ? use(records) : []
}
