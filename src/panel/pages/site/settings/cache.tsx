import { api, ask } from '../../../api.ts'
import { Button } from '../../../parts/button.tsx'
import { Card } from '../../../parts/card.tsx'
import { Switch } from '../../../parts/switch.tsx'
import { useLoad } from '../../../parts/use-load.ts'
import { cacheTexts as texts } from '../../../texts/site/cache.ts'
import { EdgeCache, FlushObjects, PurgeCache } from '../cache-controls.tsx'
import { type PartProps, turnWith } from '../part.ts'
import { Defence } from './defence.tsx'
import { PhpVersion, WordPressVersion } from './versions.tsx'

/** The performance options and versions of a site. */
export const Cache = (props: PartProps) => (
  <div class="columns">
    <div>
      <Caching {...props} />
      <Options {...props} />
    </div>
    <div>
      <PhpVersion {...props} />
      <WordPressVersion {...props} />
      <Defence {...props} />
    </div>
  </div>
)

function Caching({ site, id, act }: PartProps) {
  const params = { path: { id } }
  const cdn = useLoad(() => ask(() => api.GET('/v1/sites/{id}/cdn', { params })), [id])
  const hasCdn = cdn.got.value?.data.cdnEnabled ?? false
  return (
    <Card title={texts.caching} isFlush actions={<PurgeCache id={id} act={act} icon="zap" />}>
      <EdgeCache site={site} id={id} act={act} help={texts.edgeIs} />
      <div class="rowline">
        <div>
          {texts.objects}
          <p class="quiet small">{texts.objectsIs}</p>
        </div>
        <FlushObjects id={id} act={act}>
          {texts.flush}
        </FlushObjects>
      </div>
      <Switch
        label={texts.cdn}
        help={texts.cdnIs}
        of="toggleCdn"
        isOn={hasCdn}
        turn={turnWith(
          act,
          (enabled) => texts.cdnTurned[`${enabled}`],
          async (enabled) => {
            const got = await ask(() => api.PUT('/v1/sites/{id}/cdn', { params, body: { enabled } }))
            await cdn.reload()
            return got
          },
        )}
      />
      {hasCdn && (
        <div class="rowline">
          <p class="quiet small">{texts.purgeCdnIs}</p>
          <Button
            of="purgeCdn"
            onClick={act(texts.cdnPurged, () => ask(() => api.DELETE('/v1/sites/{id}/cache', { params })))}
          >
            {texts.purgeCdn}
          </Button>
        </div>
      )}
    </Card>
  )
}

const Options = ({ site, id, act }: PartProps) => (
  <Card title={texts.options} isFlush>
    <Switch
      label={texts.light}
      help={texts.lightIs}
      of="toggleLight404"
      isOn={site.lightWeight404}
      turn={turnWith(
        act,
        (enabled) => texts.lightTurned[`${enabled}`],
        (enabled) =>
          ask(() => api.PUT('/v1/sites/{id}/light_weight_404', { params: { path: { id } }, body: { enabled } })),
      )}
    />
  </Card>
)
