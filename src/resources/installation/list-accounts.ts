import Type from 'typebox'
import { reply } from '../../platform/http/endpoint.ts'
import { besidesOf, pageOf, pageQuery, Timestamp, timestamp } from '../../platform/http/schemas.ts'
import { isOperator } from '../account/account.ts'
import { planNamed } from '../account/plans.ts'
import { endpoint } from '../kit/endpoint.ts'
import { countAccounts, listAccountUsage } from './accounts.store.ts'

const AccountOfInstallation = Type.Object(
  {
    id: Type.Integer({ examples: [1] }),
    email: Type.String({ examples: ['customer@example.com'] }),
    name: Type.String({ examples: ['Jo Doe'] }),
    plan: Type.String({ examples: ['Business'] }),
    operator: Type.Boolean({ description: 'Whether the account operates the installation' }),
    sites: Type.Integer({ description: 'Number of its sites, without those in the trash', examples: [3] }),
    max_sites: Type.Integer({ description: 'Number of live and staging sites that its plan allows', examples: [7] }),
    created_at: Timestamp,
  },
  { title: 'AccountOfInstallation' },
)

export const listInstallationAccounts = endpoint({
  id: 'listInstallationAccounts',
  method: 'GET',
  path: '/v1/installation/accounts',
  summary: 'List the accounts of the installation',
  description:
    'An addition of Stead. Returns one page of accounts in order of ID. The operator, which is the first account, gets all accounts. Other accounts get only their own.',
  access: { account: 'own' },
  query: Type.Object(pageQuery),
  response: Type.Array(AccountOfInstallation),
  paged: true,

  async handle({ tx, caller }, { query }) {
    const asked = pageOf(query)
    const only = (await isOperator(tx, caller.accountId)) ? undefined : caller.accountId
    const accounts = await listAccountUsage(tx, asked, only)
    const shown = accounts.map(({ id, email, name, plan, isFirst, sites, createdAt }) => {
      const { maxBillable, maxStaging } = planNamed(plan)
      const of = { id, email, name, plan, operator: isFirst, sites, max_sites: maxBillable + maxStaging }
      return { ...of, created_at: timestamp(createdAt) }
    })
    return reply(shown, await besidesOf(asked, accounts, () => countAccounts(tx, only)))
  },
})
