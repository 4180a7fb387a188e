import Type from 'typebox'
import { reply } from '../../platform/http/endpoint.ts'
import { besidesOf, pageOf, pageQuery } from '../../platform/http/schemas.ts'
import { isOperator } from '../account/public.ts'
import { endpoint } from '../kit/endpoint.ts'
import { AccountOfInstallation, presentAccount } from './accounts/present-account.ts'
import { countAccounts, listAccountUsage } from './accounts.store.ts'

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
    return reply(accounts.map(presentAccount), await besidesOf(asked, accounts, () => countAccounts(tx, only)))
  },
})
