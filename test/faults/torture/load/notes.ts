import { setTimeout as pause } from 'node:timers/promises'
import type { Ground } from '../ground.ts'
import type { Write } from '../ledger.ts'
import type { Load, Turn } from './load.ts'

/** A note as its writer knows it. */
interface Note {
  readonly siteId: number
  readonly made: Write
  /** Possible subjects: several after a change without a response. */
  subjects: string[]
  deletion: Write | undefined
}

const MOST_OF_WORKER = 80

const written = new WeakMap<Ground, Note[]>()
const notesOf = (ground: Ground): Note[] => {
  const known = written.get(ground) ?? []
  written.set(ground, known)
  return known
}

/** Writes, changes, and deletes notes, with and without a key. */
export const notes: Load = {
  name: 'notes',
  // a writer whose key was claimed by a killed process waits a minute
  workers: 8,
  async run(ground, turn) {
    const kept: Note[] = []
    for (let n = 0; !turn.signal.aborted; n++) {
      await writeNote(ground, turn, kept, `note ${turn.worker}-${n}`)
      await pause(turn.chance.between(50, 300))
    }
  },
  check: checkNotes,
}

/** @param kept notes of this worker, oldest first */
async function writeNote(ground: Ground, { chance }: Turn, kept: Note[], subject: string): Promise<void> {
  const { client, baseSites } = ground
  const { id: siteId } = chance.pick(baseSites)
  const path = `/v1/sites/${siteId}/notes`
  const entry = (action: string, verb: string) => ({
    action,
    siteId,
    message: (data: Write['data']) => `${verb} note ${data.id}`,
  })
  const made = await client.write({
    what: 'note',
    method: 'POST',
    path,
    body: { subject, body: '<p>torture</p>' },
    keyed: chance.is(0.6),
    entry: entry('note.created', 'Wrote'),
  })
  const note: Note = { siteId, made, subjects: [subject], deletion: undefined }
  notesOf(ground).push(note)
  if (made.outcome !== 'acknowledged') return
  const own = `${path}/${made.data.id}`
  if (chance.is(0.3)) {
    const next = `${subject} changed`
    const keyed = chance.is(0.5)
    const message = `Changed note ${made.data.id}`
    const body = { subject: next }
    const changed = await client.write({
      what: 'note changed',
      method: 'PUT',
      path: own,
      body,
      keyed,
      entry: { action: 'note.updated', siteId, message },
    })
    if (changed.outcome === 'acknowledged') note.subjects = [next]
    if (changed.outcome === 'unknown') note.subjects.push(next)
  }
  kept.push(note)
  // the newest, or the oldest: a site may have 1,000
  const doomed = chance.is(0.2) ? kept.pop() : kept.length > MOST_OF_WORKER ? kept.shift() : undefined
  if (!doomed) return
  const message = `Deleted note ${doomed.made.data.id}`
  doomed.deletion = await client.write({
    what: 'note deleted',
    method: 'DELETE',
    path: `${doomed.made.path}/${doomed.made.data.id}`,
    keyed: chance.is(0.5),
    entry: { action: 'note.deleted', siteId: doomed.siteId, message },
  })
}

async function checkNotes(ground: Ground): Promise<string[]> {
  const rows = await ground.records("select id, site_id, subject from notes where subject like 'note %'")
  const faults: string[] = []
  for (const { made, subjects, deletion } of notesOf(ground)) {
    const original = subjects[0]?.replace(/ changed$/, '') as string
    const found = rows.filter(({ subject }) => subject === original || subject === `${original} changed`)
    const words = `${made.method} ${made.path} "${original}" (${made.key ? 'keyed' : 'no key'}, ${made.outcome} ${made.status})`
    if (found.length > 1) faults.push(`doubled: ${words}: ${found.length} notes`)
    if (made.outcome === 'refused' && found.length > 0) faults.push(`there though refused: ${words}`)
    if (made.outcome !== 'acknowledged') continue
    if (deletion?.outcome === 'acknowledged' && found.length > 0) faults.push(`there though deleted: ${words}`)
    if (deletion) continue
    if (found.length === 0) faults.push(`lost: ${words}`)
    else if (!subjects.includes(found[0]?.subject as string))
      faults.push(`change lost: ${words} is ${found[0]?.subject}, should be ${subjects.join(' or ')}`)
  }
  return [...faults, ...(await countEntries(ground))]
}

/** The ID of a note without a response is unknown, but there must be as many entries as notes. */
async function countEntries({ records, baseSites }: Ground): Promise<string[]> {
  const faults: string[] = []
  for (const { id } of baseSites) {
    const entries = async (action: string) =>
      Number((await records(`select count(*) as n from activity where site_id = ${id} and action = '${action}'`))[0]?.n)
    const there = Number((await records(`select count(*) as n from notes where site_id = ${id}`))[0]?.n)
    const logged = (await entries('note.created')) - (await entries('note.deleted'))
    if (logged !== there) faults.push(`site ${id} has ${there} notes, its activity log speaks of ${logged}`)
  }
  return faults
}
