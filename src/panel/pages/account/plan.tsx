import type { components } from '../../../sdk/api.generated.ts'
import { api, ask } from '../../api.ts'
import { Callout } from '../../parts/callout.tsx'
import { Card } from '../../parts/card.tsx'
import { Form } from '../../parts/form.tsx'
import { List, Skeleton } from '../../parts/list.tsx'
import { Stat } from '../../parts/stat.tsx'
import { told } from '../../parts/toasts.tsx'
import { useLoad } from '../../parts/use-load.ts'
import { session } from '../../session.ts'
import { planTexts as texts } from '../../texts/account-pages.ts'
import { DefaultUpdatePolicy } from './default-update-policy.tsx'

type Update = components['schemas']['AccountUpdate']
type Account = components['schemas']['Account']

/** The limits of the account, its usage, and the defaults of new sites. */
export function Plan() {
  const account = useLoad(() => ask(() => api.GET('/v1/account')))
  const known = account.got.value?.data
  return (
    <>
      <div class="head">
        <h1>{texts.title}</h1>
      </div>
      {account.fault.value && <p class="fault">{account.fault.value}</p>}
      {!known && !account.fault.value && <Skeleton />}
      {known && <Usage known={known} />}
      {known && <Defaults known={known} reload={account.reload} />}
      <DefaultUpdatePolicy />
      <Addons reload={account.reload} />
    </>
  )
}

function Usage({ known }: { readonly known: Account }) {
  const { billable, maxBillable, staging, maxStaging } = known.capacity.sites
  const used = (label: string, count: number, most: number) => (
    <Stat label={label} value={count.toLocaleString()} note={texts.of(most)}>
      <progress max={most} value={count} aria-label={label} />
    </Stat>
  )
  return (
    <div class="grid-12">
      <Stat label={texts.plan} value={known.productName} />
      {used(texts.billable, billable, maxBillable)}
      {used(texts.staging, staging, maxStaging)}
      <Stat label={texts.views} value={known.pageViews.currentMonth.views.toLocaleString()} />
    </div>
  )
}

function Defaults({ known, reload }: { readonly known: Account; reload(): Promise<void> }) {
  const versions = useLoad(() => ask(() => api.GET('/v1/sites/php-versions')))
  const centers = useLoad(() => ask(() => api.GET('/v1/sites/datacenters')))
  const [php, places] = [versions.got.value?.data, centers.got.value?.data]
  if (!php || !places) return null
  return (
    <Card title={texts.defaults}>
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
    </Card>
  )
}

/** Without the right to change limits, the list shows the attached add-ons and who can change them. */
function Addons({ reload }: { reload(): Promise<void> }) {
  const addons = useLoad(() => ask(() => api.GET('/v1/account/addons')))
  const attached = useLoad(() => ask(() => api.GET('/v1/account/addons/attached')))
  const quantityOf = (name: string) => attached.got.value?.data.find((each) => each.name === name)?.quantity ?? 0
  const mayRaise = session.value?.raises_limits
  return (
    <Card title={texts.addons} isFlush>
      {!mayRaise && (
        <div class="body">
          <Callout>{texts.byOperator}</Callout>
        </div>
      )}
      <List
        from={addons}
        caption={texts.addonsList}
        head={mayRaise ? texts.addonsHead : texts.addonsHead.slice(0, 3)}
        hiddenHeads={texts.hiddenHeads}
        isStacked
        empty={texts.noAddons}
        row={({ id, name, unitAllocation }) => [
          <b>{name}</b>,
          texts.brings(unitAllocation),
          quantityOf(name).toLocaleString(),
          ...(mayRaise
            ? [
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
              ]
            : []),
        ]}
      />
    </Card>
  )
}
