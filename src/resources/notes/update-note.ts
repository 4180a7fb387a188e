import Type from 'typebox'
import { invalidInput, notFound } from '../../platform/http/problem.ts'
import { endpoint } from '../kit/endpoint.ts'
import { SiteId } from '../kit/site-id.ts'
import { actions } from './actions.ts'
import { authorName } from './author.ts'
import { changeNote } from './note.store.ts'
import { NoteId, NoteSchema, noteFields, presentNote } from './note.ts'
import { checkNoteLimit } from './note-limit.ts'
import { problems } from './problems.ts'

export const updateNote = endpoint({
  id: 'updateNote',
  method: 'PUT',
  path: '/v1/sites/{site_id}/notes/{id}',
  summary: 'Update a note',
  description: 'Send at least one field. The update also changes `editor` and `updated`.',
  access: { site: 'manage notes' },
  params: Type.Object({ site_id: SiteId, id: NoteId }),
  body: Type.Object(
    { subject: Type.Optional(noteFields.subject), body: Type.Optional(noteFields.body) },
    { title: 'NoteUpdate' },
  ),
  response: NoteSchema,
  problems: [problems.note_limit_reached],

  async handle(context, { params, body }) {
    const { tx, site, now } = context
    if (body.subject === undefined && body.body === undefined)
      throw invalidInput(['Send at least one of subject, body'])
    const note = await changeNote(tx, {
      siteId: site.id,
      id: params.id,
      editor: await authorName(context),
      ...body,
      now,
    })
    if (!note) throw notFound()
    await checkNoteLimit(tx, site.id)
    await context.record({ action: actions['note.updated'], message: `Changed note ${note.id}` })
    return presentNote(note)
  },
})
