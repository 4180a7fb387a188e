import type { components } from '../../../../sdk/api.generated.ts'
import { api, ask, Refusal } from '../../../api.ts'
import { Button } from '../../../parts/button.tsx'
import { Step, type StepState, Steps } from '../../../parts/steps.tsx'
import { Switch } from '../../../parts/switch.tsx'
import { useLoad } from '../../../parts/use-load.ts'
import { domainsTexts as texts } from '../../../texts/site/domains.ts'
import { dayOf } from '../../../time.ts'
import { stagingAddress } from '../../site-address.ts'
import type { PartProps } from '../part.ts'
import { type DnsLine, Records } from './domain-records.tsx'

export type Domain = components['schemas']['ListedDomain']
type Ssl = Partial<components['schemas']['SslDetails']>

/** The state of a domain, in one word. */
export function stateOf({ dnsConfirmed, provisioned, healthy }: Domain): keyof typeof texts.states {
  if (healthy) return 'online'
  if (!dnsConfirmed) return 'dns'
  return provisioned ? 'fault' : 'setup'
}

type Props = Pick<PartProps, 'site' | 'act'> & { readonly domain: Domain }

/** The steps until a domain shows the site, done and open. */
export function DomainSteps({ domain, site, act }: Props) {
  const params = { path: { zone_id: domain.zoneId, id: domain.id } }
  const ssl = useLoad<Ssl>(
    () =>
      ask(() => api.GET('/v1/zones/{zone_id}/records/{id}/ssl', { params })).catch((error: unknown) => {
        if (error instanceof Refusal && error.code === 'ssl_nothing_found') return { data: {} }
        throw error
      }),
    [domain.id],
  )
  const put = (about: string, body: { force_ssl?: boolean }) =>
    act(about, async () => {
      const done = await ask(() => api.PUT('/v1/zones/{zone_id}/records/{id}/ssl', { params, body }))
      await ssl.reload()
      return done
    })
  return (
    <Steps label={texts.steps(domain.domainName)}>
      <DnsStep domain={domain} site={site} />
      <Step state={connection(domain)} title={domain.healthy ? texts.connectDone : texts.connect}>
        {!domain.healthy && (
          <p class="quiet">
            {domain.dnsConfirmed && domain.provisioned ? (domain.reason ?? texts.silent) : texts.connecting}
          </p>
        )}
      </Step>
      {/* Without the right to see the zone, the certificate is hidden. */}
      {ssl.got.value && <CertificateStep domain={domain} ssl={ssl.got.value.data} put={put} />}
    </Steps>
  )
}

function connection({ healthy, dnsConfirmed, provisioned }: Domain): StepState {
  if (healthy) return 'done'
  if (!dnsConfirmed) return 'todo'
  return provisioned ? 'failed' : 'now'
}

function DnsStep({ domain, site }: Pick<Props, 'domain' | 'site'>) {
  const host = domain.name ?? texts.apex
  const lines: DnsLine[] = domain.ipAddresses.map((value) => ({ type: texts.a, host, value }))
  if (domain.dnsConfirmed)
    return (
      <Step state="done" title={texts.dnsDone}>
        <details>
          <summary>{texts.show}</summary>
          <Records of={lines} />
        </details>
      </Step>
    )
  const staging = stagingAddress(site)
  const isPublic = !/(^|\.)localhost$/.test(staging)
  return (
    <Step state="now" title={texts.dns}>
      <p class="quiet">{texts.where(domain.domainName)}</p>
      <Records of={lines} />
      {domain.name === null && <p class="quiet small">{texts.noCname}</p>}
      {domain.name !== null && isPublic && (
        <>
          <p class="quiet small">{texts.orCname}</p>
          <Records of={[{ type: texts.cname, host, value: `${staging}.` }]} />
        </>
      )}
      <p class="small">
        {domain.reason && texts.now(domain.reason)} <span class="quiet">{texts.every}</span>
      </p>
    </Step>
  )
}

function CertificateStep(props: {
  readonly domain: Domain
  readonly ssl: Ssl
  put(about: string, body: { force_ssl?: boolean }): () => void
}) {
  const { domain, ssl, put } = props
  const { certificate_expiration_date: until, broken_check: why, force_ssl } = ssl
  const isForced = force_ssl === 'true'
  const { domainName: name } = domain
  // A wildcard is validated in its zone, wherever its names point.
  const isAsked = domain.dnsConfirmed || name.startsWith('*.')
  const state = until ? 'done' : why ? 'failed' : isAsked ? 'now' : 'todo'
  return (
    <Step state={state} title={until ? texts.certificateDone(dayOf(until)) : texts.certificate}>
      {until && !why && <p class="quiet">{texts.renewed}</p>}
      {!until && !why && <p class="quiet">{isAsked ? texts.requesting : texts.waiting}</p>}
      {!until && name.startsWith('*.') && <p class="quiet">{texts.wildcard(name.slice('*.'.length))}</p>}
      {why && isAsked && <p class="fault">{texts.broken(why)}</p>}
      {(why || !until) && isAsked && (
        <p class="row">
          <Button isSmall of="addDomain" label={texts.retryOf(name)} onClick={put(texts.retryOf(name), {})}>
            {texts.retry}
          </Button>
        </p>
      )}
      {until && (
        <Switch
          label={texts.force}
          of="addDomain"
          isOn={isForced}
          turn={(to) => put(texts.forced, { force_ssl: to })()}
        />
      )}
    </Step>
  )
}
