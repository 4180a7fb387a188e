import { useSignal } from '@preact/signals'
import { api, ask, Refusal } from '../../../api.ts'
import { askFirst } from '../../../parts/ask-first.tsx'
import { Button } from '../../../parts/button.tsx'
import { Callout } from '../../../parts/callout.tsx'
import { Card } from '../../../parts/card.tsx'
import { Empty } from '../../../parts/empty.tsx'
import { Form } from '../../../parts/form.tsx'
import { Icon } from '../../../parts/icon.tsx'
import { Skeleton } from '../../../parts/list.tsx'
import { Menu, MenuItem } from '../../../parts/menu.tsx'
import { May } from '../../../parts/rights.tsx'
import { attempt, told } from '../../../parts/toasts.tsx'
import { useLoad } from '../../../parts/use-load.ts'
import { domainsTexts as texts } from '../../../texts/site/domains.ts'
import { timeOf } from '../../../time.ts'
import { siteAddress, stagingAddress } from '../../site-address.ts'
import type { PartProps } from '../part.ts'
import { type DnsLine, Records } from './domain-records.tsx'
import { type Domain, DomainSteps, stateOf } from './domain-steps.tsx'

const colors = { online: 'good', dns: 'warn', setup: 'info', fault: 'bad' } as const

export function Domains(props: PartProps) {
  const { id, site } = props
  const params = { path: { site_id: id } }
  const query = { include: 'reason' as const }
  const domains = useLoad(
    () => ask(() => api.GET('/v1/sites/{site_id}/domains', { params: { ...params, query } })),
    [id],
  )
  const claim = useSignal<Claim | undefined>(undefined)
  const claims = useLoad(() => ask(() => api.GET('/v1/sites/{site_id}/domain-claims', { params })), [id])
  async function add(name: string): Promise<void> {
    try {
      const done = await ask(() => api.POST('/v1/sites/{site_id}/domains', { params, body: { name } }))
      claim.value = undefined
      // Claims a domain of another account. The list of claims says when it moves.
      if (done.message === 'Success') told(texts.added(name))
      await Promise.all([domains.reload(), claims.reload()])
    } catch (error) {
      claim.value = claimIn(name, error)
      if (!claim.value) throw error
    }
  }
  async function cancelClaim(name: string): Promise<void> {
    const path = { site_id: id, domain: name }
    await ask(() => api.DELETE('/v1/sites/{site_id}/domain-claims/{domain}', { params: { path } }))
    told(texts.claimCanceled(name))
    await claims.reload()
  }
  const got = domains.got.value?.data
  return (
    <>
      <May do="addDomain" what={texts.add}>
        <section class="sheet" aria-label={texts.add}>
          <Form
            class="adding"
            fields={[
              {
                name: 'name',
                label: texts.name,
                hint: texts.hint,
                placeholder: texts.placeholder,
                autocomplete: 'off',
              },
            ]}
            button={texts.add}
            isEmptied
            of="addDomain"
            submit={({ name = '' }) => add(name.trim())}
          />
        </section>
      </May>
      {claim.value && <ClaimNote claim={claim.value} again={add} />}
      {claims.got.value?.data.map((each) => (
        <PendingClaim key={`${each.role} ${each.domain}`} {...each} cancel={cancelClaim} />
      ))}
      {domains.fault.value && <p class="fault">{domains.fault.value}</p>}
      {!got && !domains.fault.value && <Skeleton />}
      {got?.length === 0 && (
        <div class="card">
          <Empty icon="globe" title={texts.emptyTitle} text={texts.empty} />
        </div>
      )}
      {got?.map((domain) => (
        <DomainCard key={domain.id} {...props} domain={domain} reload={domains.reload} />
      ))}
      <p class="quiet">
        {texts.always}{' '}
        <a href={siteAddress(stagingAddress(site))} target="_blank" rel="noreferrer">
          {stagingAddress(site)}
        </a>
      </p>
    </>
  )
}

