import { randomUUID } from 'node:crypto'
import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type Stead, until } from '../../support/stead.ts'
import type { Ground } from './ground.ts'
import { restoreSnapshot } from './snapshot.ts'

/**
 * Restores a database from earlier, with today's files. The rows of newer sites are lost with it, but their files are
 * not. A folder with someone's content exists until its owner requests its deletion, even in quarantine. This holds
 * even when as many new sites get the IDs of the lost ones.
 */
export async function restoreOlderDatabase(ground: Ground): Promise<string[]> {
  const { stead } = ground
  // sites that the old database does not know, whatever the load has left
  for (const name of ['since-0', 'since-1'])
    await stead.createSite({ name }).catch((error) => ground.say(String(error)))
  const marks = await markAll(ground)
  await stead.stop()
  await restoreSnapshot(ground, ground.snapshot)
  await stead.start()
  const faults: string[] = []
  for (const { name } of ground.baseSites)
    await until(`${name} answers`, async () => (await stead.visit(name).catch(() => undefined))?.status === 200).catch(
      (error) => faults.push(String(error)),
    )
  const names = Array.from(marks, (_, n) => `after-${n}`)
  await Promise.all(names.map((name) => makeSite(stead, name).catch((error) => faults.push(`${name}: ${error}`))))
  const there = await marksIn(stead.dataDir)
  ground.ledger.count('folders with content when the database was restored', marks.size)
  for (const [mark, directory] of marks) if (!there.has(mark)) faults.push(`the files of ${directory} are lost`)
  return faults
}

/** Waits long enough: the site is one of many at once. */
async function makeSite(stead: Stead, name: string): Promise<void> {
  const { status, headers } = await stead.api('POST', '/v1/sites', { name })
  if (status !== 201) throw new Error(`ordered with ${status}`)
  const { state, error } = await stead.ended(headers.get('operation-id') as string, 240_000)
  if (state !== 'succeeded') throw new Error(`${state}: ${error}`)
}

const fileName = 'mark-of-owner.txt'

/**
 * Puts a unique file into every site's folder, except prepared ones, which belong to nobody. @returns folder by content
 */
async function markAll({ stead, records }: Ground): Promise<Map<string, string>> {
  const marks = new Map<string, string>()
  for (const { id } of await records(`select id from site_homes where state = 'taken'`)) {
    const mark = randomUUID()
    await writeFile(join(stead.dataDir, 'sites', `h${id}`, 'web', fileName), mark)
    marks.set(mark, `h${id}`)
  }
  return marks
}

/** All marks below the data folder, wherever they were moved. */
async function marksIn(folder: string): Promise<Set<string>> {
  const found = new Set<string>()
  for (const name of await readdir(folder, { recursive: true }))
    if (name.endsWith(`/${fileName}`)) found.add(await readFile(join(folder, name), 'utf8'))
  return found
}
