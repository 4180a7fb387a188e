import Type from 'typebox'
import { reply } from '../../platform/http/endpoint.ts'
import { besidesOf, pageOf, pageQuery } from '../../platform/http/schemas.ts'
import { endpoint } from '../kit/endpoint.ts'
import { SiteId } from '../kit/site-id.ts'
import { countNotes, notesOfSite } from './note.store.ts'
import { NoteSchema, presentNote } from './note.ts'

export const listNotes = endpoint({
  id: 'listNotes',
  method: 'GET',
  path: '/v1/sites/{id}/notes',
  summary: 'List the notes of a site',
  description: 'Returns one page of notes, newest first.',
  access: { site: 'manage notes' },
  params: Type.Object({ id: SiteId }),
  query: Type.Object(pageQuery),
  response: Type.Array(NoteSchema),
  paged: true,

  async handle({ tx, site }, { query }) {
    const asked = pageOf(query)
    const notes = await notesOfSite(tx, site.id, asked)
    return reply(notes.map(presentNote), await besidesOf(asked, notes, () => countNotes(tx, site.id)))
  },
})
