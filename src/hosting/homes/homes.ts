import type { Database, Tx } from '../../platform/db/database.ts'
import type { Log } from '../../platform/log/log.ts'
import type { RunningIdentity } from '../identity/folder.ts'
import { raiseNumbers, raiseNumbersIn } from '../identity/identity.store.ts'
import type { PhpSite } from '../php/runtime.ts'
import type { DatabaseKind } from '../site-database/database-kind.ts'
import { DatabasesOfHomes } from './databases-of-homes.ts'
import {
  allHomes,
  deleteHome,
  freeHomes,
  giveHome,
  type HomeRecord,
  homeOfSite,
  homesWithoutSite,
  insertHome,
  nameOfSite,
  setDatabaseOfHome,
  setHome,
  withdrawHome,
} from './home.store.ts'
import type { HomeDatabases } from './home-databases.ts'
import type { HomeFolders } from './home-folders.ts'
import type { Template } from './template.ts'

const AT_ONCE = 16

/** A site's home is not where its record says. */
export class HomeLost extends Error {
  override readonly name = 'HomeLost'

  constructor(path: string) {
    super(
      `The site directory is missing: ${path} does not exist or belongs to another site. Restore it from a backup, or delete the site.`,
    )
  }
}

/** A folder in which a site lives or will live. */
export interface Home extends HomeRecord {
  readonly path: string
  /** Its user and group; `null` where Stead does not run as root. */
  readonly uid: number | null
}

export interface HomesOptions {
  readonly database: Database
  readonly hostId: number
  readonly folders: HomeFolders
  readonly identity: RunningIdentity
  /** How many prepared homes to keep ready. */
  readonly prepared: number
  readonly log: Log
  /** Databases that are on a server. */
  readonly onServer?: HomeDatabases | undefined
  /** Which kinds of databases prepared homes have; default: files. */
  readonly kinds?: readonly DatabaseKind[]
}

/** The homes of one host. One process a host uses them. */
export class Homes {
  readonly databases: DatabasesOfHomes
  readonly #options: HomesOptions
  #filling: Promise<void> | undefined

  constructor(options: HomesOptions) {
    this.#options = options
    this.databases = new DatabasesOfHomes(options.onServer, options.log)
  }

  /** The user who installs what homes are copied from, and who owns none; `null` where Stead does not run as root. */
  get installer(): number | null {
    return this.#options.folders.uidOf(0)
  }

  home(record: HomeRecord): Home {
    const { folders } = this.#options
    return { ...record, path: folders.path(record.id), uid: folders.uidOf(record.id) }
  }

  /**
   * The site of a home as PHP is to run it. Whoever runs PHP for a site or a spare asks here: what a site may see is said once.
   * @param home a record, or the part of it that counts
   * @param site what PHP runs there; more than `PhpSite` asks for is handed on
   */
  phpSite<Site extends Pick<PhpSite, 'phpVersion' | 'address'>>(
    home: Pick<HomeRecord, 'id' | 'coreVersion'>,
    site: Site,
  ): Site & PhpSite {
    const { folders } = this.#options
    return {
      ...site,
      homePath: folders.path(home.id),
      corePath: this.corePath(home),
      uid: folders.uidOf(home.id),
    }
  }

  /** Folder of the core that the site of a home runs. */
  corePath({ coreVersion }: Pick<HomeRecord, 'coreVersion'>): string {
    return this.#options.folders.corePath(coreVersion)
  }

