import Type from 'typebox'
import { notFound } from '../../../platform/http/problem.ts'
import { endpoint } from '../../kit/endpoint.ts'
import { listAccountUsage } from '../accounts.store.ts'
import { RemovalReport, removalReport } from './removal-report.ts'

export const getAccountRemoval = endpoint({
  id: 'getAccountRemoval',
  method: 'GET',
  path: '/v1/installation/accounts/{id}/removal',
  summary: 'Get what the removal of an account deletes',
  description:
    'An addition of Stead. Lists everything that goes with the account, what stays, and what prevents the removal. Lists have at most 100 entries, and totals count all.',
  access: { account: 'operator' },
  params: Type.Object({ id: Type.Integer({ minimum: 1 }) }),
  response: RemovalReport,
  etag: true,

  async handle({ tx, now }, { params }) {
    const [account] = await listAccountUsage(tx, { perPage: 1, offset: 0 }, params.id)
    if (!account) throw notFound()
    return removalReport(tx, account, now)
  },
})
