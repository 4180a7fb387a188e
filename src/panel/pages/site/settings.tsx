import type { components } from '../../../sdk/api.generated.ts'
import { api, ask, type Got } from '../../api.ts'
import { askFirst } from '../../parts/ask-first.tsx'
import { Button } from '../../parts/button.tsx'
import { Form } from '../../parts/form.tsx'
import { useLoad } from '../../parts/use-load.ts'
import { go } from '../../route.ts'
import { settingsTexts as texts } from '../../texts/site/settings.ts'
import { Defence } from './defence.tsx'
import type { PartProps } from './part.ts'
import { Switches } from './switches.tsx'

type Change = components['schemas']['SiteUpdate']
type Environment = NonNullable<Change['wp_environment_type']>

const environments: readonly Environment[] = ['production', 'staging', 'development', 'local']

/** What a site is: its name, versions, kind and how it answers, and its end. */
export function Settings(props: PartProps) {
  return (
    <div class="columns">
      <Name {...props} />
      <Versions {...props} />
      <Environments {...props} />
      <Defence {...props} />
      <Switches {...props} />
      <Kind {...props} />
      <License {...props} />
      <End {...props} />
    </div>
  )
}

const update = (id: number, body: Change) => ask(() => api.PUT('/v1/sites/{id}', { params: { path: { id } }, body }))

/** A form's own promise, so that its fault stands beside the field. */
async function doing(act: PartProps['act'], about: string, change: Parameters<PartProps['act']>[1]): Promise<void> {
  const got = await change()
  act(about, async () => got)()
}

const Name = ({ site, id, act }: PartProps) => (
  <section class="sheet">
    <h2>{texts.name}</h2>
    <Form
      of="updateSite name"
      key={site.displayName}
      fields={[{ name: 'name', label: texts.name, value: site.displayName, hint: texts.nameIs, autocomplete: 'off' }]}
      button={texts.rename}
      submit={({ name = '' }) => doing(act, texts.renamed, () => update(id, { name }))}
    />
  </section>
)

function Versions({ site, id, act }: PartProps) {
  const versions = useLoad(() => ask(() => api.GET('/v1/sites/php-versions')))
  const params = { path: { site_id: id } }
  const known = versions.got.value?.data.toReversed()
  const wordpress = (version?: 'latest') =>
    act(texts.latest, () =>
      ask(() => api.PUT('/v1/sites/{site_id}/cms/version', { params, body: version ? { version } : {} })),
    )
  return (
    <section class="sheet">
      <h2>{texts.versions}</h2>
      {known && (
        <Form
          of="updateSite php_version"
          key={site.phpVersion}
          fields={[{ name: 'php', label: texts.php, options: known, value: site.phpVersion ?? known[0] ?? '' }]}
          button={texts.setPhp}
          submit={({ php }) => doing(act, texts.php, () => update(id, { php_version: php as Change['php_version'] }))}
        >
          <p class="quiet">{texts.phpIs}</p>
        </Form>
      )}
      <p>{texts.wordpress(site.cmsVersion)}</p>
      <p class="row">
        <Button of="updateCmsVersion" onClick={wordpress('latest')}>
          {texts.latest}
        </Button>
        <Button of="updateCmsVersion" onClick={wordpress()}>
          {texts.other}
        </Button>
      </p>
    </section>
  )
}

const Environments = ({ site, id, act }: PartProps) => (
  <section class="sheet">
    <h2>{texts.environment}</h2>
    <Form
      of="updateSite wp_environment_type"
      key={site.wpEnvironmentType}
      fields={[{ name: 'type', label: texts.environment, options: environments, value: site.wpEnvironmentType }]}
      button={texts.setEnvironment}
      submit={({ type }) =>
        doing(act, texts.environment, () => update(id, { wp_environment_type: type as Environment }))
      }
    >
      <p class="quiet">{texts.environmentIs}</p>
    </Form>
  </section>
)

function Kind({ site, id, act }: PartProps) {
  const { staging } = site
  const convert = () => ask(() => api.PUT('/v1/sites/{id}/convert', { params: { path: { id } } }))
  return (
    <section class="sheet">
      <h2>{texts.kind}</h2>
      <p>{texts.kindIs[`${staging}`]}</p>
      <Button of="convertSite" onClick={act(texts.convert[`${staging}`], convert)}>
        {texts.convert[`${staging}`]}
      </Button>
    </section>
  )
}

function License({ id, act }: PartProps) {
  const params = { path: { site_id: id } }
  const license = useLoad(() => ask(() => api.GET('/v1/sites/{site_id}/ext', { params })), [id])
  const known = license.got.value
  const held = known?.data && known.data.revokedAt === null ? known.data : undefined
  const change = (request: () => Promise<Got<unknown>>) =>
    act(texts.license, async () => {
      const got = await request()
      await license.reload()
      return got
    })
  return (
    <section class="sheet">
      <h2>{texts.license}</h2>
      {license.fault.value && <p class="fault">{license.fault.value}</p>}
      {known && <p>{held ? <code>{held.licenseKey}</code> : texts.noLicense}</p>}
      {known &&
        (held ? (
          <Button
            of="revokeExtensionLicense"
            isBad
            onClick={change(() => ask(() => api.DELETE('/v1/sites/{site_id}/ext', { params })))}
          >
            {texts.revoke}
          </Button>
        ) : (
          <Button
            of="issueExtensionLicense"
            onClick={change(() => ask(() => api.POST('/v1/sites/{site_id}/ext', { params })))}
          >
            {texts.issue}
          </Button>
        ))}
    </section>
  )
}

const End = ({ site, id }: PartProps) => (
  <section class="sheet">
    <h2>{texts.end}</h2>
    <p>{texts.endIs}</p>
    <Button
      of="deleteSite"
      isBad
      onClick={askFirst({
        title: texts.deleteTitle(site.name),
        text: texts.endIs,
        button: texts.deleteIt,
        name: site.name,
        label: texts.type(site.name),
        go: async () => {
          await ask(() => api.DELETE('/v1/sites/{id}', { params: { path: { id } } }))
          go('/sites')
        },
      })}
    >
      {texts.delete}
    </Button>
  </section>
)