interface CardProps extends PartProps {
  readonly domain: Domain
  reload(): Promise<void>
}

function DomainCard(props: CardProps) {
  const { id, act, domain, reload } = props
  const { domainName: name } = domain
  const path = { params: { path: { site_id: id, id: domain.id } } }
  const state = stateOf(domain)
  return (
    <Card
      title={name}
      actions={
        <>
          {domain.primary && <span class="badge accent">{texts.primary}</span>}
          <span class={`badge ${colors[state]}`}>{texts.states[state]}</span>
          <Button
            isSmall
            of="checkDomain"
            label={texts.checkOf(name)}
            onClick={act(texts.checkOf(name), () =>
              ask(() => api.POST('/v1/sites/{site_id}/domains/{id}/check', path)),
            )}
          >
            {texts.check}
          </Button>

          <Menu of="deleteDomain" label={texts.more(name)} class="ghost sm only-icon" button={<Icon name="ellipsis" />}>
            {!domain.primary && !name.startsWith('*.') && (
              <MenuItem
                icon="star"
                of="setPrimaryDomain"
                onClick={act(texts.primaryOf(name), async () => {
                  const done = await ask(() => api.PUT('/v1/sites/{site_id}/domains/{id}/primary', path))
                  await reload()
                  return done
                })}
              >
                {texts.setPrimary}
              </MenuItem>
            )}
            <MenuItem icon="pencil" of="addDomain" to={`#/zones/${domain.zoneId}`}>
              {texts.records}
            </MenuItem>
            <MenuItem
              icon="trash2"
              isBad
              of="deleteDomain"
              onClick={askFirst({
                title: texts.deleteOf(name),
                text: texts.deleteIs,
                button: texts.delete,
                async go() {
                  await ask(() => api.DELETE('/v1/sites/{site_id}/domains/{id}', path))
                  told(texts.deleted(name))
                  await reload()
                },
              })}
            >
              {texts.delete}
            </MenuItem>
          </Menu>
        </>
      }
    >
      <DomainSteps {...props} />
    </Card>
  )
}

interface Claim {
  readonly name: string
  readonly zone: string
  readonly record: DnsLine
  readonly seen: string
}

/** What the API requires before it moves a domain from another account. */
function claimIn(name: string, error: unknown): Claim | undefined {
  if (!(error instanceof Refusal) || error.code !== 'zone_of_other_account') return undefined
  const [, host = '', value = '', seen = ''] =
    /TXT record (\S+) with the value (\S+?),? then .*So far (.*?)\.?$/s.exec(error.message) ?? []
  if (!host) return undefined
  return { name, zone: host.replace(/^[^.]+\./, ''), record: { type: texts.txt, host, value }, seen }
}

interface PendingClaimProps {
  readonly role: 'claimant' | 'holder'
  readonly domain: string
  readonly recordName: string
  readonly movesAt: string
  cancel(name: string): Promise<void>
}

const PendingClaim = ({ role, domain, recordName, movesAt, cancel }: PendingClaimProps) =>
  role === 'claimant' ? (
    <Card title={texts.claimPending(domain)}>
      <p>{texts.claimMoves(timeOf(movesAt))}</p>
      <Button of="cancelDomainClaim" onClick={attempt(() => cancel(domain))}>
        {texts.cancelClaim}
      </Button>
    </Card>
  ) : (
    <Card title={texts.claimPending(domain)}>
      <Callout kind="warn">{texts.claimByOther(timeOf(movesAt), recordName)}</Callout>
    </Card>
  )

const ClaimNote = ({ claim, again }: { readonly claim: Claim; again(name: string): Promise<void> }) => (
  <Card title={texts.claim(claim.zone)}>
    <p>{texts.claimIs}</p>
    <Records of={[claim.record]} />
    <Callout kind="warn">{texts.seen(claim.seen)}</Callout>
    <Form fields={[]} button={texts.claimAgain} submit={() => again(claim.name)} />
  </Card>
)
