import { execFile } from 'node:child_process'
import { constants } from 'node:fs'
import { cp, mkdir, readdir, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { Database } from '../../platform/db/database.ts'
import type { Log } from '../../platform/log/log.ts'
import { giveTo } from '../site-files/lay-out-home.ts'
import { checkRoom, inWords } from './disk-room.ts'
import {
  deleteHome,
  findHome,
  freeHomes,
  type HomeRecord,
  homeOfSite,
  homesWithoutSite,
  insertHome,
  setHome,
} from './home.store.ts'
import type { Template } from './template.ts'

/** First of the user ids that homes get, where Stead runs as root: far from any system's own. */
const FIRST_UID = 200_000

/** A folder in which a site lives or will live. */
export interface Home extends HomeRecord {
  readonly path: string
  /** Its user and group; `null` where Stead does not run as root. */
  readonly uid: number | null
}

export interface HomesOptions {
  readonly database: Database
  readonly dataDir: string
  readonly hostId: number
  /** How many prepared homes to keep ready. */
  readonly prepared: number
  readonly isRoot: boolean
  readonly log: Log
}

/** The homes of one host. One process a host uses them. */
export class Homes {
  readonly #options: HomesOptions
  #filling: Promise<void> | undefined

  constructor(options: HomesOptions) {
    this.#options = options
  }

  home(record: HomeRecord): Home {
    return { ...record, path: join(this.#folder, `h${record.id}`), uid: this.uidOf(record.id) }
  }

  uidOf(id: number): number | null {
    return this.#options.isRoot ? FIRST_UID + id : null
  }

  get #folder(): string {
    return join(this.#options.dataDir, 'sites')
  }

  /** Removes what a crash left unfinished. Called once, before anything else. */
  async cleanUp(): Promise<void> {
    const { database, hostId, log } = this.#options
    await mkdir(this.#folder, { recursive: true, mode: 0o711 })
    for (const record of await homesWithoutSite(database.read, hostId))
      if (record.state !== 'prepared') await this.#discard(this.home(record))
    // half-made copies hold nothing of anybody; any other folder without a record may be somebody's site under another
    // database, and is the operator's to judge
    for (const name of await readdir(this.#folder)) {
      if (name.endsWith('.making')) await rm(join(this.#folder, name), { recursive: true, force: true })
      else if (!(await this.#isKnown(name))) log.warn({ folder: name }, 'no record speaks of this folder in sites/')
    }
  }

  async #isKnown(folder: string): Promise<boolean> {
    const id = Number(/^h(\d+)$/.exec(folder)?.[1])
    return (
      Number.isSafeInteger(id) && (await findHome(this.#options.database.read, this.#options.hostId, id)) !== undefined
    )
  }

  /**
   * The home of a site, taken from the prepared ones or made on the spot. May be called again: the site keeps its home.
   * @param preferred ids of homes that are better than others (a warm process waits in them)
   */
  async claim(siteId: number, template: Template, preferred: readonly number[]): Promise<Home> {
    const { database, hostId } = this.#options
    const record = await database.transaction(async (tx) => {
      const own = await homeOfSite(tx, siteId)
      if (own) return own
      const free = await freeHomes(tx, hostId, template)
      const best = free.find(({ id }) => preferred.includes(id)) ?? free.at(-1)
      if (!best) return insertHome(tx, { ...template, hostId, siteId, now: Date.now() })
      await setHome(tx, best.id, { state: 'taken', siteId })
      return { ...best, siteId, state: 'taken' as const }
    })
    if (record.state !== 'making') return this.home(record)
    await this.#make(record, template)
    await database.transaction((tx) => setHome(tx, record.id, { state: 'taken' }))
    return this.home({ ...record, state: 'taken' })
  }

  async ofSite(siteId: number): Promise<Home | undefined> {
    const record = await homeOfSite(this.#options.database.read, siteId)
    return record && this.home(record)
  }

  /** Prepared homes of a template, oldest first. */
  async free(template: Template): Promise<Home[]> {
    const records = await freeHomes(this.#options.database.read, this.#options.hostId, template)
    return records.map((record) => this.home(record))
  }

  /** Makes homes until enough are prepared. Calls while it works join it. */
  async fill(template: Template): Promise<void> {
    this.#filling ??= this.#fill(template).finally(() => {
      this.#filling = undefined
    })
    return this.#filling
  }

  async #fill(template: Template): Promise<void> {
    const { database, hostId, prepared } = this.#options
    // copies of an older template are of no use any more
    for (const record of await homesWithoutSite(database.read, hostId))
      if (record.coreVersion !== template.coreVersion || record.install !== template.install)
        await this.#discard(this.home(record))
    while ((await freeHomes(database.read, hostId, template)).length < prepared) {
      const record = await database.transaction((tx) =>
        insertHome(tx, { ...template, hostId, siteId: null, now: Date.now() }),
      )
      try {
        await this.#make(record, template)
      } catch (error) {
        await this.#discard(this.home(record))
        throw error
      }
      await database.transaction((tx) => setHome(tx, record.id, { state: 'prepared' }))
    }
  }

  /** Copies the template. Starts over when a copy was cut off before. @throws DiskFull */
  async #make(record: HomeRecord, template: Template): Promise<void> {
    const { path, uid } = this.home(record)
    const unfinished = `${path}.making`
    await rm(unfinished, { recursive: true, force: true })
    await rm(path, { recursive: true, force: true })
    await checkRoom(this.#folder)
    try {
      await mkdir(unfinished, { mode: 0o700 })
      for (const part of ['web', 'private'])
        await cp(join(template.path, part), join(unfinished, part), {
          recursive: true,
          // the same times keep PHP's opcache warm when a process is moved; a reflink costs no space where there is one
          preserveTimestamps: true,
          mode: constants.COPYFILE_FICLONE,
          verbatimSymlinks: true,
        })
      if (uid !== null) await giveTo(uid, unfinished)
      await flushFileSystem(unfinished)
      await rename(unfinished, path)
    } catch (error) {
      // half a copy would keep the disk full, and nobody could write down what went wrong
      await rm(unfinished, { recursive: true, force: true })
      throw inWords(error)
    }
  }

  /** Takes a home away for good: first from the disk, then from the records, so that a crash is made good by {@link cleanUp}. */
  async remove(home: Home): Promise<void> {
    await this.#options.database.transaction((tx) => setHome(tx, home.id, { state: 'leaving' }))
    await this.#discard(home)
  }

  async #discard(home: Home): Promise<void> {
    await rm(home.path, { recursive: true, force: true })
    await rm(`${home.path}.making`, { recursive: true, force: true })
    await this.#options.database.transaction((tx) => deleteHome(tx, home.id))
  }
}

const run = promisify(execFile)

/** Some hundred small files reach the disk with one call (syncfs) instead of one each. */
async function flushFileSystem(path: string): Promise<void> {
  await run('sync', ['-f', path]).catch(() => {})
}
