import { readConfig } from '../../config.ts'
import { createSealer } from '../../platform/crypto/seal.ts'
import type { Database } from '../../platform/db/database.ts'
import type { CheckContext } from './check.ts'

/**
 * Returns a context in which nothing runs, no other machine is contacted, and the control database is missing, unless a
 * test overrides it.
 */
export function contextOf(
  settings: Record<string, string>,
  { database, ...given }: Partial<CheckContext> & { readonly database?: Database } = {},
): CheckContext {
  return {
    // Nothing listens there, and fails at once.
    config: readConfig({ STEAD_RESOLVERS: '127.0.0.1:9', ...settings }),
    records: database
      ? { kind: 'open', database, sealer: createSealer(Buffer.alloc(32, 1)) }
      : { kind: 'none', why: 'not started' },
    running: 'stopped',
    asksOutside: false,
    now: Date.now,
    ...given,
  }
}
