import Type from 'typebox'
import { nullable } from '../../platform/http/schemas.ts'
import { readDatabaseTime } from '../../platform/operations/worker/lease.ts'
import { isOperator } from '../account/public.ts'
import { endpoint } from '../kit/endpoint.ts'
import { haveStorageInCommon } from '../kit/shared-storage.ts'
import { healthOf, InstallationHealth } from './health.ts'
import { listHousing } from './installation.store.ts'
import { presentNames } from './installation-names.ts'
import { takenReservedNames } from './taken-names.store.ts'

export const getInstallation = endpoint({
  id: 'getInstallation',
  method: 'GET',
  path: '/v1/installation',
  summary: 'Get the health of the installation',
  description:
    "Returns hosts, queues, budgets, certificates and backups of Stead's own records. Only the operator, which is the first account, gets `health`. It is null for other accounts.",
  access: { account: 'own' },
  etag: true,
  response: Type.Object(
    {
      operator: Type.Boolean({ description: 'Whether your account operates the installation' }),
      health: nullable(InstallationHealth),
      backups_elsewhere: nullable(
        Type.Boolean({
          description:
            'Whether backups are kept outside the data folder, in an S3 bucket or in `STEAD_BACKUP_DIR`. Null for other accounts',
        }),
      ),
    },
    { title: 'Installation' },
  ),

  async handle({ tx, database, caller, figures, config }) {
    if (!(await isOperator(tx, caller.accountId))) return { operator: false, health: null, backups_elsewhere: null }
    const [reports, hosts, now] = [await figures(), await listHousing(tx), await readDatabaseTime(database)]
    const names = presentNames(config, await takenReservedNames(tx, config))
    const health = { ...healthOf(reports, hosts, now), names }
    return { operator: true, health, backups_elsewhere: haveStorageInCommon(config) }
  },
})
