import type { components } from '../../sdk/api.generated.ts'
import { api, ask } from '../api.ts'
import { type Alert, AlertState, pageOfAlert } from '../parts/alert-state.tsx'
import { CursorPages, placeShown } from '../parts/cursor-pages.tsx'
import { Empty } from '../parts/empty.tsx'
import { Filters, filterOf } from '../parts/filters.tsx'
import { Icon } from '../parts/icon.tsx'
import { List } from '../parts/list.tsx'
import { Menu, MenuItem } from '../parts/menu.tsx'
import { attempt, told } from '../parts/toasts.tsx'
import { useLoad } from '../parts/use-load.ts'
import { alertsTexts as texts } from '../texts/alerts.ts'
import { siteUptimeTexts } from '../texts/monitoring.ts'
import { timeOf } from '../time.ts'

const PER_PAGE = 50
const HOUR = 3_600_000

/** How long each choice mutes, in hours. */
const times = [
  ['hour', 1],
  ['day', 24],
  ['week', 168],
  ['always', undefined],
] as const

type Kind = components['schemas']['AlertSettings']['mail'][number]

/** The alerts of all sites, open and past. */
export function AlertsPage() {
  const settings = useLoad(() => ask(() => api.GET('/v1/alerts/settings')))
  const kinds = Object.fromEntries((settings.got.value?.data.kinds ?? []).map(({ kind, title }) => [kind, title]))
  const state = (['firing', 'resolved'] as const).find((each) => each === filterOf('state'))
  const kind = (filterOf('kind') || undefined) as Kind | undefined
  const query = { after: placeShown(), per_page: PER_PAGE, ...(state && { state }), ...(kind && { kind }) }
  const alerts = useLoad<Alert[]>(
    () => ask(() => api.GET('/v1/alerts', { params: { query } })),
    [state, kind, placeShown()],
  )
  return (
    <>
      <div class="head">
        <h1>{texts.title}</h1>
        <div class="right">
          <a class="button" href="#/account/alerts">
            <Icon name="settings" /> {texts.settings}
          </a>
        </div>
      </div>
      <div class="row spread top-aligned">
        <Filters
          of={[
            { name: 'state', label: texts.state, options: texts.states },
            { name: 'kind', label: texts.kind, options: kinds },
          ]}
        />
      </div>
      <List
        from={alerts}
        caption={texts.caption}
        head={texts.head}
        hiddenHeads={texts.hiddenHeads}
        columns={['wide', '', '', '', 'num']}
        isStacked
        empty={
          <div class="card">
            {state || kind ? (
              <Empty icon="search" title={texts.noneTitle} text={texts.noneText} />
            ) : (
              <Empty icon="bell" title={texts.emptyTitle} text={texts.empty} />
            )}
          </div>
        }
        row={(alert) => [
          <span class="who">
            <span>
              <a class="name" href={pageOfAlert(alert)}>
                {alert.title}
              </a>
              <span class="sub">{alert.detail}</span>
            </span>
          </span>,
          <>
            <AlertState of={alert} /> {alert.muted && <span class="badge">{texts.muted}</span>}
          </>,
          timeOf(alert.began_at),
          lengthOf(alert.began_at, alert.ended_at),
          <MuteMenu alert={alert} reload={alerts.reload} />,
        ]}
      />
      <CursorPages next={alerts.got.value?.next} />
    </>
  )
}

/** Mutes the kind of an alert on its site, or all of its site. The message has an undo. */
function MuteMenu({ alert, reload }: { readonly alert: Alert; reload(): Promise<void> }) {
  const mute = (of: Parameters<typeof muteBody>[0]) =>
    attempt(async () => {
      const { data } = await ask(() => api.POST('/v1/alerts/mutes', { body: muteBody(of) }))
      told(
        texts.hasMuted,
        attempt(async () => {
          await ask(() => api.DELETE('/v1/alerts/mutes/{id}', { params: { path: { id: data.id } } }))
          await reload()
          told(texts.unmuted)
        }),
      )
      await reload()
    })
  const kind = alert.kind as Kind
  return (
    <Menu class="ghost sm only-icon" label={texts.muteOf(alert.title)} button={<Icon name="bellOff" />}>
      {times.map(([name, hours]) => (
        <MenuItem key={name} onClick={mute({ kind, site: alert.site_id, hours })}>
          {texts.times[name]}
        </MenuItem>
      ))}
      {alert.site_id !== null && (
        <MenuItem onClick={mute({ site: alert.site_id, hours: 24 })}>{texts.times.site}</MenuItem>
      )}
    </Menu>
  )
}

function muteBody({ kind, site, hours }: { kind?: Kind; site: number | null; hours: number | undefined }) {
  return {
    ...(kind && { kind }),
    ...(site !== null && { site_id: site }),
    ...(hours && { until: new Date(Date.now() + hours * HOUR).toISOString() }),
  }
}

/** Formats how long an alert lasted, or has lasted until now. */
function lengthOf(from: string, to: string | null): string {
  const until = to === null ? Date.now() : Date.parse(to)
  const minutes = Math.max(1, Math.round((until - Date.parse(from)) / 60_000))
  return minutes < 60 ? siteUptimeTexts.minutes(minutes) : siteUptimeTexts.hours(Math.floor(minutes / 60), minutes % 60)
}
