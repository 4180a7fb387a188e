import { readdir, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import type { Ground } from '../ground.ts'
import type { Check } from './check.ts'

/** `sites/` contains what the database says: one site directory for each site, owned by its own user. */
export const disk: Check = {
  name: 'disk',
  async run(ground) {
    // prepared site directories may still be in progress
    for (let attempt = 0; ; attempt++) {
      const faults = await look(ground)
      if (faults.length === 0 || attempt === 40) return faults
      await pause(500)
    }
  },
}

async function look({ records, stead }: Ground): Promise<string[]> {
  const folder = join(stead.dataDir, 'sites')
  const siteDirectories = await records('select id, state, site_id from site_homes')
  const sites = await records('select id, name, state from sites where deleted_at is null')
  const folders = await readdir(folder)
  const { firstUser } = JSON.parse(await readFile(join(stead.dataDir, 'identity.json'), 'utf8'))
  const faults: string[] = []
  for (const { id, name } of sites) {
    const own = siteDirectories.filter(({ site_id }) => site_id === id)
    if (own.length !== 1 || own[0]?.state !== 'taken') faults.push(`${name} has the homes ${JSON.stringify(own)}`)
  }
  for (const { id, state, site_id } of siteDirectories) {
    if (!folders.includes(`h${id}`)) faults.push(`h${id} (${state}) has no folder`)
    else if (process.getuid?.() === 0) {
      const { uid } = await stat(join(folder, `h${id}/web`))
      if (uid !== firstUser + Number(id)) faults.push(`h${id} belongs to user ${uid}`)
    }
    if (site_id !== null && !sites.some((site) => site.id === site_id))
      faults.push(`h${id} is the directory of a deleted site`)
  }
  for (const name of folders)
    if (!siteDirectories.some(({ id }) => name === `h${id}`)) faults.push(`no record speaks of sites/${name}`)
  return faults
}