  /**
   * Compares the records with the disk, and puts right what can be. Called once, before anything else.
   * @param isTakenOver the folder is from a time without marks: a folder without one is the home that its record speaks of
   */
  async reconcile({ isTakenOver }: { isTakenOver: boolean }): Promise<void> {
    const { database, hostId, folders, identity, log } = this.#options
    const { present, aside } = await folders.open()
    // before any number is given out
    const onServer = await this.databases.numbers()
    await identity.reserve(Math.max(0, ...present, ...aside, ...onServer))
    await raiseNumbers(database, identity.current.lastHome)
    const records = await allHomes(database.read, hostId)
    await inBatches(records, async (record) => {
      await this.#reconcileRecord(record, isTakenOver).catch((error) =>
        log.error({ err: error, folder: folders.path(record.id) }, 'could not check a site directory'),
      )
    })
    await this.databases.renew(
      records.filter(({ database: kind }) => kind === 'sqlite').map((record) => this.home(record)),
      folders.forPlatformFiles,
    )
    const known = new Set(records.map(({ id }) => id))
    for (const id of present) if (!known.has(id)) await folders.putAside(id, 'no record speaks of it')
    for (const id of onServer) if (!known.has(id)) await this.databases.setAside({ id, path: folders.path(id) })
  }

  async #reconcileRecord(record: HomeRecord & { readonly siteName: string | null }, isTakenOver: boolean) {
    const { folders, log } = this.#options
    let found = await folders.look(record)
    if (found === 'unmarked' && isTakenOver) {
      await folders.mark(record)
      found = 'the home'
    } else if (found === 'unmarked' || found === 'another home') {
      await folders.putAside(record.id, 'another home than the one that its record speaks of')
      found = 'nothing'
    }
    if (found === 'nothing' && (await folders.bringBack(record))) {
      found = 'the home'
      await this.databases.bringBack(this.home(record))
    }
    if (found === 'the home' && (await folders.giveToOwner(record)))
      log.warn({ folder: folders.path(record.id) }, "a home belonged to another user: it is its site's own now")
    if (record.siteId === null) {
      if (record.state !== 'prepared' || found === 'nothing') await this.#discard(record)
    } else if (record.state === 'taken' && found === 'nothing')
      log.error(
        { siteId: record.siteId, site: record.siteName, folder: folders.path(record.id) },
        'a site directory is missing; restore it from a backup, or delete the site',
      )
  }

  /**
   * The home of a site, taken from the prepared ones or made on the spot. May be called again: the site keeps its home.
   * @param preferred ids of homes that are better than others (a warm process waits in them)
   */
  async claim(siteId: number, template: Template, preferred: readonly number[]): Promise<Home> {
    const { database, hostId, folders } = this.#options
    const record = await database.transaction(async (tx) => {
      const own = await homeOfSite(tx, siteId)
      if (own) return own
      const free = await freeHomes(tx, hostId, template)
      const isPreferred = ({ id }: HomeRecord) => preferred.includes(id)
      const others = free.filter((each) => !isPreferred(each)).reverse()
      for (const each of [...free.filter(isPreferred), ...others])
        if (await giveHome(tx, each.id, siteId)) return { ...each, siteId, state: 'taken' as const }
      return this.#newRecord(tx, template, siteId)
    })
    const named = { ...record, siteName: await nameOfSite(database.read, siteId) }
    if (record.state === 'making') {
      await this.#makeHome(named, template)
      await database.transaction((tx) => setHome(tx, record.id, { state: 'taken' }))
      return this.home({ ...record, state: 'taken' })
    }
    if ((await folders.look(named)) !== 'the home') throw new HomeLost(folders.path(record.id))
    // before any content: from now on nobody takes the folder for an empty one
    await folders.mark(named)
    return this.home(record)
  }

  /** A number that no home in this folder has ever had, even if the database was put back while Stead ran. */
  async #newRecord(tx: Tx, template: Template, siteId: number | null): Promise<HomeRecord> {
    const { hostId, identity } = this.#options
    const values = { ...template, hostId, siteId, now: Date.now() }
    const record = await insertHome(tx, values)
    if (record.id > identity.current.lastHome) return record
    await deleteHome(tx, record.id)
    await raiseNumbersIn(tx, identity.current.lastHome)
    return insertHome(tx, values)
  }

  /** Whether a site has a home by its record, and nothing of it on the disk. */
  async isLost(siteId: number): Promise<boolean> {
    const record = await this.#recordOf(siteId)
    return record !== undefined && (await this.#options.folders.look(record)) === 'nothing'
  }

  /** Makes the folder of a lost site's home anew, with nothing of WordPress in it. Again: a folder that is there stays. @throws HomeLost */
  async makeAgain(siteId: number): Promise<Home> {
    const { folders } = this.#options
    const recorded = await this.#recordOf(siteId)
    if (!recorded) throw new Error('The site has no site directory')
    const record = await this.#onWhatIsHere(recorded)
    const found = await folders.look(record)
    if (found === 'nothing') {
      await folders.makeEmpty(record)
      await this.databases.makeEmpty(this.home(record))
    } else if (found !== 'the home') throw new HomeLost(folders.path(record.id))
    return this.home(record)
  }

  /** Another machine than the one that it comes from may have no server: then its database is a file. */
  async #onWhatIsHere<Recorded extends HomeRecord>(record: Recorded): Promise<Recorded> {
    const { database } = this.#options
    if (record.database === 'sqlite' || this.databases.hasServer) return record
    await database.transaction((tx) => setDatabaseOfHome(tx, record.id, 'sqlite'))
    return { ...record, database: 'sqlite' }
  }

  async #recordOf(siteId: number) {
    const { database } = this.#options
    const record = await homeOfSite(database.read, siteId)
    return record && { ...record, siteName: await nameOfSite(database.read, siteId) }
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
    const { database, hostId, log, kinds = ['sqlite'] } = this.#options
    // copies of an older template are of no use any more
    for (const record of await homesWithoutSite(database.read, hostId))
      if (record.coreVersion !== template.coreVersion || record.install !== template.install) {
        const isWithdrawn = await database.transaction((tx) => withdrawHome(tx, record.id))
        // it is tried again by the next start; nobody waits for it
        if (isWithdrawn)
          await this.#discard(record).catch((error) =>
            log.warn({ err: error, home: record.id }, 'could not remove an unused site directory'),
          )
      }
    for (const kind of kinds) await this.#fillWith({ ...template, database: kind })
  }

  async #fillWith(template: Template): Promise<void> {
    const { database, hostId, prepared } = this.#options
    while ((await freeHomes(database.read, hostId, template)).length < prepared) {
      const record = await this.#makeForNobody(template)
      await database.transaction((tx) => setHome(tx, record.id, { state: 'prepared' }))
    }
  }

  async #makeHome(record: HomeRecord & { readonly siteName: string | null }, template: Template): Promise<void> {
    const { folders } = this.#options
    // of an attempt that was cut off
    await this.databases.drop(this.home(record))
    await folders.make(record, template.path)
    await this.databases.make(this.home(record), template)
  }

  /** What the database of a home is from now on. */
  async recordDatabase(tx: Tx, { id }: Home, database: DatabaseKind): Promise<void> {
    await setDatabaseOfHome(tx, id, database)
  }

  /**
   * A home that no site ever gets: no list has it, no visitor reaches it. {@link remove} it; when the host dies before that, its next start
   * does.
   */
  async makeThrowAway(template: Template): Promise<Home> {
    return this.home(await this.#makeForNobody(template))
  }

  /** Its record says that it is being made still: what is not finished is removed by a start. */
  async #makeForNobody(template: Template): Promise<HomeRecord> {
    const { database } = this.#options
    const record = await database.transaction((tx) => this.#newRecord(tx, template, null))
    try {
      await this.#makeHome({ ...record, siteName: null }, template)
    } catch (error) {
      await this.#discard(record)
      throw error
    }
    return record
  }

  /** Takes a home away for good: first from the disk, then from the records, so that a crash is made good by {@link reconcile}. */
  async remove(home: Home): Promise<void> {
    await this.#options.database.transaction((tx) => setHome(tx, home.id, { state: 'leaving' }))
    await this.#discard(home)
  }

  async #discard(record: HomeRecord): Promise<void> {
    const { database, folders } = this.#options
    const named = { ...record, siteName: await nameOfSite(database.read, record.siteId) }
    const found = await folders.look(named)
    await folders.remove(named)
    // another home's folder lies there: whose the database is, is not known either
    if (found === 'the home' || found === 'nothing') await this.databases.drop(this.home(record))
    await this.#forget(record)
  }

  async #forget({ id }: HomeRecord): Promise<void> {
    await this.#options.database.transaction((tx) => deleteHome(tx, id))
  }
}

async function inBatches<Item>(items: readonly Item[], work: (item: Item) => Promise<void>): Promise<void> {
  for (let at = 0; at < items.length; at += AT_ONCE) await Promise.all(items.slice(at, at + AT_ONCE).map(work))
}
