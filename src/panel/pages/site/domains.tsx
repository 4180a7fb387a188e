import { useSignal } from '@preact/signals'
import type { components } from '../../../sdk/api.generated.ts'
import { api, ask } from '../../api.ts'
import { askFirst } from '../../parts/ask-first.tsx'
import { Button } from '../../parts/button.tsx'
import { Dialog } from '../../parts/dialog.tsx'
import { Form } from '../../parts/form.tsx'
import { May } from '../../parts/rights.tsx'
import { useLoad } from '../../parts/use-load.ts'
import { domainsTexts as texts } from '../../texts/site/domains.ts'
import { Certificate } from './certificate.tsx'
import type { PartProps } from './part.ts'

type Domain = components['schemas']['ListedDomain']

/** In words, with what is to be done next. */
function stateOf({ domainName, ipAddresses, dnsConfirmed, provisioned, healthy }: Domain): string {
  if (!dnsConfirmed) return texts.away(domainName, ipAddresses.join(', '))
  if (!provisioned) return texts.coming
  return healthy ? texts.works : texts.silent
}

export function Domains({ id, act }: PartProps) {
  const params = { path: { site_id: id } }
  const domains = useLoad(() => ask(() => api.GET('/v1/sites/{site_id}/domains', { params })), [id])
  const isAdding = useSignal(false)
  const got = domains.got.value
  const pathOf = (domain: Domain) => ({ params: { path: { site_id: id, id: domain.id } } })
  const primary = (domain: Domain) =>
    act(texts.primaryDomain, async () => {
      const done = await ask(() => api.PUT('/v1/sites/{site_id}/domains/{id}/primary', pathOf(domain)))
      await domains.reload()
      return done
    })
  const look = (domain: Domain) =>
    act(texts.lookAt(domain.domainName), () =>
      ask(() => api.POST('/v1/sites/{site_id}/domains/{id}/check', pathOf(domain))),
    )
  const drop = (domain: Domain) =>
    askFirst({
      title: texts.deleteOf(domain.domainName),
      text: texts.deleteIs,
      button: texts.delete,
      async go() {
        const done = await ask(() => api.DELETE('/v1/sites/{site_id}/domains/{id}', pathOf(domain)))
        act(texts.deleted, async () => done)()
        await domains.reload()
      },
    })
  return (
    <>
      <div class="row spread">
        <h2>{texts.title}</h2>
        <Button
          of="addDomain"
          onClick={() => {
            isAdding.value = true
          }}
        >
          {texts.add}
        </Button>
      </div>
      {domains.fault.value && <p class="fault">{domains.fault.value}</p>}
      {got?.data.length === 0 && <p class="quiet">{texts.empty}</p>}
      {got?.data.map((domain) => (
        <section key={domain.id} class="sheet">
          <div class="row spread">
            <h3>
              {domain.domainName} {domain.primary && <span class="tag">{texts.primary}</span>}
            </h3>
            <span class="row">
              <Button of="checkDomain" label={texts.lookAt(domain.domainName)} onClick={look(domain)}>
                {texts.look}
              </Button>
              {!domain.primary && (
                <Button of="setPrimaryDomain" label={texts.makePrimaryOf(domain.domainName)} onClick={primary(domain)}>
                  {texts.makePrimary}
                </Button>
              )}
              <May do="addDomain" what={texts.recordsOf(domain.domainName)}>
                <a href={`#/zones/${domain.zoneId}`} aria-label={texts.recordsOf(domain.domainName)}>
                  {texts.records}
                </a>
              </May>
              <Button of="deleteDomain" isBad label={texts.deleteOf(domain.domainName)} onClick={drop(domain)}>
                {texts.delete}
              </Button>
            </span>
          </div>
          <p class={domain.healthy ? 'succeeded' : 'running'}>{stateOf(domain)}</p>
          {domain.dnsConfirmed && <Certificate domain={domain} act={act} />}
        </section>
      ))}
      {isAdding.value && (
        <Dialog
          title={texts.add}
          onClose={() => {
            isAdding.value = false
          }}
        >
          <Form
            fields={[{ name: 'name', label: texts.name, autocomplete: 'off' }]}
            button={texts.addIt}
            submit={async ({ name = '' }) => {
              const done = await ask(() =>
                api.POST('/v1/sites/{site_id}/domains', { params, body: { name: name.trim() } }),
              )
              isAdding.value = false
              // the claim of a domain that another account has
              if (done.message !== undefined && done.message !== 'Success') act(done.message, async () => done)()
              await domains.reload()
            }}
          />
        </Dialog>
      )}
    </>
  )
}
