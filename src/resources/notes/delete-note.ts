import Type from 'typebox'
import { notFound } from '../../platform/http/problem.ts'
import { Nothing } from '../../platform/http/schemas.ts'
import { endpoint } from '../kit/endpoint.ts'
import { SiteId } from '../kit/site-id.ts'
import { actions } from './actions.ts'
import { deleteNoteRow } from './note.store.ts'
import { NoteId } from './note.ts'

export const deleteNote = endpoint({
  id: 'deleteNote',
  method: 'DELETE',
  path: '/v1/sites/{site_id}/notes/{id}',
  summary: 'Delete a note',
  access: { site: 'manage notes' },
  params: Type.Object({ site_id: SiteId, id: NoteId }),
  response: Nothing,

  async handle(context, { params }) {
    const { tx, site } = context
    if (!(await deleteNoteRow(tx, site.id, params.id))) throw notFound()
    await context.record({ action: actions['note.deleted'], message: `Deleted note ${params.id}` })
    return null
  },
})
