import Type from 'typebox'
import { Nothing } from '../../../platform/http/schemas.ts'
import { endpoint } from '../../kit/endpoint.ts'
import { SiteId } from '../../kit/site-id.ts'
import { actions } from '../actions.ts'
import { changedPolicy, changesOf } from './change-policy.ts'
import { policyOfSite, setPolicyOfSite } from './policy.store.ts'
import { changeOf, siteModeField } from './policy.ts'

export const setUpdatePolicy = endpoint({
  id: 'setUpdatePolicy',
  method: 'PUT',
  path: '/v1/sites/{id}/update-policy',
  summary: 'Set the update policy of a site',
  description:
    'An addition of Stead. Send at least one field. Stead starts the safe updates as the owner of the site, a few at a time. ' +
    'It does not install versions again whose update was undone or failed, until there are newer ones or the policy changes. Versions that were undone together are tried again, one in each turn.',
  access: { site: 'manage plugins' },
  params: Type.Object({ id: SiteId }),
  body: Type.Object(changeOf(siteModeField), { title: 'UpdatePolicyChange' }),
  response: Nothing,

  async handle(context, { body }) {
    const { tx, site, now } = context
    const before = await policyOfSite(tx, site.id)
    const after = changedPolicy(before, body)
    const changes = changesOf(before, after)
    if (changes === undefined) return null
    await setPolicyOfSite(tx, site.id, after, now)
    await context.record({ action: actions['update_policy.changed'], message: changes })
    return null
  },
})
