import Type from 'typebox'
import { notFound } from '../../platform/http/problem.ts'
import { endpoint } from '../kit/endpoint.ts'
import { SiteId } from '../kit/site-id.ts'
import { findNote } from './note.store.ts'
import { NoteId, NoteSchema, presentNote } from './note.ts'

export const getNote = endpoint({
  id: 'getNote',
  method: 'GET',
  path: '/v1/sites/{site_id}/notes/{id}',
  summary: 'Get a note',
  access: { site: 'manage notes' },
  params: Type.Object({ site_id: SiteId, id: NoteId }),
  response: NoteSchema,
  etag: true,

  async handle({ tx, site }, { params }) {
    const note = await findNote(tx, site.id, params.id)
    if (!note) throw notFound()
    return presentNote(note)
  },
})
