import Type from 'typebox'
import { Switch } from '../caches/public.ts'
import { endpoint } from '../kit/endpoint.ts'
import { SiteId } from '../kit/site-id.ts'
import { switchSetting } from '../sites/public.ts'
import { actions, events } from './actions.ts'

export const toggleLight404 = endpoint({
  id: 'toggleLight404',
  method: 'PUT',
  path: '/v1/sites/{id}/light_weight_404',
  summary: 'Turn lightweight 404 responses on or off',
  description:
    'When this is on, the platform responds to requests for missing static files (.css .gif .eot .jpg .jpeg .js .otf .png .svg .swf .ttf .webm .webp .woff ' +
    '.woff2). When it is off, WordPress responds to them. Toggles the state, or sets it to `enabled` if the body contains that field.',
  access: { site: 'manage performance' },
  params: Type.Object({ id: SiteId }),
  body: Switch,
  response: Type.Object({ lightWeight404Enabled: Type.Boolean({ examples: [true] }) }, { title: 'Light404' }),

  async handle(context, { body }) {
    const { tx, site, now } = context
    const { enabled, changed } = await switchSetting(tx, site.id, 'light_404', body.enabled, now)
    if (changed) {
      const [action, word] = enabled
        ? ([actions['wordpress.lightweight_404.enabled'], 'Enabled'] as const)
        : ([actions['wordpress.lightweight_404.disabled'], 'Disabled'] as const)
      const event = { type: events.light_weight_404_changed, data: { enabled } }
      await context.record({ action, message: `${word} lightweight 404 answers`, event })
    }
    return { lightWeight404Enabled: enabled }
  },
})
