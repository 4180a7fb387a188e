import { api, ask } from '../api.ts'
import { type Alert, pageOfAlert } from '../parts/alert-state.tsx'
import { Icon } from '../parts/icon.tsx'
import { Menu, MenuItem } from '../parts/menu.tsx'
import { attempt } from '../parts/toasts.tsx'
import { useLoad } from '../parts/use-load.ts'
import { alertsTexts as texts } from '../texts/alerts.ts'
import { agoOf } from '../time.ts'

/** The bell names this many open alerts. */
const MOST = 6

/** The open alerts that the person has chosen to see, with the number of unread ones. Opening it marks them as read. */
export function Bell() {
  const open = useLoad<Alert[]>(() =>
    ask(() => api.GET('/v1/alerts', { params: { query: { bell: true, per_page: MOST } } })),
  )
  const unread = useLoad(() =>
    ask(() => api.GET('/v1/alerts', { params: { query: { bell: true, unread: true, per_page: 1 } } })),
  )
  const count = unread.got.value?.page?.totalItems ?? 0
  const alerts = open.got.value?.data ?? []
  const read = attempt(async () => {
    const newest = unread.got.value?.data[0]
    if (!newest) return
    await ask(() => api.POST('/v1/alerts/read', { body: { up_to: newest.id } }))
    await unread.reload()
  })
  return (
    <Menu
      class="ghost bell"
      label={texts.bell(count)}
      onOpen={read}
      button={
        <>
          <Icon name="bell" />
          {count > 0 && <span class="badge bad">{texts.badge(count)}</span>}
        </>
      }
    >
      {alerts.length === 0 && <p class="quiet">{texts.none}</p>}
      {alerts.map((alert) => (
        <MenuItem key={alert.id} to={pageOfAlert(alert)}>
          <span class={`dot ${alert.severity}`} />
          <span class="said">
            {alert.title}
            <span class="quiet small">{agoOf(alert.began_at)}</span>
          </span>
        </MenuItem>
      ))}
      <MenuItem icon="list" to="#/alerts">
        {texts.all}
      </MenuItem>
      <MenuItem icon="settings" to="#/account/alerts">
        {texts.settings}
      </MenuItem>
    </Menu>
  )
}
