import type { components } from '../../../sdk/api.generated.ts'
import { api, ask } from '../../api.ts'
import { Button } from '../../parts/button.tsx'
import { Card } from '../../parts/card.tsx'
import { List } from '../../parts/list.tsx'
import { Switch, Toggle } from '../../parts/switch.tsx'
import { attempt } from '../../parts/toasts.tsx'
import { type Loaded, useLoad } from '../../parts/use-load.ts'
import { alertSettingsTexts as texts } from '../../texts/alert-settings.ts'
import { timeOf } from '../../time.ts'
import { AlertRooms } from './alert-rooms.tsx'

type Settings = components['schemas']['AlertSettings']
type Mute = components['schemas']['AlertMute']
type Channel = 'mail' | 'bell'

/** Which alerts reach the person, and what they have muted. */
export function AlertSettings() {
  const settings = useLoad<Settings>(() => ask(() => api.GET('/v1/alerts/settings')))
  const known = settings.got.value?.data
  return (
    <>
      <div class="head">
        <h1>{texts.title}</h1>
      </div>
      <Card title={texts.kinds} isFlush>
        <p class="quiet body">{texts.kindsIs}</p>
        <Kinds from={settings} />
        {known && (
          <div class="body">
            <Switch
              label={texts.shared}
              help={texts.sharedIs}
              isOn={known.mail_shared_sites}
              turn={(isOn) => change(settings, { mail_shared_sites: isOn })}
            />
          </div>
        )}
      </Card>
      <AlertRooms kinds={known?.kinds ?? []} />
      <Mutes titles={new Map(known?.kinds.map(({ kind, title }) => [kind, title]))} />
    </>
  )
}

const change = (settings: Loaded<Settings>, body: Partial<Settings>): Promise<void> =>
  attempt(async () => {
    await ask(() => api.PUT('/v1/alerts/settings', { body }))
    await settings.reload()
  })()

function Kinds({ from }: { readonly from: Loaded<Settings> }) {
  const { value } = from.got
  const turn = (channel: Channel, kind: Settings['mail'][number]) => (isOn: boolean) => {
    const others = (value?.data[channel] ?? []).filter((each) => each !== kind)
    return change(from, { [channel]: isOn ? [...others, kind] : others })
  }
  const rows = { got: { value: value && { data: value.data.kinds } }, fault: from.fault }
  return (
    <List
      from={rows}
      caption={texts.caption}
      head={texts.head}
      columns={['wide', 'num', 'num']}
      empty=""
      row={({ kind: name, title, severity }) => {
        const kind = name as Settings['mail'][number]
        const isOn = (channel: Channel) => value?.data[channel].includes(kind) ?? false
        return [
          <>
            {title} {severity === 'critical' && <span class="badge bad">{texts.severities.critical}</span>}
          </>,
          <Toggle label={texts.mailOf(title)} isOn={isOn('mail')} turn={turn('mail', kind)} />,
          <Toggle label={texts.bellOf(title)} isOn={isOn('bell')} turn={turn('bell', kind)} />,
        ]
      }}
    />
  )
}

function Mutes({ titles }: { readonly titles: ReadonlyMap<string, string> }) {
  const query = { after: 0, per_page: 50 }
  const mutes = useLoad<Mute[]>(() => ask(() => api.GET('/v1/alerts/mutes', { params: { query } })))
  const nameOf = ({ kind, site_id: id, site_name: name }: Mute): string => {
    const title = kind === null ? texts.everything : (titles.get(kind) ?? kind)
    if (id === null) return title
    const site = name ?? texts.siteOf(id)
    return kind === null ? texts.allOf(site) : texts.kindOf(title, site)
  }
  return (
    <Card title={texts.mutes} isFlush>
      <List
        from={mutes}
        caption={texts.mutesCaption}
        head={texts.mutesHead}
        hiddenHeads={texts.hiddenHeads}
        columns={['wide', '', 'num']}
        empty={<p class="quiet body">{texts.noMutes}</p>}
        row={(mute) => [
          nameOf(mute),
          mute.until === null ? texts.forever : timeOf(mute.until),
          <Button
            isSmall
            label={texts.unmuteOf(nameOf(mute))}
            onClick={attempt(async () => {
              await ask(() => api.DELETE('/v1/alerts/mutes/{id}', { params: { path: { id: mute.id } } }))
              await mutes.reload()
            })}
          >
            {texts.unmute}
          </Button>,
        ]}
      />
    </Card>
  )
}
