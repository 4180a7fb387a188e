import type { Tx } from '../../platform/db/database.ts'

/** Certificates that edges create themselves are never due. A new one is created on the next visit. */
const NEVER = Number.MAX_SAFE_INTEGER

/** State of ordered certificates. */
export interface CertificateCounts {
  readonly ended: number
  readonly failing: number
  /** When the next one expires, or null if there is none. */
  readonly firstEndAt: number | null
}

export async function certificateCounts(tx: Tx, now: number): Promise<CertificateCounts> {
  const [ended, failing, first] = await Promise.all([
    tx
      .selectFrom('certificates')
      .select(({ fn }) => fn.countAll<number>().as('count'))
      .where('expires_at', '<=', now)
      .where('due_at', '<', NEVER)
      .executeTakeFirstOrThrow(),
    tx
      .selectFrom('certificates')
      .select(({ fn }) => fn.countAll<number>().as('count'))
      .where('reason_at', 'is not', null)
      .executeTakeFirstOrThrow(),
    tx
      .selectFrom('certificates')
      .select('expires_at')
      .where('expires_at', '>', now)
      .where('due_at', '<', NEVER)
      .orderBy('expires_at')
      .limit(1)
      .executeTakeFirst(),
  ])
  return { ended: Number(ended.count), failing: Number(failing.count), firstEndAt: first?.expires_at ?? null }
}
