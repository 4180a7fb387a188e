import { useSignal } from '@preact/signals'
import type { components } from '../../../sdk/api.generated.ts'
import { api, ask } from '../../api.ts'
import { Form } from '../../parts/form.tsx'
import { useRefusalOn } from '../../parts/rights.tsx'
import { Select } from '../../parts/select.tsx'
import { type Chosen, SitePicker } from '../../parts/site-picker.tsx'
import { copiesTexts as texts } from '../../texts/site/copies.ts'
import type { PartProps } from './part.ts'

type Order = components['schemas']['NewSync']

/** Copies of the site, and what goes from one of them to another. */
export const Copies = (props: PartProps) => (
  <div class="columns">
    <Clone {...props} />
    <Sync {...props} />
  </div>
)

const Clone = ({ id, act }: PartProps) => (
  <section class="sheet">
    <h2>{texts.clone}</h2>
    <p class="quiet">{texts.cloneIs}</p>
    <Form
      fields={[
        { name: 'name', label: texts.name, autocomplete: 'off' },
        { name: 'kind', label: texts.kind, options: Object.entries(texts.kinds) },
      ]}
      of="cloneSite"
      button={texts.make}
      isEmptied
      submit={async ({ name = '', kind }) => {
        const body = { name, staging: kind === 'staging' }
        const params = { path: { site_id: id } }
        const got = await ask(() => api.POST('/v1/sites/{site_id}/clone', { params, body }))
        act(texts.made, async () => got)()
      }}
    />
  </section>
)

const parts = [
  ['database', texts.database],
  ['uploads_directory', texts.uploads],
  ['plugins_directory', texts.plugins],
  ['themes_directory', texts.themes],
  ['wp_content_directory', texts.content],
  ['root_directory', texts.root],
] as const

const environments = ['production', 'staging', 'development', 'local'] as const

function Sync({ site, id, act }: PartProps) {
  const other = useSignal<Chosen | undefined>(undefined)
  const isAway = useSignal(true)
  const here = { id, name: site.displayName }
  const chosen = other.value
  const [from, to] = isAway.value ? [here, chosen] : [chosen, here]
  // what is read needs another right than what is overwritten
  const source = useRefusalOn(from?.id, 'downloadBackup')
  const target = useRefusalOn(to?.id, 'restoreSite')
  const reason = source.reason ?? target.reason
  return (
    <section class="sheet">
      <h2>{texts.sync}</h2>
      <p class="quiet">{texts.syncIs}</p>
      <SitePicker
        label={texts.other}
        chosen={chosen}
        choose={(site) => {
          other.value = site
        }}
      />
      {chosen && (
        <Select
          label={texts.direction}
          options={{ away: texts.to(here.name, chosen.name), back: texts.to(chosen.name, here.name) }}
          value={isAway.value ? 'away' : 'back'}
          set={(to) => {
            isAway.value = to === 'away'
          }}
        />
      )}
      {chosen && reason && <p class="quiet">{reason}</p>}
      {chosen && source.isKnown && target.isKnown && !reason && from && to && (
        <Form
          fields={[
            {
              name: 'wp_environment_type',
              label: texts.environment,
              options: [['', texts.keeps], ...environments.map((each) => [each, each] as const)],
            },
            { name: 'skip_http_check', label: texts.skip, type: 'checkbox' },
          ]}
          button={texts.go}
          isBad
          submit={async ({ wp_environment_type, ...ticked }) => {
            const body = {
              ...{ from_site_id: from.id, to_site_id: to.id },
              ...Object.fromEntries(Object.keys(ticked).map((name) => [name, true])),
              ...(wp_environment_type && { wp_environment_type: wp_environment_type as Order['wp_environment_type'] }),
            } as Order
            const got = await ask(() => api.POST('/v1/sites/sync', { body }))
            act(texts.started(to.name), async () => got)()
          }}
        >
          <fieldset>
            <legend>{texts.parts}</legend>
            {parts.map(([name, label]) => (
              <label key={name}>
                <input type="checkbox" name={name} value="true" /> {label}
              </label>
            ))}
          </fieldset>
          <p class="fault">{texts.sure(to.name)}</p>
        </Form>
      )}
    </section>
  )
}
