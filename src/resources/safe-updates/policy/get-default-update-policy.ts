import { endpoint } from '../../kit/endpoint.ts'
import { policyOfAccount } from './policy.store.ts'
import { AccountPolicySchema, presentPolicy } from './policy.ts'

export const getDefaultUpdatePolicy = endpoint({
  id: 'getDefaultUpdatePolicy',
  method: 'GET',
  path: '/v1/account/update-policy',
  summary: 'Get the default update policy',
  description: 'An addition of Stead. Returns the update policy of the sites that you own and that inherit it.',
  access: { account: 'own' },
  response: AccountPolicySchema,
  etag: true,

  async handle({ tx, caller, config }) {
    const policy = await policyOfAccount(tx, caller.accountId)
    return { ...presentPolicy(policy), has_feed: Boolean(config.vulnerabilityFeed) }
  },
})
