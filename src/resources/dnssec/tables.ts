import type { Generated } from 'kysely'
import type { KeyState } from '../../dns/signing/key.ts'
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
  /** Since when it is in this state. */
  state_at: number
  tag: number
  /** Data of the DNSKEY record, base64. */
  dnskey: string
  /** Sealed. */
  private_key: string
  /** The zone above named it when it was last asked. */
  has_ds: Flag
  created_at: number
}
