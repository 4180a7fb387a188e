import { existsSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { setTimeout as pause } from 'node:timers/promises'
import type { Ground } from '../ground.ts'
import type { Write } from '../ledger.ts'
import { directoryOf, markerOf } from '../sites-of-load.ts'
import type { Load, Turn } from './load.ts'

/** A site as its creator knows it. */
export interface OrderedSite {
  readonly id: number
  readonly name: string
  /** Possible display names. */
  displayNames: string[]
  /** The last requested state, as far as it was acknowledged. */
  state: 'live' | 'disabled' | 'unknown'
  deletion: Write | undefined
  directory: string | undefined
}

const ordered = new WeakMap<Ground, OrderedSite[]>()
export const orderedSites = (ground: Ground): OrderedSite[] => {
  const known = ordered.get(ground) ?? []
  ordered.set(ground, known)
  return known
}

/** The most sites of one worker at once: each live one may hold a PHP process. */
const MOST_SITES = 3

/** Creates sites, renames them meanwhile, disables and enables them, and deletes them. */
export const sites: Load = {
  name: 'sites',
  workers: 1,
  async run(ground, turn) {
    for (let n = 0; !turn.signal.aborted; n++) {
      const mine = orderedSites(ground).filter(({ deletion }) => !deletion)
      if (mine.length >= MOST_SITES) await deleteSite(ground, mine[0] as OrderedSite)
      const site = await orderSite(ground, turn, `site-${turn.worker}-${n}`)
      if (site) await useSite(ground, turn, site)
      await pause(turn.chance.between(100, 1000))
    }
  },
  check: checkSites,
}

async function orderSite(ground: Ground, { chance }: Turn, name: string): Promise<OrderedSite | undefined> {
  const order = { what: 'site', method: 'POST', path: '/v1/sites', body: { name }, keyed: true }
  const made = await ground.client.write(order)
  if (made.outcome !== 'acknowledged') return undefined
  const { id } = made.data
  const site: OrderedSite = { id, name, displayNames: [name], state: 'live', deletion: undefined, directory: undefined }
  orderedSites(ground).push(site)
  // during its creation
  if (chance.is(0.5)) {
    await pause(chance.between(0, 1500))
    await rename(ground, site, `${name} renamed`, chance.is(0.5))
  }
  return site
}

async function rename({ client }: Ground, site: OrderedSite, name: string, keyed: boolean): Promise<void> {
  const path = `/v1/sites/${site.id}`
  const entry = { action: 'site.updated', siteId: site.id }
  const { outcome } = await client.write({ what: 'site renamed', method: 'PUT', path, body: { name }, keyed, entry })
  if (outcome === 'acknowledged') site.displayNames = [name]
  if (outcome === 'unknown') site.displayNames.push(name)
}

async function useSite(ground: Ground, { chance, signal }: Turn, site: OrderedSite): Promise<void> {
  const deadline = performance.now() + 45_000
  for (;;) {
    if (signal.aborted || performance.now() > deadline) return
    const { body } = await ground.client.ask('GET', `/v1/sites/${site.id}`)
    if (body?.data?.state === 'live') break
    await pause(300)
  }
  site.directory = await directoryOf(ground.stead, ground.records, site.id).catch(() => undefined)
  if (site.directory) await writeFile(markerOf(site.directory), site.name).catch(() => {})
  if (chance.is(0.5)) await setState(ground, site, 'disable')
  if (site.state === 'disabled' && chance.is(0.7)) await setState(ground, site, 'enable')
}

async function setState({ client }: Ground, site: OrderedSite, verb: 'disable' | 'enable'): Promise<void> {
  const path = `/v1/sites/${site.id}/${verb}`
  const entry = { action: `site.${verb}d`, siteId: site.id }
  const { outcome } = await client.write({ what: `site ${verb}d`, method: 'PUT', path, keyed: true, entry })
  if (outcome === 'acknowledged') site.state = verb === 'disable' ? 'disabled' : 'live'
  if (outcome === 'unknown') site.state = 'unknown'
}

async function deleteSite({ client }: Ground, site: OrderedSite): Promise<void> {
  const entry = { action: 'site.deleted', siteId: site.id }
  const deletion = { what: 'site deleted', method: 'DELETE', path: `/v1/sites/${site.id}`, keyed: true, entry }
  site.deletion = await client.write(deletion)
}

async function checkSites(ground: Ground): Promise<string[]> {
  const faults: string[] = []
  const rows = await ground.records('select id, name, display_name, state, deleted_at from sites')
  for (const site of orderedSites(ground)) {
    const found = rows.filter(({ id }) => id === site.id)
    const doubled = rows.filter(({ name, deleted_at }) => name === site.name && deleted_at === null)
    if (doubled.length > 1) faults.push(`doubled: ${site.name}`)
    const [row] = found
    if (!row) faults.push(`lost: ${site.name}`)
    else if (site.deletion) {
      if (site.deletion.outcome === 'acknowledged') faults.push(...stillThere(site, row.deleted_at))
    } else faults.push(...(await asLeft(ground, site, row)))
  }
  ground.ledger.count('sites made', orderedSites(ground).length)
  return faults
}

function stillThere(site: OrderedSite, deletedAt: string | number | null | undefined): string[] {
  if (deletedAt === null) return [`there though deleted: ${site.name}`]
  return site.directory && existsSync(site.directory)
    ? [`the files of ${site.name} are there though it was deleted`]
    : []
}

async function asLeft(
  ground: Ground,
  site: OrderedSite,
  row: { [name: string]: string | number | null },
): Promise<string[]> {
  const faults: string[] = []
  if (row.deleted_at !== null) faults.push(`gone: ${site.name} was never deleted`)
  if (!site.displayNames.includes(String(row.display_name)))
    faults.push(`${site.name} is called ${row.display_name}, should be ${site.displayNames.join(' or ')}`)
  const states = site.state === 'unknown' ? ['live', 'disabled'] : [site.state]
  if (!states.includes(String(row.state))) faults.push(`${site.name} is ${row.state}, should be ${states.join(' or ')}`)
  else if (row.state === 'live') {
    const { status } = await ground.stead.visit(site.name)
    if (status !== 200) faults.push(`${site.name} is live and answers ${status}`)
  }
  return faults
}
