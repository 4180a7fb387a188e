import { useEffect } from 'preact/hooks'
import type { components } from '../../sdk/api.generated.ts'
import { api, ask } from '../api.ts'
import { List } from '../parts/list.tsx'
import { useLoad } from '../parts/use-load.ts'
import { sizeOf } from '../size.ts'
import { platformTexts as texts } from '../texts/platform.ts'
import { timeOf } from '../time.ts'
import { Checks } from './platform-checks.tsx'

type Health = components['schemas']['InstallationHealth']
type Budget = Health['processes'][number]['budgets'][number]

/** As often as processes tell of themselves. */
const AGAIN_MS = 10_000

/** How Stead itself is, for who operates it. */
export function PlatformPage() {
  const installation = useLoad(() => ask(() => api.GET('/v1/installation')))
  useEffect(() => {
    const timer = setInterval(() => {
      if (!document.hidden) void installation.reload()
    }, AGAIN_MS)
    return () => clearInterval(timer)
  }, [])
  const known = installation.got.value?.data
  return (
    <>
      <h1>{texts.title}</h1>
      {installation.fault.value && <p class="fault">{installation.fault.value}</p>}
      {known && !known.health && <p class="quiet">{texts.notYours}</p>}
      {known?.health && <Checks />}
      {known?.health && <Shown of={known.health} />}
    </>
  )
}

/** Of what is there already. */
const from = <Row,>(data: readonly Row[]) => ({ got: { value: { data } }, fault: { value: '' } })

const runnerOf = (runner: string): string =>
  Object.entries(texts.runners).find(([each]) => each === runner)?.[1] ?? runner

const Shown = ({ of: health }: { readonly of: Health }) => {
  const { hosts, queues, webhooks, certificates, operations, sites, processes } = health
  const waiting = [...queues, { runner: 'webhooks', due: webhooks.due, oldest_seconds: webhooks.oldest_seconds }]
  return (
    <>
      {health.version && <p class="quiet">{texts.version(health.version)}</p>}
      <Names of={health.names} />
      <section class="sheet">
        <h2>{texts.hosts}</h2>
        <List
          from={from(hosts)}
          caption={texts.hosts}
          head={texts.hostsHead}
          empty={texts.noHosts}
          row={(host) => [
            host.name,
            texts.of(host.sites, host.max_sites),
            host.seen_at === null ? texts.never : timeOf(host.seen_at),
            <span class={host.answers ? 'succeeded' : 'failed'}>{texts.answers[`${host.answers}`]}</span>,
          ]}
        />
      </section>
      <div class="columns">
        <section class="sheet">
          <h2>{texts.queues}</h2>
          <List
            from={from(waiting)}
            caption={texts.queues}
            head={texts.queuesHead}
            empty={texts.noQueues}
            row={({ runner, due, oldest_seconds }) => [runnerOf(runner), due, texts.seconds(oldest_seconds)]}
          />
        </section>
        <section class="sheet">
          <h2>{texts.care}</h2>
          <dl>
            <dt>{texts.backedUp}</dt>
            <dd>{health.records_backed_up === null ? texts.never : timeOf(health.records_backed_up)}</dd>
            <dt>{texts.failing}</dt>
            <dd>{certificates.failing}</dd>
            <dt>{texts.ended}</dt>
            <dd>{certificates.ended}</dd>
            <dt>{texts.firstEnd}</dt>
            <dd>{timeOf(certificates.first_end)}</dd>
            <dt>{texts.hooks}</dt>
            <dd>{webhooks.failing}</dd>
            <dt>{texts.hooksOff}</dt>
            <dd>{webhooks.disabled}</dd>
          </dl>
        </section>
        <States title={texts.work} of={operations} />
        <States title={texts.sites} of={sites} />
      </div>
      <section class="sheet">
        <h2>{texts.processes}</h2>
        <List
          from={from(processes)}
          caption={texts.processes}
          head={texts.processesHead}
          empty={texts.noProcesses}
          row={({ process, resident_bytes, disk_free_bytes, budgets }) => [
            process,
            sizeOf(resident_bytes),
            sizeOf(disk_free_bytes),
            fullest(budgets),
            budgets.reduce((sum, { refusals }) => sum + refusals, 0).toLocaleString(),
          ]}
        />
        {processes.map(({ process, budgets }) => (
          <details key={process}>
            <summary>{texts.budgetsOf(process)}</summary>
            <List
              from={from(budgets)}
              caption={texts.budgetsOf(process)}
              head={texts.budgetsHead}
              empty={texts.noBudgets}
              row={({ name, used, limit, refusals }) => [
                name,
                used.toLocaleString(),
                limit.toLocaleString(),
                refusals.toLocaleString(),
              ]}
            />
          </details>
        ))}
      </section>
    </>
  )
}

/** Shown only when something is wrong with them. */
const Names = ({ of: { shared_domain: shared, taken } }: { readonly of: Health['names'] }) =>
  shared === null && taken.length === 0 ? null : (
    <section class="sheet">
      <h2>{texts.names}</h2>
      {shared !== null && <p class="fault">{texts.shared(shared)}</p>}
      {taken.length > 0 && (
        <List
          from={from(taken)}
          caption={texts.taken}
          head={texts.takenHead}
          empty={texts.none}
          row={({ name, kind, site, account }) => [name, kindOf(kind), site ?? '', account]}
        />
      )}
    </section>
  )

const kindOf = (kind: string): string => Object.entries(texts.takenKinds).find(([each]) => each === kind)?.[1] ?? kind

const States = ({ title, of }: { readonly title: string; readonly of: Health['sites'] }) => (
  <section class="sheet">
    <h2>{title}</h2>
    <List
      from={from(of)}
      caption={title}
      head={texts.statesHead}
      empty={texts.none}
      row={({ state, count }) => [<span class={`state ${state}`}>{state}</span>, count.toLocaleString()]}
    />
  </section>
)

const shareOf = ({ used, limit }: Budget): number => (limit > 0 ? used / limit : 0)

function fullest(budgets: readonly Budget[]): string {
  const [most] = budgets.toSorted((left, right) => shareOf(right) - shareOf(left))
  return most ? texts.fullest(most.name, Math.round(shareOf(most) * 100)) : texts.none
}
