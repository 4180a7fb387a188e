import { readConfig } from '../../config.ts'
import { createSealer } from '../../platform/crypto/seal.ts'
import type { Database } from '../../platform/db/database.ts'
import type { CheckContext } from './check.ts'

/** Nothing runs, nobody outside is asked, and there is no control database, unless a test says otherwise. */
export function contextOf(
  settings: Record<string, string>,
  { database, ...given }: Partial<CheckContext> & { readonly database?: Database } = {},
): CheckContext {
  return {
    // nobody answers there, and at once
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
