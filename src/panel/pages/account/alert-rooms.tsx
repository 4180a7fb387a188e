import { useSignal } from '@preact/signals'
import type { components } from '../../../sdk/api.generated.ts'
import { api, ask } from '../../api.ts'
import { askFirst } from '../../parts/ask-first.tsx'
import { Button } from '../../parts/button.tsx'
import { Card } from '../../parts/card.tsx'
import { Dialog } from '../../parts/dialog.tsx'
import { Form } from '../../parts/form.tsx'
import { List } from '../../parts/list.tsx'
import { attempt, told } from '../../parts/toasts.tsx'
import { useLoad } from '../../parts/use-load.ts'
import { alertSettingsTexts as texts } from '../../texts/alert-settings.ts'
import { timeOf } from '../../time.ts'

type Room = components['schemas']['AlertChat']
type Kinds = components['schemas']['AlertSettings']['kinds']
type Names = components['schemas']['AlertSettings']['mail']

/** Rooms of chat programs that get alerts. */
export function AlertRooms({ kinds }: { readonly kinds: Kinds }) {
  const query = { after: 0, per_page: 50 }
  const rooms = useLoad<Room[]>(() => ask(() => api.GET('/v1/alerts/chats', { params: { query } })))
  const isMaking = useSignal(false)
  const titleOf = (kind: string): string => kinds.find((each) => each.kind === kind)?.title ?? kind
  return (
    <Card
      title={texts.rooms}
      isFlush
      actions={
        <Button
          isSmall
          icon="plus"
          onClick={() => {
            isMaking.value = true
          }}
        >
          {texts.addRoom}
        </Button>
      }
    >
      <List
        from={rooms}
        caption={texts.roomsCaption}
        head={texts.roomsHead}
        hiddenHeads={texts.hiddenHeads}
        isStacked
        empty={<p class="quiet body">{texts.noRooms}</p>}
        row={(room) => [
          <>
            {nameOf(room)}
            {room.description && <p class="quiet">{room.host}</p>}
          </>,
          room.kinds === null ? texts.allKinds : texts.listOf(room.kinds.map(titleOf)),
          <State of={room} />,
          <RoomActions room={room} reload={rooms.reload} />,
        ]}
      />
      {isMaking.value && (
        <AddRoom
          kinds={kinds}
          onClose={() => {
            isMaking.value = false
          }}
          onAdded={rooms.reload}
        />
      )}
    </Card>
  )
}

const nameOf = ({ description, host }: Room): string => description || host

function State({ of: { sent_at: sent, failing_since: since, fault } }: { readonly of: Room }) {
  if (fault)
    return (
      <>
        <p class="fault">{fault}</p>
        {since && <p class="quiet">{texts.failing(timeOf(since))}</p>}
      </>
    )
  return <span class="quiet">{sent ? texts.sent(timeOf(sent)) : texts.nothingSent}</span>
}

function RoomActions({ room, reload }: { readonly room: Room; reload(): Promise<void> }) {
  const params = { path: { id: room.id } }
  return (
    <span class="row">
      <Button
        isSmall
        label={texts.testOf(nameOf(room))}
        onClick={attempt(async () => {
          await ask(() => api.POST('/v1/alerts/chats/{id}/test', { params }))
          told(texts.tested)
        })}
      >
        {texts.test}
      </Button>
      <Button
        isSmall
        isGhost
        icon="trash2"
        label={texts.removeRoomOf(nameOf(room))}
        onClick={askFirst({
          title: texts.removeRoomOf(nameOf(room)),
          text: texts.removeRoomIs,
          button: texts.removeRoom,
          async go() {
            await ask(() => api.DELETE('/v1/alerts/chats/{id}', { params }))
            await reload()
          },
        })}
      />
    </span>
  )
}

function AddRoom(props: { readonly kinds: Kinds; onClose(): void; onAdded(): Promise<void> }) {
  return (
    <Dialog title={texts.addRoom} isWide onClose={props.onClose}>
      <Form
        fields={[
          { name: 'url', label: texts.url, type: 'url', autocomplete: 'off' },
          { name: 'description', label: texts.description, isOptional: true },
        ]}
        button={texts.addRoom}
        submit={async ({ url = '', description = '', ...values }) => {
          const named = props.kinds.flatMap(({ kind }) => (values[kind] === 'true' ? [kind] : [])) as Names
          const body = { url, description, kinds: named.length > 0 ? named : null }
          await ask(() => api.POST('/v1/alerts/chats', { body }))
          props.onClose()
          await props.onAdded()
        }}
      >
        <p class="quiet">{texts.kindsHint}</p>
        <div class="boxes">
          <fieldset>
            <legend>{texts.caption}</legend>
            {props.kinds.map(({ kind, title }) => (
              <label key={kind}>
                <input type="checkbox" name={kind} value="true" /> {title}
              </label>
            ))}
          </fieldset>
        </div>
      </Form>
    </Dialog>
  )
}
