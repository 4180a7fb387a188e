import { useSignal } from '@preact/signals'
import type { components } from '../../../sdk/api.generated.ts'
import { api, ask } from '../../api.ts'
import { askFirst } from '../../parts/ask-first.tsx'
import { Button } from '../../parts/button.tsx'
import { Dialog } from '../../parts/dialog.tsx'
import { Form } from '../../parts/form.tsx'
import { Pages } from '../../parts/list.tsx'
import { useLoad } from '../../parts/use-load.ts'
import { notesTexts as texts } from '../../texts/site/notes.ts'
import { timeOf } from '../../time.ts'
import type { PartProps } from './part.ts'

type Note = components['schemas']['Note']

export function Notes({ id }: PartProps) {
  const page = useSignal(1)
  const params = { path: { id }, query: { page: page.value, per_page: 20 } }
  const notes = useLoad(() => ask(() => api.GET('/v1/sites/{id}/notes', { params })), [id, page.value])
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
      <div class="row spread">
        <h2>{texts.title}</h2>
        <Button of="createNote" onClick={write()}>
          {texts.add}
        </Button>
      </div>
      {notes.fault.value && <p class="fault">{notes.fault.value}</p>}
      {known?.data.length === 0 && <p class="quiet">{texts.empty}</p>}
      {known?.data.map((note) => (
        <article key={note.id} class="sheet">
          <div class="row spread">
            <h3>{note.subject}</h3>
            <span class="row">
              <Button of="updateNote" label={texts.editOf(note.subject)} onClick={write(note)}>
                {texts.edit}
              </Button>
              <Button of="deleteNote" isBad label={texts.deleteOf(note.subject)} onClick={drop(note)}>
                {texts.delete}
              </Button>
            </span>
          </div>
          <p class="written">{note.body}</p>
          <p class="quiet">{texts.by(note.editor || note.author, timeOf(note.updated))}</p>
        </article>
      ))}
      <Pages
        page={known?.page}
        turn={(to) => {
          page.value = to
        }}
      />
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
  <Dialog title={note ? texts.editOf(note.subject) : texts.add} onClose={onClose}>
    <Form
      fields={[
        { name: 'subject', label: texts.subject, value: note?.subject ?? '', autocomplete: 'off' },
        { name: 'body', label: texts.body, value: note?.body ?? '', type: 'textarea' },
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
