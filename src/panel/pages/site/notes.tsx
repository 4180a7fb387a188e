import { useSignal } from '@preact/signals'
import type { components } from '../../../sdk/api.generated.ts'
import { api, ask } from '../../api.ts'
import { askFirst } from '../../parts/ask-first.tsx'
import { Button } from '../../parts/button.tsx'
import { Card } from '../../parts/card.tsx'
import { CursorPages, placeShown } from '../../parts/cursor-pages.tsx'
import { Dialog } from '../../parts/dialog.tsx'
import { Empty } from '../../parts/empty.tsx'
import { Form } from '../../parts/form.tsx'
import { HeadActions } from '../../parts/head-actions.tsx'
import { Skeleton } from '../../parts/list.tsx'
import { useLoad } from '../../parts/use-load.ts'
import { Written } from '../../parts/written.tsx'
import { notesTexts as texts } from '../../texts/site/notes.ts'
import { timeOf } from '../../time.ts'
import type { PartProps } from './part.ts'

type Note = components['schemas']['Note']

/** Notes about a site, in Markdown. */
export function Notes({ id }: PartProps) {
  const params = { path: { id }, query: { after: placeShown(), per_page: 20 } }
  const notes = useLoad(() => ask(() => api.GET('/v1/sites/{id}/notes', { params })), [id, placeShown()])
  const written = useSignal<{ readonly note?: Note } | undefined>(undefined)
  const write = (note?: Note) => () => {
    written.value = { note }
  }
  const drop = ({ id: noteId, subject }: Note) =>
    askFirst({
      title: texts.deleteOf(subject),
      text: texts.deleteIs,
      button: texts.delete,
      async go() {
        const path = { site_id: id, id: noteId }
        await ask(() => api.DELETE('/v1/sites/{site_id}/notes/{id}', { params: { path } }))
        await notes.reload()
      },
    })
  const known = notes.got.value
  return (
    <>
      <HeadActions>
        <Button of="createNote" isMain icon="plus" onClick={write()}>
          {texts.add}
        </Button>
      </HeadActions>
      {notes.fault.value && <p class="fault">{notes.fault.value}</p>}
      {!known && !notes.fault.value && <Skeleton />}
      {known?.data.length === 0 && (
        <div class="card">
          <Empty icon="stickyNote" title={texts.emptyTitle} text={texts.empty} />
        </div>
      )}
      {known?.data.map((note) => (
        <Card
          key={note.id}
          title={note.subject}
          actions={
            <>
              <Button isSmall of="updateNote" label={texts.editOf(note.subject)} onClick={write(note)}>
                {texts.edit}
              </Button>
              <Button
                isSmall
                isBad
                icon="trash2"
                of="deleteNote"
                label={texts.deleteOf(note.subject)}
                onClick={drop(note)}
              />
            </>
          }
        >
          <Written text={note.body} />
          <p class="quiet small signed">{texts.by(note.editor || note.author, timeOf(note.updated))}</p>
        </Card>
      ))}
      <CursorPages next={known?.next} />
      {written.value && (
        <Write
          id={id}
          note={written.value.note}
          onClose={() => {
            written.value = undefined
            void notes.reload()
          }}
        />
      )}
    </>
  )
}

const Write = ({ id, note, onClose }: { readonly id: number; readonly note: Note | undefined; onClose(): void }) => (
  <Dialog title={note ? texts.editOf(note.subject) : texts.add} isWide onClose={onClose}>
    <Form
      fields={[
        { name: 'subject', label: texts.subject, value: note?.subject ?? '', autocomplete: 'off' },
        { name: 'body', label: texts.body, value: note?.body ?? '', type: 'textarea', hint: texts.markdown },
      ]}
      button={texts.save}
      submit={async ({ subject = '', body = '' }) => {
        const written = { subject, body }
        await (note
          ? ask(() =>
              api.PUT('/v1/sites/{site_id}/notes/{id}', {
                params: { path: { site_id: id, id: note.id } },
                body: written,
              }),
            )
          : ask(() => api.POST('/v1/sites/{id}/notes', { params: { path: { id } }, body: written })))
        onClose()
      }}
    />
  </Dialog>
)
