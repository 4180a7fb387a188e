import Type from 'typebox'
import { defaultPhpVersion } from '../../hosting/php/runtime.ts'
import { nullable } from '../../platform/http/schemas.ts'
import { EntrySchema, recentActivity } from '../activity/public.ts'
import { endpoint } from '../kit/endpoint.ts'
import { accountSums, detailPageViews, PageViews } from '../statistics/public.ts'
import { type Account, countCollaboratorAccounts, findAccount } from './account.store.ts'
import { gravatar } from './account.ts'
import { capacityAndUsage } from './addon.store.ts'

const AccountSchema = Type.Object(
  {
    affiliate: Type.Boolean(),
    collaboratorCount: Type.Integer({
      description: 'Accounts that collaborate on sites of this account',
      examples: [2],
    }),
    email: Type.String({ examples: ['owner@example.com'] }),
    gravatar: Type.String({
      examples: [
        'https://www.gravatar.com/avatar/c8cd3c6427301eaf6665bccacd65ddb614527acc843a15463e3faba57124c351?d=mp',
      ],
    }),
    name: Type.String({ examples: ['Example Company'] }),
    organization: Type.String({ examples: ['Example Ltd'] }),
    pageViews: PageViews,
    phoneNumber: Type.String({ examples: ['+1 555 0100'] }),
    preview: Type.Boolean(),
    productName: Type.String({ description: 'Name of the plan', examples: ['Business'] }),
    defaultPhpVersion: Type.String({ examples: [defaultPhpVersion] }),
    defaultDatacenter: nullable(Type.String({ examples: ['AMS'] })),
    maxSites: Type.Integer({ examples: [41] }),
    sitesCount: Type.Integer({ description: 'Number of sites that the account owns', examples: [5] }),
    capacity: Type.Object(
      {
        sites: Type.Object(
          {
            maxBillable: Type.Integer({
              description: 'Number of live sites that the plan and add-ons allow',
              examples: [20],
            }),
            maxStaging: Type.Integer({
              description: 'Number of staging sites that the plan and add-ons allow',
              examples: [21],
            }),
            billable: Type.Integer({ examples: [3] }),
            staging: Type.Integer({ examples: [2] }),
            total: Type.Integer({ examples: [5] }),
          },
          { title: 'SiteCapacity' },
        ),
      },
      { title: 'Capacity' },
    ),
    recent_activity: Type.Array(EntrySchema, { description: 'The 10 newest entries of the activity log' }),
  },
  { title: 'Account' },
)

export const getAccount = endpoint({
  id: 'getAccount',
  method: 'GET',
  path: '/v1/account',
  summary: 'Get the account',
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
