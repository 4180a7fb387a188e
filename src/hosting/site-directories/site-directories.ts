import type { Database, Tx } from '../../platform/db/database.ts'
import type { Log } from '../../platform/log/log.ts'
import type { RunningIdentity } from '../identity/folder.ts'
import { raiseNumbers, raiseNumbersIn } from '../identity/identity.store.ts'
import type { PhpSite } from '../php/runtime.ts'
import { type DatabaseKind, embeddedKind, isOnServer } from '../site-database/database-kind.ts'
import { DatabasesOfDirectories } from './databases-of-directories.ts'
import type { DirectoriesOnDisk } from './directories-on-disk.ts'
import {
  allDirectories,
  deleteDirectory,
  directoriesWithoutSite,
  directoryOfSite,
  findCopy,
  freeDirectories,
  giveDirectory,
  insertDirectory,
  nameOfSite,
  type SiteDirectoryRecord,
  setDatabaseOfDirectory,
  setDirectory,
  withdrawDirectory,
} from './directory.store.ts'
import type { DirectoryDatabases } from './directory-databases.ts'
import type { SiteDirectory } from './site-directory.ts'
import type { Template } from './template.ts'

const AT_ONCE = 16

/** A site directory is not where its record says. */
export class SiteDirectoryMissing extends Error {
  override readonly name = 'HomeLost'

  constructor(path: string) {
    super(
      `The site directory is missing: ${path} does not exist or belongs to another site. Restore it from a backup, or delete the site.`,
    )
  }
}

/** A copy of a site that is served elsewhere was removed, or given to its site. */
export class CopyGone extends Error {
  override readonly name = 'CopyGone'
}

/** A copy of a site that is served elsewhere. */
export interface CopiedSite {
  readonly directoryId: number
  readonly siteId: number
  readonly siteName: string
}

export interface SiteDirectoriesOptions {
  readonly database: Database
  readonly hostId: number
  readonly folders: DirectoriesOnDisk
  readonly identity: RunningIdentity
  /** How many prepared site directories to keep ready. */
  readonly prepared: number
  readonly log: Log
  /** Databases on a server. */
  readonly onServer?: DirectoryDatabases | undefined
  /** The kinds of databases that prepared site directories have. Default: files. */
  readonly kinds?: readonly DatabaseKind[]
}

/** The site directories of one host. Only one process of a host uses them. */
export class SiteDirectories {
  readonly databases: DatabasesOfDirectories
  readonly #options: SiteDirectoriesOptions
  #filling: Promise<void> | undefined

  constructor(options: SiteDirectoriesOptions) {
    this.#options = options
    this.databases = new DatabasesOfDirectories(options.onServer, options.log)
  }

  /** The user that installs the template and owns no site directory, or `null` when Stead does not run as root. */
  get installer(): number | null {
    return this.#options.folders.uidOf(0)
  }

  directory(record: SiteDirectoryRecord): SiteDirectory {
    const { folders } = this.#options
    return { ...record, path: folders.path(record.id), uid: folders.uidOf(record.id) }
  }

  /**
   * Returns the site of a site directory in the form that PHP runs. Everything that runs PHP for a site or a spare
   * calls this, so that one place defines what a site may see.
   * @param directory a record, or the relevant part of it
   * @param site what PHP runs there; additional properties are kept
   */
  phpSite<Site extends Pick<PhpSite, 'phpVersion' | 'address'>>(
    directory: Pick<SiteDirectoryRecord, 'id' | 'coreVersion'>,
    site: Site,
  ): Site & PhpSite {
    const { folders } = this.#options
    return {
      ...site,
      siteDirectory: folders.path(directory.id),
      corePath: this.corePath(directory),
      uid: folders.uidOf(directory.id),
    }
  }

  /** Returns the folder of the core that the site of a site directory runs. */
  corePath({ coreVersion }: Pick<SiteDirectoryRecord, 'coreVersion'>): string {
    return this.#options.folders.corePath(coreVersion)
  }

