import type { components } from '../../../sdk/api.generated.ts'
import { api, ask } from '../../api.ts'
import { Button } from '../../parts/button.tsx'
import { Form } from '../../parts/form.tsx'
import { settingsTexts as texts } from '../../texts/site/settings.ts'
import { timeOf } from '../../time.ts'
import type { PartProps } from './part.ts'

type Duration = components['schemas']['SetDefensiveModeBody']['duration']

/** The mode for a site that is flooded, and when it ends. */
export function Defence({ site, id, act }: PartProps) {
  const set = (duration: Duration) =>
    ask(() => api.PUT('/v1/sites/{id}/edge-cache/defensive-mode', { params: { path: { id } }, body: { duration } }))
  const until = site.edgeCacheDefensiveModeUntil
  return (
    <section class="sheet">
      <h2>{texts.defence}</h2>
      <p class="quiet">{texts.defenceIs}</p>
      {site.edgeCacheDefensiveMode && until !== null ? (
        <p class="row">
          {texts.defended(timeOf(new Date(until * 1000).toISOString()))}
          <Button of="setDefensiveMode" onClick={act(texts.defence, () => set(null))}>
            {texts.endDefence}
          </Button>
        </p>
      ) : (
        <Form
          of="setDefensiveMode"
          fields={[{ name: 'duration', label: texts.duration, options: Object.entries(texts.durations) }]}
          button={texts.defend}
          submit={async ({ duration }) => {
            const got = await set(duration as Duration)
            act(texts.defence, async () => got)()
          }}
        />
      )}
    </section>
  )
}
