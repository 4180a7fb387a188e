import type { Contract, ProblemCase } from '../../../test/support/contract.ts'
import { type Example, type Examples, onSite, type Sample, type Scene } from '../../../test/support/samples.ts'
import { write } from '../../../test/support/scenes.ts'

function fillNotes(scene: Scene): Promise<unknown> {
  return write(scene, (tx) => {
    const texts = { author: '', editor: '', subject: 'large', body: '' }
    const note = { ...texts, site_id: scene.siteId, created_at: 0, updated_at: 0, size_bytes: 10 << 20 }
    return tx.insertInto('notes').values(note).execute()
  })
}

async function noted({ owner, siteId }: Scene): Promise<Example> {
  const note = await owner.call('POST', `/v1/sites/${siteId}/notes`, { subject: 'Subject', body: 'Body' })
  return { params: { id: note.body.data.id } }
}

// biome-ignore format: a table
const samples: readonly Sample[] = [
  { endpoint: 'listNotes', path: onSite('/notes'), roles: ['manage_notes'] },
  { endpoint: 'createNote', path: onSite('/notes'), body: () => ({ subject: 's', body: 'b' }), roles: ['manage_notes'] },
  { endpoint: 'getNote', path: (world) => onSite(`/notes/${world.note}`)(world), roles: ['manage_notes'] },
  { endpoint: 'updateNote', path: (world) => onSite(`/notes/${world.note}`)(world), body: () => ({ subject: 't', body: 'c' }), roles: ['manage_notes'] },
  { endpoint: 'deleteNote', path: (world) => onSite(`/notes/${world.note}`)(world), roles: ['manage_notes'] },
]

const examples: Examples = {
  getNote: noted,
  deleteNote: noted,
  updateNote: async (scene) => ({ ...(await noted(scene)), body: { subject: 'Changed' } }),
}

// biome-ignore format: a table
const problems: readonly ProblemCase[] = [
  { of: ['createNote', 'updateNote'], code: 'note_limit_reached', prepare: fillNotes },
]

export const contract: Contract = { samples, examples, problems }
