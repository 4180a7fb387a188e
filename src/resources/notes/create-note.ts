import Type from 'typebox'
import { recordActivity } from '../activity/record.ts'
import { operation } from '../operation.ts'
import { SiteId } from '../sites/site.ts'
import { authorName } from './author.ts'
import { insertNote } from './note.store.ts'
import { NoteSchema, noteFields, presentNote } from './note.ts'

export const createNote = operation({
  id: 'createNote',
  method: 'POST',
  path: '/v1/sites/{id}/notes',
  tag: 'Notes',
  summary: 'Write a note',
  access: { site: 'manage notes' },
  params: Type.Object({ id: SiteId }),
  body: Type.Object(noteFields),
  response: NoteSchema,

  async handle(context, { body }) {
    const { tx, site, now } = context
    const note = await insertNote(tx, { siteId: site.id, author: await authorName(context), ...body, now })
    const subject = { accountId: site.accountId, siteId: site.id, now }
    await recordActivity(tx, context, { action: 'note.created', message: `Wrote note ${note.id}`, ...subject })
    return presentNote(note)
  },
})
