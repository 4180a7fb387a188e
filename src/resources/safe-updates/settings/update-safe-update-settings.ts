import Type from 'typebox'
import { invalidInput } from '../../../platform/http/problem.ts'
import { endpoint } from '../../kit/endpoint.ts'
import { SiteId } from '../../kit/site-id.ts'
import { actions } from '../actions.ts'
import { safeUpdateSettingsOf, setSafeUpdateSettings } from './safe-update-settings.store.ts'
import {
  presentSafeUpdateSettings,
  SafeUpdateSettingsSchema,
  safeUpdateSettingsFields,
} from './safe-update-settings.ts'

export const updateSafeUpdateSettings = endpoint({
  id: 'updateSafeUpdateSettings',
  method: 'PUT',
  path: '/v1/sites/{id}/safe-update-settings',
  summary: 'Update the safe update settings of a site',
  description:
    'An addition of Stead. Send at least one field. A list replaces the one before. ' +
    'The settings count from the next safe update on. A selector that the browser does not know hides nothing.',
  access: { site: 'manage plugins' },
  params: Type.Object({ id: SiteId }),
  body: Type.Object(
    {
      masks: Type.Optional(safeUpdateSettingsFields.masks),
      paths: Type.Optional(safeUpdateSettingsFields.paths),
    },
    { title: 'SafeUpdateSettingsUpdate' },
  ),
  response: SafeUpdateSettingsSchema,

  async handle(context, { body }) {
    const { tx, site } = context
    if (body.masks === undefined && body.paths === undefined) throw invalidInput(['Send at least one of masks, paths'])
    const before = await safeUpdateSettingsOf(tx, site.id)
    const settings = {
      masks: [...new Set(body.masks ?? before.masks)],
      paths: [...new Set(body.paths ?? before.paths)],
    }
    await setSafeUpdateSettings(tx, site.id, settings)
    await context.record({
      action: actions['safe_update.settings'],
      message: `Set the pages that safe updates compare, too, to ${settings.paths.length}, and the elements that pictures leave out to ${settings.masks.length}`,
    })
    return presentSafeUpdateSettings(settings)
  },
})
