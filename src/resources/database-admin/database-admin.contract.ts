import type { Contract, ProblemCase } from '../../../test/support/contract.ts'
import { type Examples, onSite, type Sample } from '../../../test/support/samples.ts'
import { siteIs, write } from '../../../test/support/scenes.ts'
import { withAdminer } from './database-admin.fixture.ts'

const samples: readonly Sample[] = [
  {
    endpoint: 'getDatabaseAdminUrl',
    path: onSite('/cms/dbadmin'),
    roles: ['db_admin_access'],
    prepare: (_, api) => withAdminer(api),
  },
]

const examples: Examples = {
  async getDatabaseAdminUrl({ api }) {
    await withAdminer(api)
    return {}
  },
}

// biome-ignore format: a table
const problems: readonly ProblemCase[] = [
  { of: ['getDatabaseAdminUrl'], code: 'no_database_admin', prepare: (scene) => write(scene, (tx) => tx.updateTable('hosts').set({ facts: '{}' }).execute()) },
  { of: ['getDatabaseAdminUrl'], code: 'site_not_live', prepare: siteIs({ state: 'deploying' }) },
]

export const contract: Contract = { samples, examples, problems }
