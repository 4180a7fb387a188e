import type { Generated } from 'kysely'
import type { KeyState } from '../../dns/signing/signing-key.ts'
import type { Flag } from '../../platform/db/schema.ts'

declare module '../../platform/db/schema.ts' {
  interface Schema {
    zone_keys: ZoneKeyRow
  }
}

export interface ZoneKeyRow {
  id: Generated<number>
  zone_id: number
  state: KeyState
  /** When it entered this state. */
  state_at: number
  tag: number
  /** The data of the DNSKEY record, base64. */
  dnskey: string
  /** Sealed. */
  private_key: string
  /** Whether the parent zone named it at the last check. */
  has_ds: Flag
  created_at: number
}
