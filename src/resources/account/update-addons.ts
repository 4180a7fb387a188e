import Type from 'typebox'
import { lockForUpdate } from '../../platform/db/database.ts'
import { invalidInput, Problem } from '../../platform/http/problem.ts'
import { endpoint } from '../kit/endpoint.ts'
import { type Account, findAccount } from './account.store.ts'
import { raisesLimits } from './account.ts'
import { actions } from './actions.ts'
import { addonsOfAccount, capacityAndUsage, setAddonQuantity } from './addon.store.ts'
import { addonOf, addons, capacityOf, presentAttached } from './addons.ts'
import { AttachedAddons } from './list-attached-addons.ts'
import { planNamed } from './plans.ts'
import { problems } from './problems.ts'

export const updateAddons = endpoint({
  id: 'updateAddons',
  method: 'PUT',
  path: '/v1/account/addons',
  summary: 'Attach or detach an add-on',
  description:
    'With the setting `STEAD_ADDONS=operator`, which is the default, only the account of the operator can raise a quantity. Every account can lower its own.',
  access: { account: 'own' },
  proof: true,
  body: Type.Object({
    addon_id: Type.Integer(),
    quantity: Type.Integer({
      minimum: 0,
      maximum: 10_000,
      description: 'Total quantity that the account should have. 0 detaches the add-on',
    }),
  }),
  response: AttachedAddons,
  problems: [problems.addon_in_use, problems.addons_by_operator],

  async handle(context, { body: { addon_id: addonId, quantity } }) {
    const { tx, caller, config } = context
    const addon = addonOf(addonId)
    if (!addon) throw invalidInput([`addon_id: must be one of ${addons.map(({ id }) => id).join(', ')}`])
    // a site that is created meanwhile would be beyond the limit
    await lockForUpdate(tx, 'accounts', caller.accountId)
    const account = (await findAccount(tx, caller.accountId)) as Account
    const { attached: before, usage } = await capacityAndUsage(tx, account)
    const had = before.find((each) => each.addonId === addonId)?.quantity ?? 0
    if (quantity === had) return presentAttached(before)
    if (quantity > had && !(await raisesLimits(tx, caller.accountId, config)))
      throw new Problem(problems.addons_by_operator, {})
    const others = before.filter((each) => each.addonId !== addonId)
    const capacity = capacityOf(planNamed(account.plan), [...others, { addonId, quantity }])
    const { billable, staging } = usage
    const isTooFew = billable > capacity.maxBillable || staging > capacity.maxStaging
    if (quantity < had && addon.unit === 'sites' && isTooFew) {
      const { maxBillable, maxStaging } = capacity
      throw new Problem(problems.addon_in_use, {
        quantity,
        addon: addon.name,
        billable,
        staging,
        maxBillable,
        maxStaging,
      })
    }
    await setAddonQuantity(tx, account.id, { addonId, quantity })
    const action =
      quantity === 0 ? actions['addon.detached'] : had === 0 ? actions['addon.attached'] : actions['addon.changed']
    const message = `Changed the quantity of the add-on ${addon.name} from ${had} to ${quantity}`
    await context.record({ action, message })
    return presentAttached(await addonsOfAccount(tx, account.id))
  },
})
