import type { ComponentChildren } from 'preact'
import { useEffect } from 'preact/hooks'
import { api, ask } from '../api.ts'
import { Callout } from '../parts/callout.tsx'
import { Card } from '../parts/card.tsx'
import { Skeleton } from '../parts/list.tsx'
import { Stat } from '../parts/stat.tsx'
import { Tabs } from '../parts/tabs.tsx'
import { Tip } from '../parts/tip.tsx'
import { useLoad } from '../parts/use-load.ts'
import { platformTexts as texts } from '../texts/platform.ts'
import { agoOf, timeOf } from '../time.ts'
import { Accounts } from './platform-accounts.tsx'
import { Checks } from './platform-checks.tsx'
import { Hosts } from './platform-hosts.tsx'
import { type Health, Names, Processes, Queues } from './platform-tables.tsx'

/** The interval at which processes report their state. */
const AGAIN_MS = 10_000

/** The state of Stead itself, for its operator. */
export function PlatformPage() {
  const installation = useLoad(() => ask(() => api.GET('/v1/installation')))
  useEffect(() => {
    const timer = setInterval(() => {
      if (!document.hidden) void installation.reload()
    }, AGAIN_MS)
    return () => clearInterval(timer)
  }, [])
  const known = installation.got.value?.data
  const health = known?.health
  return (
    <>
      <div class="head">
        <h1>{texts.title}</h1>
        {health?.version && (
          <div class="right">
            <span class="quiet">{texts.version(health.version)}</span>
          </div>
        )}
      </div>
      {installation.fault.value && <p class="fault">{installation.fault.value}</p>}
      {!known && !installation.fault.value && <Skeleton />}
      {known && !health && <Callout>{texts.notYours}</Callout>}
      {health && (
        <Tabs label={texts.title} tabs={texts.tabs} clears={['place']}>
          {(shown) => views[shown](health, installation.reload)}
        </Tabs>
      )}
    </>
  )
}

const views: Readonly<Record<keyof typeof texts.tabs, (health: Health, reload: () => unknown) => ComponentChildren>> = {
  overview: (health) => <Overview of={health} />,
  accounts: () => <Accounts />,
  hosts: ({ hosts, queues, webhooks }, reload) => (
    <div class="grid-12">
      <Hosts of={hosts} onChange={reload} />
      <Queues of={[...queues, { runner: 'webhooks', due: webhooks.due, oldest_seconds: webhooks.oldest_seconds }]} />
    </div>
  ),
  processes: ({ processes }) => <Processes of={processes} />,
}

const sum = (rows: readonly { readonly count: number }[]): number => rows.reduce((all, { count }) => all + count, 0)

const countOf = (rows: Health['sites'], ...states: string[]): number =>
  sum(rows.filter(({ state }) => states.includes(state)))

const Overview = ({ of: health }: { readonly of: Health }) => {
  const { hosts, certificates, webhooks, operations, sites } = health
  const answering = hosts.filter(({ answers }) => answers).length
  return (
    <>
      <div class="grid-12">
        <Stat label={texts.sites} value={sum(sites).toLocaleString()} note={texts.live(countOf(sites, 'live'))} />
        <Stat label={texts.hosts} value={texts.of(answering, hosts.length)} note={texts.answering} />
        <Stat
          label={texts.work}
          value={countOf(operations, 'queued', 'running').toLocaleString()}
          note={texts.failed(countOf(operations, 'failed'))}
        />
        <Stat
          label={texts.backedUp}
          value={
            health.records_backed_up === null ? (
              texts.never
            ) : (
              <Tip text={timeOf(health.records_backed_up)}>{agoOf(health.records_backed_up)}</Tip>
            )
          }
        />
      </div>
      <Names of={health.names} />
      <div class="grid-12">
        <Checks />
        <Card title={texts.care} class="s4">
          <dl>
            <dt>{texts.failing}</dt>
            <dd>{certificates.failing.toLocaleString()}</dd>
            <dt>{texts.ended}</dt>
            <dd>{certificates.ended.toLocaleString()}</dd>
            <dt>{texts.firstEnd}</dt>
            <dd>{timeOf(certificates.first_end)}</dd>
            <dt>{texts.hooks}</dt>
            <dd>{webhooks.failing.toLocaleString()}</dd>
            <dt>{texts.hooksOff}</dt>
            <dd>{webhooks.disabled.toLocaleString()}</dd>
          </dl>
        </Card>
      </div>
    </>
  )
}
