import type { Migration } from 'kysely/migration'
import type { AnyDb } from './columns.ts'

/** The claims on a zone, which the account that has the zone may see. */
export const claimsOfHolders: Migration = {
  async up(db: AnyDb) {
    await db.schema.createIndex('zone_claims_of_zone').on('zone_claims').column('zone').execute()
  },
}
