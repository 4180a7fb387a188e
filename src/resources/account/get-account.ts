import Type from 'typebox'
import { nullable } from '../../platform/http/schemas.ts'
import { EntrySchema, recentActivity } from '../activity/entry.ts'
import { endpoint } from '../endpoint.ts'
import { accountSums, detailPageViews, PageViews } from '../statistics/statistics.ts'
import { countCollaboratorAccounts } from './account.store.ts'
import { type Account, findAccount, gravatar } from './account.ts'
import { capacityAndUsage } from './addon.store.ts'

const AccountSchema = Type.Object({
  affiliate: Type.Boolean(),
  collaboratorCount: Type.Integer({ description: 'Accounts that collaborate on sites of this one' }),
  email: Type.String(),
  gravatar: Type.String(),
  name: Type.String(),
  organization: Type.String(),
  pageViews: PageViews,
  phoneNumber: Type.String(),
  preview: Type.Boolean(),
  productName: Type.String({ description: 'Name of the plan' }),
  defaultPhpVersion: Type.String(),
  defaultDatacenter: nullable(Type.String()),
  maxSites: Type.Integer(),
  sitesCount: Type.Integer({ description: 'Sites that the account owns' }),
  capacity: Type.Object({
    sites: Type.Object({
      maxBillable: Type.Integer({ description: 'Live sites that plan and add-ons allow' }),
      maxStaging: Type.Integer({ description: 'Staging sites that plan and add-ons allow' }),
      billable: Type.Integer(),
      staging: Type.Integer(),
      total: Type.Integer(),
    }),
  }),
  recent_activity: Type.Array(EntrySchema, { description: 'The 10 newest entries of the activity log' }),
})

export const getAccount = endpoint({
  id: 'getAccount',
  method: 'GET',
  path: '/v1/account',
  summary: 'Read the account',
  access: { account: 'own' },
  response: AccountSchema,
  etag: true,

  async handle({ tx, caller }) {
    const account = (await findAccount(tx, caller.accountId)) as Account
    const { capacity, usage } = await capacityAndUsage(tx, account)
    const { maxBillable, maxStaging, name: productName } = capacity
    const { billable, staging } = usage
    const total = billable + staging
    return {
      affiliate: account.isAffiliate,
      collaboratorCount: await countCollaboratorAccounts(tx, account.id),
      email: account.email,
      gravatar: gravatar(account.email),
      name: account.name,
      organization: account.organization,
      pageViews: detailPageViews(await accountSums(tx, account.id)),
      phoneNumber: account.phoneNumber,
      preview: account.isPreview,
      productName,
      defaultPhpVersion: account.defaultPhpVersion,
      defaultDatacenter: account.defaultDatacenter,
      maxSites: maxBillable + maxStaging,
      sitesCount: total,
      capacity: { sites: { maxBillable, maxStaging, billable, staging, total } },
      recent_activity: await recentActivity(tx, account.id),
    }
  },
})
