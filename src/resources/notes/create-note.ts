import Type from 'typebox'
import { endpoint } from '../kit/endpoint.ts'
import { SiteId } from '../kit/site-id.ts'
import { actions } from './actions.ts'
import { authorName } from './author.ts'
import { insertNote } from './note.store.ts'
import { NoteSchema, noteFields, presentNote } from './note.ts'
import { checkNoteLimit } from './note-limit.ts'
import { problems } from './problems.ts'

export const createNote = endpoint({
  id: 'createNote',
  method: 'POST',
  path: '/v1/sites/{id}/notes',
  summary: 'Create a note',
  access: { site: 'manage notes' },
  params: Type.Object({ id: SiteId }),
  body: Type.Object(noteFields, { title: 'NewNote' }),
  response: NoteSchema,
  problems: [problems.note_limit_reached],

  async handle(context, { body }) {
    const { tx, site, now } = context
    const note = await insertNote(tx, { siteId: site.id, author: await authorName(context), ...body, now })
    await checkNoteLimit(tx, site.id)
    await context.record({ action: actions['note.created'], message: `Wrote note ${note.id}` })
    return presentNote(note)
  },
})