  /**
   * Compares the records with the disk and repairs what it can. Called once, before anything else.
   * @param isTakenOver whether the folder is older than marks, so that a folder without one is the site directory of
   *   its record
   */
  async reconcile({ isTakenOver }: { isTakenOver: boolean }): Promise<void> {
    const { database, hostId, folders, identity, log } = this.#options
    const { present, aside } = await folders.open()
    // Before any number is allocated.
    const onServer = await this.databases.numbers()
    await identity.reserve(Math.max(0, ...present, ...aside, ...onServer))
    await raiseNumbers(database, identity.current.lastHome)
    const records = await allDirectories(database.read, hostId)
    await inBatches(records, async (record) => {
      await this.#reconcileRecord(record, isTakenOver).catch((error) =>
        log.error({ err: error, folder: folders.path(record.id) }, 'could not check a site directory'),
      )
    })
    await this.databases.renew(
      records.filter(({ database: kind }) => !isOnServer(kind)).map((record) => this.directory(record)),
      folders.forPlatformFiles,
    )
    const known = new Set(records.map(({ id }) => id))
    for (const id of present) if (!known.has(id)) await folders.quarantine(id, 'no record speaks of it')
    for (const id of onServer) if (!known.has(id)) await this.databases.quarantine({ id, path: folders.path(id) })
  }

  async #reconcileRecord(record: SiteDirectoryRecord & { readonly siteName: string | null }, isTakenOver: boolean) {
    const { folders, log } = this.#options
    // The operation that copies the site resumes with it.
    if (record.state === 'apart') return
    let found = await folders.look(record)
    if (found === 'unmarked' && isTakenOver) {
      await folders.mark(record)
      found = 'the directory'
    } else if (found === 'unmarked' || found === 'another directory') {
      await folders.quarantine(record.id, 'another site directory than its record says')
      found = 'nothing'
    }
    if (found === 'nothing' && (await folders.recover(record))) {
      found = 'the directory'
      await this.databases.recover(this.directory(record))
    }
    if (found === 'the directory' && (await folders.giveToOwner(record)))
      log.warn({ folder: folders.path(record.id) }, 'a site directory belonged to another user; its site has it now')
    if (record.siteId === null) {
      if (record.state !== 'prepared' || found === 'nothing') await this.#discard(record)
    } else if (record.state === 'taken' && found === 'nothing')
      log.error(
        { siteId: record.siteId, site: record.siteName, folder: folders.path(record.id) },
        'a site directory is missing; restore it from a backup, or delete the site',
      )
  }

  /**
   * Returns the directory of a site, either a prepared one or a new one. Idempotent: the site keeps its directory.
   * @param preferred IDs of site directories to prefer, because a warm process waits in them
   */
  async claim(siteId: number, template: Template, preferred: readonly number[]): Promise<SiteDirectory> {
    const { database, hostId, folders } = this.#options
    const record = await database.transaction(async (tx) => {
      const own = await directoryOfSite(tx, siteId)
      if (own) return own
      const free = await freeDirectories(tx, hostId, template)
      const isPreferred = ({ id }: SiteDirectoryRecord) => preferred.includes(id)
      const others = free.filter((each) => !isPreferred(each)).reverse()
      for (const each of [...free.filter(isPreferred), ...others])
        if (await giveDirectory(tx, each.id, siteId)) return { ...each, siteId, state: 'taken' as const }
      return this.#newRecord(tx, template, siteId)
    })
    const named = { ...record, siteName: await nameOfSite(database.read, siteId) }
    if (record.state === 'making') {
      await this.#makeHome(named, template)
      await database.transaction((tx) => setDirectory(tx, record.id, { state: 'taken' }))
      return this.directory({ ...record, state: 'taken' })
    }
    if ((await folders.look(named)) !== 'the directory') throw new SiteDirectoryMissing(folders.path(record.id))
    // Before any content, so that nobody takes the folder for an empty one.
    await folders.mark(named)
    return this.directory(record)
  }

  /**
   * Allocates a number that no site directory in this folder has ever had, even if the database was restored while
   * Stead ran.
   */
  async #newRecord(tx: Tx, template: Template, siteId: number | null): Promise<SiteDirectoryRecord> {
    const { hostId, identity } = this.#options
    const values = { ...template, hostId, siteId, now: Date.now() }
    const record = await insertDirectory(tx, values)
    if (record.id > identity.current.lastHome) return record
    await deleteDirectory(tx, record.id)
    await raiseNumbersIn(tx, identity.current.lastHome)
    return insertDirectory(tx, values)
  }

  /** Whether a site has a directory by its record, but nothing on the disk. */
  async isLost(siteId: number): Promise<boolean> {
    const record = await this.#recordOf(siteId)
    return record !== undefined && (await this.#options.folders.look(record)) === 'nothing'
  }

  /**
   * Creates the folder of a missing site directory again, without WordPress. Idempotent: an existing folder stays.
   * @throws SiteDirectoryMissing
   */
  async makeAgain(siteId: number): Promise<SiteDirectory> {
    const { folders } = this.#options
    const recorded = await this.#recordOf(siteId)
    if (!recorded) throw new Error('The site has no site directory')
    const record = await this.#onWhatIsHere(recorded)
    const found = await folders.look(record)
    if (found === 'nothing') {
      await folders.makeEmpty(record)
      await this.databases.makeEmpty(this.directory(record))
    } else if (found !== 'the directory') throw new SiteDirectoryMissing(folders.path(record.id))
    return this.directory(record)
  }

  /** Switches the record to a file database when this host has no server, unlike the host it came from. */
  async #onWhatIsHere<Recorded extends SiteDirectoryRecord>(record: Recorded): Promise<Recorded> {
    const { database } = this.#options
    if (!isOnServer(record.database) || this.databases.hasServer) return record
    await database.transaction((tx) => setDatabaseOfDirectory(tx, record.id, embeddedKind))
    return { ...record, database: embeddedKind }
  }

  async #recordOf(siteId: number) {
    const { database } = this.#options
    const record = await directoryOfSite(database.read, siteId)
    return record && { ...record, siteName: await nameOfSite(database.read, siteId) }
  }

  /**
   * Creates the folder and the database of a copy of a site that is served elsewhere, without WordPress. Idempotent: an
   * existing folder stays.
   * @throws SiteDirectoryMissing, CopyGone
   */
  async makeCopy(copy: CopiedSite): Promise<SiteDirectory> {
    const { folders } = this.#options
    const directory = await this.copy(copy.directoryId)
    const record = { ...directory, siteId: copy.siteId, siteName: copy.siteName }
    const found = await folders.look(record)
    if (found === 'nothing') await folders.makeEmpty(record)
    else if (found !== 'the directory') throw new SiteDirectoryMissing(directory.path)
    await this.databases.makeEmpty(directory)
    return directory
  }

  /**
   * Returns the directory of a copy that this host has.
   * @throws CopyGone
   */
  async copy(id: number): Promise<SiteDirectory> {
    const { database, hostId } = this.#options
    const record = await findCopy(database.read, id)
    if (record?.hostId !== hostId) throw new CopyGone('The copy of the site was removed')
    return this.directory(record)
  }

  /** Deletes a copy of a site, from the disk and from the records. Does nothing if a site has it. */
  async removeCopy({ directoryId, siteId, siteName }: CopiedSite): Promise<void> {
    const record = await findCopy(this.#options.database.read, directoryId)
    if (record) await this.#discard(record, { siteId, siteName })
  }

  async ofSite(siteId: number): Promise<SiteDirectory | undefined> {
    const record = await directoryOfSite(this.#options.database.read, siteId)
    return record && this.directory(record)
  }

  /** Returns the prepared site directories of a template, oldest first. */
  async free(template: Template): Promise<SiteDirectory[]> {
    const records = await freeDirectories(this.#options.database.read, this.#options.hostId, template)
    return records.map((record) => this.directory(record))
  }

  /** Creates site directories until enough are prepared. Concurrent calls share one run. */
  async fill(template: Template): Promise<void> {
    this.#filling ??= this.#fill(template).finally(() => {
      this.#filling = undefined
    })
    return this.#filling
  }

  async #fill(template: Template): Promise<void> {
    const { database, hostId, log, kinds = [embeddedKind] } = this.#options
    // Copies of an older template are of no use now.
    for (const record of await directoriesWithoutSite(database.read, hostId))
      if (record.coreVersion !== template.coreVersion || record.install !== template.install) {
        const isWithdrawn = await database.transaction((tx) => withdrawDirectory(tx, record.id))
        // The next start retries, and nobody waits for it.
        if (isWithdrawn)
          await this.#discard(record).catch((error) =>
            log.warn({ err: error, directory: record.id }, 'could not remove an unused site directory'),
          )
      }
    for (const kind of kinds) await this.#fillWith({ ...template, database: kind })
  }

  async #fillWith(template: Template): Promise<void> {
    const { database, hostId, prepared } = this.#options
    while ((await freeDirectories(database.read, hostId, template)).length < prepared) {
      const record = await this.#makeForNobody(template)
      await database.transaction((tx) => setDirectory(tx, record.id, { state: 'prepared' }))
    }
  }

  async #makeHome(
    record: SiteDirectoryRecord & { readonly siteName: string | null },
    template: Template,
  ): Promise<void> {
    const { folders } = this.#options
    // Left by an interrupted attempt.
    await this.databases.drop(this.directory(record))
    await folders.make(record, template.path)
    await this.databases.make(this.directory(record), template)
  }

  /** Records a new kind of database for a site directory. */
  async recordDatabase(tx: Tx, { id }: SiteDirectory, database: DatabaseKind): Promise<void> {
    await setDatabaseOfDirectory(tx, id, database)
  }

  /**
   * Creates a site directory that never belongs to a site: no list shows it, and no visitor reaches it. The caller must
   * {@link remove} it. If the host dies first, its next start does.
   */
  async makeThrowAway(template: Template): Promise<SiteDirectory> {
    return this.directory(await this.#makeForNobody(template))
  }

  /** Leaves the state at `making`, so that a start removes an unfinished one. */
  async #makeForNobody(template: Template): Promise<SiteDirectoryRecord> {
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

  /**
   * Deletes a site directory, first from the disk, then from the records, so that {@link reconcile} can finish after a
   * crash.
   */
  async remove(directory: SiteDirectory): Promise<void> {
    await this.#options.database.transaction((tx) => setDirectory(tx, directory.id, { state: 'leaving' }))
    await this.#discard(directory)
  }

  /** @param of the site in its mark. Default: that of its record */
  async #discard(record: SiteDirectoryRecord, of?: Pick<CopiedSite, 'siteId' | 'siteName'>): Promise<void> {
    const { database, folders } = this.#options
    const named = { ...record, siteName: await nameOfSite(database.read, record.siteId), ...of }
    const found = await folders.look(named)
    await folders.remove(named)
    // If another site directory is there, the owner of the database is unknown too.
    if (found === 'the directory' || found === 'nothing') await this.databases.drop(this.directory(record))
    await this.#forget(record)
  }

  async #forget({ id }: SiteDirectoryRecord): Promise<void> {
    await this.#options.database.transaction((tx) => deleteDirectory(tx, id))
  }
}

async function inBatches<Item>(items: readonly Item[], work: (item: Item) => Promise<void>): Promise<void> {
  for (let at = 0; at < items.length; at += AT_ONCE) await Promise.all(items.slice(at, at + AT_ONCE).map(work))
}
