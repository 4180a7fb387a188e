import { useSignal } from '@preact/signals'
import type { components } from '../../../../sdk/api.generated.ts'
import { api, ask } from '../../../api.ts'
import { askFirst } from '../../../parts/ask-first.tsx'
import { Button } from '../../../parts/button.tsx'
import { Card } from '../../../parts/card.tsx'
import { Form } from '../../../parts/form.tsx'
import { useLoad } from '../../../parts/use-load.ts'
import { cacheTexts as texts } from '../../../texts/site/cache.ts'
import type { PartProps } from '../part.ts'

type Version = NonNullable<components['schemas']['SiteUpdate']['php_version']>

/** PHP versions side by side: one click selects, another one applies. */
export function PhpVersion({ site, id, act }: PartProps) {
  const versions = useLoad(() => ask(() => api.GET('/v1/sites/php-versions')))
  const chosen = useSignal<string | undefined>(undefined)
  const now = site.phpVersion
  const shown = chosen.value ?? now
  const known = versions.got.value?.data ?? (now ? [now] : [])
  return (
    <Card title={texts.php}>
      <Form
        of="updateSite php_version"
        fields={[]}
        button={texts.setPhp}
        isForgotten
        submit={async () => {
          if (!shown || shown === now) throw new Error(texts.phpSame)
          const body = { php_version: shown as Version }
          const got = await ask(() => api.PUT('/v1/sites/{id}', { params: { path: { id } }, body }))
          act(texts.phpSet(shown), async () => got)()
        }}
      >
        <fieldset class="picks" aria-label={texts.php}>
          {known.map((version) => (
            <label key={version} class="pick">
              <input
                type="radio"
                name="php"
                value={version}
                checked={version === shown}
                onChange={() => {
                  chosen.value = version
                }}
              />{' '}
              {texts.phpVersion(version)}
              {version === now && <span class="badge">{texts.phpNow}</span>}
            </label>
          ))}
        </fieldset>
        <p class="quiet small">{texts.phpIs}</p>
      </Form>
    </Card>
  )
}

/** The installed release, its channel, and its updates. */
export function WordPressVersion({ site, id, act }: PartProps) {
  const params = { path: { site_id: id } }
  // The API describes the channel as `Latest Release (Beta) (7.0-beta1)`.
  const channel = /\(Beta\)/i.test(site.cmsVersion) ? 'beta' : 'stable'
  const other = channel === 'beta' ? 'stable' : 'beta'
  const version = site.cmsVersion.match(/\(([^()]*\d[^()]*)\)$/)?.[1] ?? site.cmsVersion
  const change = (body: { version?: 'latest' }) =>
    ask(() => api.PUT('/v1/sites/{site_id}/cms/version', { params, body }))
  return (
    <Card title={texts.wordpress}>
      <dl>
        <dt>{texts.installed}</dt>
        <dd>{version}</dd>
        <dt>{texts.channel}</dt>
        <dd>{texts.channels[channel]}</dd>
      </dl>
      <p class="quiet small signed">{texts.updateIs}</p>
      <p class="row signed">
        <Button of="updateCmsVersion" isMain onClick={act(texts.updating, () => change({ version: 'latest' }))}>
          {texts.latest}
        </Button>
        <Button
          of="updateCmsVersion"
          onClick={askFirst({
            title: texts.switchTo[other],
            text: other === 'beta' ? texts.betaIs : texts.updateIs,
            button: texts.switchTo[other],
            async go() {
              const got = await change({})
              act(texts.switching, async () => got)()
            },
          })}
        >
          {texts.switchTo[other]}
        </Button>
      </p>
    </Card>
  )
}
