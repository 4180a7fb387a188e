import { randomBytes } from 'node:crypto'
import type { Sealer } from '../../platform/crypto/seal.ts'
import type { Database } from '../../platform/db/database.ts'
import { TICKET_PURPOSE, ticketKeyOf } from './tls.store.ts'

/** A leaked key decrypts the sessions of one slot only. */
const SLOT_MS = 43_200_000
const LOOK_MS = 60_000
/** A name, a MAC key, and an encryption key. */
const BYTES = 48

export interface TicketKeysOptions {
  readonly database: Database
  /** Of all edges. */
  readonly sealer: Sealer
  /** Called with each new key. */
  readonly use: (keys: Buffer) => void
  readonly onError: (error: unknown) => void
  /** Milliseconds UTC. */
  readonly now?: () => number
}

/**
 * Uses the same key for session tickets in all edge processes, and another one twice a day. @returns `look`, which runs
 * every minute
 */
export function followTicketKeys({ database, sealer, use, onError, now = Date.now }: TicketKeysOptions) {
  let current: number | undefined
  const look = async () => {
    const slot = Math.floor(now() / SLOT_MS)
    if (slot === current) return
    const made = () => sealer.seal(randomBytes(BYTES).toString('base64'), TICKET_PURPOSE)
    const key = await ticketKeyOf(database, slot, made)
    use(Buffer.from(sealer.open(key, TICKET_PURPOSE), 'base64'))
    current = slot
  }
  const timer = setInterval(() => void look().catch(onError), LOOK_MS)
  timer.unref()
  return { look, close: () => clearInterval(timer) }
}
