import type { components } from '../../../sdk/api.generated.ts'
import { api, ask } from '../../api.ts'
import { Form } from '../../parts/form.tsx'
import { List } from '../../parts/list.tsx'
import { told } from '../../parts/toasts.tsx'
import { useLoad } from '../../parts/use-load.ts'
import { planTexts as texts } from '../../texts/account-parts.ts'

type Update = components['schemas']['AccountUpdate']
type Account = components['schemas']['Account']

/** What the account may have, what it has, and what new sites begin with. */
export function Plan() {
  const account = useLoad(() => ask(() => api.GET('/v1/account')))
  const known = account.got.value?.data
  return (
    <>
      <h1>{texts.title}</h1>
      {account.fault.value && <p class="fault">{account.fault.value}</p>}
      {known && (
        <div class="columns">
          <Figures known={known} />
          <Defaults known={known} reload={account.reload} />
        </div>
      )}

      <Addons reload={account.reload} />
    </>
  )
}

const Figures = ({ known }: { readonly known: Account }) => {
  const { billable, maxBillable, staging, maxStaging } = known.capacity.sites
  return (
    <section class="sheet">
      <h2>{texts.plan}</h2>
      <dl>
        <dt>{texts.product}</dt>
        <dd>{known.productName}</dd>
        <dt>{texts.billable}</dt>
        <dd>{texts.of(billable, maxBillable)}</dd>
        <dt>{texts.staging}</dt>
        <dd>{texts.of(staging, maxStaging)}</dd>
        <dt>{texts.views}</dt>
        <dd>{known.pageViews.currentMonth.views.toLocaleString()}</dd>
      </dl>
    </section>
  )
}

function Defaults({ known, reload }: { readonly known: Account; reload(): Promise<void> }) {
  const versions = useLoad(() => ask(() => api.GET('/v1/sites/php-versions')))
  const centers = useLoad(() => ask(() => api.GET('/v1/sites/datacenters')))
  const [php, places] = [versions.got.value?.data, centers.got.value?.data]
  if (!php || !places) return null
  return (
    <section class="sheet">
      <h2>{texts.defaults}</h2>
      <Form
        fields={[
          { name: 'php', label: texts.php, options: php, value: known.defaultPhpVersion },
          {
            name: 'center',
            label: texts.datacenter,
            options: [['', texts.nearest], ...places.map(({ code, name }) => [code, name] as const)],
            value: known.defaultDatacenter ?? '',
          },
        ]}
        button={texts.save}
        submit={async ({ php: php_version, center }) => {
          const body = { php_version: php_version as Update['php_version'], datacenter_code: center || null }
          await ask(() => api.PUT('/v1/account', { body }))
          told(texts.saved)
          await reload()
        }}
      />
    </section>
  )
}

function Addons({ reload }: { reload(): Promise<void> }) {
  const addons = useLoad(() => ask(() => api.GET('/v1/account/addons')))
  const attached = useLoad(() => ask(() => api.GET('/v1/account/addons/attached')))
  const quantityOf = (name: string) => attached.got.value?.data.find((each) => each.name === name)?.quantity ?? 0
  return (
    <section class="sheet">
      <h2>{texts.addons}</h2>
      <List
        from={addons}
        caption={texts.addons}
        head={texts.addonsHead}
        empty={texts.noAddons}
        row={({ id, name, unitAllocation }) => [
          name,
          texts.brings(unitAllocation),
          quantityOf(name),
          <Form
            key={quantityOf(name)}
            fields={[
              { name: 'quantity', label: texts.quantity(name), type: 'number', value: String(quantityOf(name)) },
            ]}
            button={texts.set}
            submit={async ({ quantity }) => {
              const body = { addon_id: id, quantity: Number(quantity) }
              await ask(() => api.PUT('/v1/account/addons', { body }))
              told(texts.changed)
              await Promise.all([attached.reload(), reload()])
            }}
          />,
        ]}
      />
    </section>
  )
}
