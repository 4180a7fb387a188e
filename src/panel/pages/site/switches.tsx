import { api, ask } from '../../api.ts'
import { Button } from '../../parts/button.tsx'
import { useLoad } from '../../parts/use-load.ts'
import { settingsTexts as texts } from '../../texts/site/settings.ts'
import type { PartProps } from './part.ts'

/** How the site answers: what is on, and what is off. */
export function Switches({ site, id, act }: PartProps) {
  const params = { path: { id } }
  const cdn = useLoad(() => ask(() => api.GET('/v1/sites/{id}/cdn', { params })))
  const hasCdn = cdn.got.value?.data.cdnEnabled ?? false
  const rows = [
    {
      ...{ name: texts.light, help: texts.lightIs, isOn: site.lightWeight404, of: 'toggleLight404' as const },
      turn: (enabled: boolean) => ask(() => api.PUT('/v1/sites/{id}/light_weight_404', { params, body: { enabled } })),
    },
    {
      ...{ name: texts.network, help: texts.networkIs, isOn: site.multisiteSupport, of: 'toggleMultisite' as const },
      turn: (enabled: boolean) => ask(() => api.PUT('/v1/sites/{id}/multisite-support', { params, body: { enabled } })),
    },
    {
      ...{ name: texts.cdn, help: texts.cdnIs, isOn: hasCdn, of: 'toggleCdn' as const },
      turn: async (enabled: boolean) => {
        const got = await ask(() => api.PUT('/v1/sites/{id}/cdn', { params, body: { enabled } }))
        await cdn.reload()
        return got
      },
    },
  ]
  return (
    <section class="sheet">
      <h2>{texts.answers}</h2>
      {rows.map(({ name, help, isOn, of, turn }) => (
        <div key={name} class="setting">
          <div>
            {name}: {texts.is[`${isOn}`]}
            <p class="quiet">{help}</p>
          </div>
          <Button of={of} label={`${texts.switch[`${isOn}`]}: ${name}`} onClick={act(name, () => turn(!isOn))}>
            {texts.switch[`${isOn}`]}
          </Button>
        </div>
      ))}
      {hasCdn && (
        <Button
          of="purgeCdn"
          onClick={act(texts.emptyCdn, () => ask(() => api.DELETE('/v1/sites/{id}/cache', { params })))}
        >
          {texts.emptyCdn}
        </Button>
      )}
    </section>
  )
}
