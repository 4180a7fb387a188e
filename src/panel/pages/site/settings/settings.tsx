import type { components } from '../../../../sdk/api.generated.ts'
import { api, ask } from '../../../api.ts'
import { Card } from '../../../parts/card.tsx'
import { Form } from '../../../parts/form.tsx'
import { May, useRefused } from '../../../parts/rights.tsx'
import { Switch } from '../../../parts/switch.tsx'
import { settingsTexts as texts } from '../../../texts/site/settings.ts'
import { timeOf } from '../../../time.ts'
import { siteAddress } from '../../site-address.ts'
import { type PartProps, turnWith } from '../part.ts'
import { DangerZone } from './danger-zone.tsx'
import { License } from './license.tsx'

type Change = components['schemas']['SiteUpdate']
type Environment = NonNullable<Change['wp_environment_type']>

/** The settings of a site, and its deletion. Hides each card that the person may not use. */
export const Settings = (props: PartProps) => (
  <>
    <div class="columns">
      <div>
        <Details {...props} />
        <License {...props} />
      </div>
      <div>
        <General {...props} />
        <Network {...props} />
      </div>
    </div>
    <DangerZone {...props} />
  </>
)

const Details = ({ site, id }: PartProps) => (
  <Card title={texts.details}>
    <dl>
      <dt>{texts.displayName}</dt>
      <dd>{site.displayName}</dd>
      <dt>{texts.address}</dt>
      <dd>
        <a href={siteAddress(site.url)} target="_blank" rel="noreferrer">
          {site.url}
        </a>
      </dd>
      <dt>{texts.siteKind}</dt>
      <dd>{texts.kinds[`${site.staging}`]}</dd>
      <dt>{texts.datacenter}</dt>
      <dd>{site.datacenterName}</dd>
      <dt>{texts.created}</dt>
      <dd>{timeOf(site.created)}</dd>
      <dt>{texts.id}</dt>
      <dd>{id}</dd>
    </dl>
  </Card>
)

const update = (id: number, body: Change) => ask(() => api.PUT('/v1/sites/{id}', { params: { path: { id } }, body }))

/** Returns the form's own promise, so that errors appear beside the field. */
async function doing(act: PartProps['act'], about: string, change: Parameters<PartProps['act']>[1]): Promise<void> {
  const got = await change()
  act(about, async () => got)()
}

/** Hidden if the person may change neither. */
function General(props: PartProps) {
  const forms = (
    <>
      <Name {...props} />
      <Environments {...props} />
    </>
  )
  const refused = [useRefused('updateSite name'), useRefused('updateSite wp_environment_type')]
  return refused.includes(undefined) ? <Card title={texts.general}>{forms}</Card> : forms
}

const Name = ({ site, id, act }: PartProps) => (
  <Form
    of="updateSite name"
    key={site.displayName}
    fields={[{ name: 'name', label: texts.name, value: site.displayName, hint: texts.nameIs, autocomplete: 'off' }]}
    button={texts.rename}
    submit={({ name = '' }) => doing(act, texts.renamed, () => update(id, { name }))}
  />
)

const Environments = ({ site, id, act }: PartProps) => (
  <Form
    of="updateSite wp_environment_type"
    key={site.wpEnvironmentType}
    fields={[
      {
        ...{ name: 'type', label: texts.environment, value: site.wpEnvironmentType },
        options: Object.entries(texts.environments),
      },
    ]}
    button={texts.setEnvironment}
    submit={({ type }) =>
      doing(act, texts.environmentSet, () => update(id, { wp_environment_type: type as Environment }))
    }
  >
    <p class="quiet small">{texts.environmentIs}</p>
  </Form>
)

const Network = ({ site, id, act }: PartProps) => (
  <May do="toggleMultisite" what={texts.networkSwitch}>
    <Card title={texts.network} isFlush>
      <Switch
        label={texts.networkSwitch}
        help={texts.networkIs}
        of="toggleMultisite"
        isOn={site.multisiteSupport}
        turn={turnWith(
          act,
          (enabled) => texts.networkTurned[`${enabled}`],
          (enabled) =>
            ask(() => api.PUT('/v1/sites/{id}/multisite-support', { params: { path: { id } }, body: { enabled } })),
        )}
      />
    </Card>
  </May>
)
