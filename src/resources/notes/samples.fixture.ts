import { type Example, type Examples, onSite, type Sample, type Scene } from '../../../test/support/samples.ts'

// biome-ignore format: a table
export const samples: readonly Sample[] = [
  { endpoint: 'listNotes', path: onSite('/notes'), roles: ['manage_notes'] },
  { endpoint: 'createNote', path: onSite('/notes'), body: () => ({ subject: 's', body: 'b' }), roles: ['manage_notes'] },
  { endpoint: 'getNote', path: (world) => onSite(`/notes/${world.note}`)(world), roles: ['manage_notes'] },
  { endpoint: 'updateNote', path: (world) => onSite(`/notes/${world.note}`)(world), body: () => ({ subject: 't', body: 'c' }), roles: ['manage_notes'] },
  { endpoint: 'deleteNote', path: (world) => onSite(`/notes/${world.note}`)(world), roles: ['manage_notes'] },
]

export const examples: Examples = {
  getNote: noted,
  deleteNote: noted,
  updateNote: async (scene) => ({ ...(await noted(scene)), body: { subject: 'Changed' } }),
}

async function noted({ owner, siteId }: Scene): Promise<Example> {
  const note = await owner.call('POST', `/v1/sites/${siteId}/notes`, { subject: 'Subject', body: 'Body' })
  return { params: { id: note.body.data.id } }
}
