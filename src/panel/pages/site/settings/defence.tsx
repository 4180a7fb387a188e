import type { components } from '../../../../sdk/api.generated.ts'
import { api, ask } from '../../../api.ts'
import { Button } from '../../../parts/button.tsx'
import { Card } from '../../../parts/card.tsx'
import { Form } from '../../../parts/form.tsx'
import { cacheTexts as texts } from '../../../texts/site/cache.ts'
import { timeOf } from '../../../time.ts'
import type { PartProps } from '../part.ts'

type Duration = components['schemas']['SetDefensiveModeBody']['duration']

/** Defensive mode for a site under attack, and its end. */
export function Defence({ site, id, act }: PartProps) {
  const set = (duration: Duration) =>
    ask(() => api.PUT('/v1/sites/{id}/edge-cache/defensive-mode', { params: { path: { id } }, body: { duration } }))
  const until = site.edgeCacheDefensiveModeUntil
  return (
    <Card title={texts.defence}>
      <p class="quiet">{texts.defenceIs}</p>
      {site.edgeCacheDefensiveMode && until !== null ? (
        <p class="row signed">
          <span class="badge warn">{texts.defended(timeOf(new Date(until * 1000).toISOString()))}</span>
          <Button of="setDefensiveMode" onClick={act(texts.endedDefence, () => set(null))}>
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
            act(texts.defendedNow, async () => got)()
          }}
        />
      )}
    </Card>
  )
}
