/** Databases whose every byte is somebody else's, and children that end before their time: nothing of the site changes, and nothing is left. */
import { execFile, execFileSync } from 'node:child_process'
import { copyFileSync, readdirSync, readFileSync } from 'node:fs'
import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { promisify } from 'node:util'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { giveToSite, testUid } from '../../../test/support/site-directory.ts'
import { DiskFull } from '../site-directories/disk-space.ts'
import type { DatabaseContent, SitePlace } from './database-content.ts'
import { SiteUnavailable } from './site-database.ts'
import { createSqliteContent } from './sqlite-content.ts'

const run = promisify(execFile)
const pool = { between: async <Result>(_siteId: number, work: () => Promise<Result>) => work() }
const open = (more: object = {}) => createSqliteContent({ pool, sandbox: 'auto', ...more })

let folder: string
let directory: SitePlace
let place: string

async function newDirectory(below: string): Promise<void> {
  const siteDirectory = join(below, 'h1')
  directory = { siteId: 1, siteDirectory, uid: testUid }
  place = join(siteDirectory, 'private/database')
  await mkdir(place, { recursive: true })
}
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'stead-hostile-'))
  await newDirectory(folder)
})
afterEach(() => rm(folder, { recursive: true, force: true }))

const file = () => join(place, 'site.sqlite')
const ownFiles = () => readdir(join(directory.siteDirectory, 'database'))

async function has(sql: string): Promise<void> {
  const database = new DatabaseSync(file())
  database.exec(sql)
  database.close()
  await giveToSite(directory.siteDirectory)
}

async function textOf(content: DatabaseContent = open()): Promise<string> {
  const snapshot = await content.snapshot(directory)
  try {
    return Buffer.concat(await Array.fromAsync(snapshot.dump())).toString()
  } finally {
    await snapshot.close()
  }
}

async function* pieces(text: string): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < text.length; at += 1000) yield Buffer.from(text.slice(at, at + 1000))
}

/** Rows that take no room: `count` of them, each with what the expression makes up when it is read. */
const madeUp = (expression: string, count: number) => `
  CREATE TABLE t (a INTEGER);
  WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${count}) INSERT INTO t SELECT i FROM n;
  ALTER TABLE t ADD COLUMN b AS (${expression})`

describe('a dump of what a database makes up by itself is given up:', () => {
  test('values without end, when the text is longer than it can be', async () => {
    await has(madeUp('hex(zeroblob(4000000))', 1000))
    await expect(textOf()).rejects.toThrow('it is longer than it can be')
    expect(await ownFiles()).toEqual([])
  })

  test('work without end, when it has taken more processor time than it may', async () => {
    await has(madeUp('length(hex(zeroblob(20000000 + a % 2)))', 10_000))
    const content = open({ mostCpuSeconds: 1 })
    const reading = textOf(content)
    await expect(reading).rejects.toThrow(SiteUnavailable)
    await expect(reading).rejects.toThrow('it takes more processor time than it may')
    expect(await ownFiles()).toEqual([])
  })
})

test('views, triggers and tables that are none run nothing, and a wide schema is no trouble', async () => {
  const columns = Array.from({ length: 900 }, (_, n) => `c${n} TEXT`).join(', ')
  const many = Array.from({ length: 300 }, (_, n) => `CREATE TABLE many${n} (a TEXT);`).join('')
  await has(`
    CREATE TABLE t (a TEXT); INSERT INTO t VALUES ('mine');
    CREATE VIEW v AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n;
    CREATE TRIGGER r AFTER INSERT ON t BEGIN INSERT INTO t SELECT a FROM t; END;
    CREATE VIRTUAL TABLE f USING fts5(a);
    CREATE TABLE wide (${columns}); ${many}`)
  const text = await textOf()
  expect(text).toContain("'mine'")
  expect(text).toContain('`c899`')
  expect(text).toContain('`many299`')
  expect(text).not.toMatch(/CREATE (VIEW|TRIGGER)|`v`|`f`/)
})

test('triggers of tables that stay cannot fill the disk, when others are put back beside them', async () => {
  await has('CREATE TABLE t (a TEXT); CREATE TABLE stays (a BLOB)')
  const text = await textOf()
  // the plugin's own tables come with a load
  await open().load(directory, pieces(text))
  await open().switch(directory)
  await open().cleanUp(directory)
  await has(`CREATE TRIGGER r AFTER INSERT ON _wp_sqlite_mysql_information_schema_tables BEGIN
    INSERT INTO stays WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT zeroblob(100000) FROM n; END`)
  const { stdout } = await run('df', ['--output=avail', '-B1', folder])
  const freeBytes = Number(stdout.split('\n')[1])
  const before = readFileSync(file())
  const content = open({ keepFreeBytes: freeBytes - (64 << 20) })
  await expect(content.load(directory, pieces(text), { tables: ['t'] })).rejects.toThrow(DiskFull)
  expect(await ownFiles()).toEqual([])
  expect(readFileSync(file()).equals(before)).toBe(true)
})

/** The database as it is on the disk when PHP is killed within a change: half of it is there, and the journal that takes it back. */
async function killedWithinAChange(): Promise<void> {
  await has(`CREATE TABLE t (a INTEGER, b BLOB);
    WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 500) INSERT INTO t SELECT i, zeroblob(2000) FROM n`)
  const database = new DatabaseSync(file())
  database.exec('PRAGMA cache_size = 5; BEGIN; UPDATE t SET a = a + 100000')
  for (const name of ['site.sqlite', 'site.sqlite-journal']) copyFileSync(join(place, name), join(folder, name))
  database.exec('ROLLBACK')
  database.close()
  for (const name of ['site.sqlite', 'site.sqlite-journal']) copyFileSync(join(folder, name), join(place, name))
  await giveToSite(directory.siteDirectory)
}

describe('a journal that was left', () => {
  beforeEach(killedWithinAChange)

  test('is played back in the copy: no half of a change is in a dump, and the site has its journal still', async () => {
    // else this proves nothing
    expect(readFileSync(file()).length).toBeGreaterThan(500_000)
    const text = await textOf()
    expect(text).toContain('(1,')
    expect(text).toContain('(500,')
    expect(text).not.toMatch(/\(100\d\d\d,/)
    expect(readdirSync(place).sort()).toEqual(['site.sqlite', 'site.sqlite-journal'])
  })

  test('is played back before the file is kept beside: taken back, it is the database from before the change', async () => {
    const content = open()
    const text = await textOf(content)
    await content.load(directory, pieces('CREATE TABLE other (a int);\n-- Dump completed'))
    await content.switch(directory)
    expect(readdirSync(place)).toEqual(['site.sqlite'])
    await content.switchBack(directory)
    expect(await textOf(content)).toBe(text)
  })

  test('and is another database’s changes nothing but what is read', async () => {
    const other = readFileSync(join(place, 'site.sqlite-journal'))
    await rm(file())
    await has("CREATE TABLE mine (a TEXT); INSERT INTO mine VALUES ('mine')")
    await writeFile(join(place, 'site.sqlite-journal'), other)
    const before = readFileSync(file())
    await textOf().catch((error) => expect(error).toBeInstanceOf(SiteUnavailable))
    expect(readFileSync(file()).equals(before)).toBe(true)
    expect(await ownFiles()).toEqual([])
  })
})

/** The child that works for this process now. */
function childOf(): number | undefined {
  const found = readdirSync('/proc').filter((name) => /^\d+$/.test(name))
  return found.map(Number).find((pid) => {
    try {
      const parent = Number(/^PPid:\s*(\d+)$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1])
      return parent === process.pid && readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('child/main.')
    } catch {
      return false
    }
  })
}

describe('a child that is killed', () => {
  const rows = madeUp('hex(zeroblob(1000))', 20_000)

  test('while it dumps: the dump fails and says so, nothing is left, and the next one is whole', async () => {
    await has(rows)
    const content = open()
    const snapshot = await content.snapshot(directory)
    let killed = false
    const dump = async () => {
      for await (const piece of snapshot.dump()) {
        expect(piece.length).toBeGreaterThan(0)
        // What the child had written before it died is still read.
        if (!killed) process.kill(childOf() as number, 'SIGKILL')
        killed = true
      }
    }
    const dumping = dump()
    await expect(dumping).rejects.toThrow(SiteUnavailable)
    await expect(dumping).rejects.toThrow('SIGKILL')
    await snapshot.close()
    expect(await ownFiles()).toEqual([])
    expect(await textOf(content)).toMatch(/-- Dump completed\n$/)
  })

  test('while it loads: no new database is there, nothing is left, and the same call makes it', async () => {
    await has("CREATE TABLE t (a TEXT); INSERT INTO t VALUES ('mine')")
    const before = readFileSync(file())
    const content = open()
    const text = `CREATE TABLE t (a text);\n${"INSERT INTO t VALUES ('x');\n".repeat(5000)}-- Dump completed\n`
    async function* killing() {
      let sent = 0
      for await (const piece of pieces(text)) {
        yield piece
        sent += piece.length
        const pid = sent > 50_000 ? childOf() : undefined
        if (pid) process.kill(pid, 'SIGKILL')
      }
    }
    await expect(content.load(directory, killing())).rejects.toThrow('SIGKILL')
    expect(await content.state(directory)).toEqual({ hasCurrent: true, hasNext: false, hasPrevious: false })
    expect(await ownFiles()).toEqual([])
    expect(readFileSync(file()).equals(before)).toBe(true)
    expect(await content.load(directory, pieces(text))).toEqual({ tables: 1, rows: 5000 })
  })
})

const mayMount = (() => {
  try {
    const at = execFileSync('mktemp', ['-d']).toString().trim()
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=1m', 'tmpfs', at], { stdio: 'ignore' })
    execFileSync('umount', [at])
    execFileSync('rmdir', [at])
    return true
  } catch {
    return false
  }
})()

describe.skipIf(!mayMount)('on a disk that is full', () => {
  beforeEach(async () => {
    await run('mount', ['-t', 'tmpfs', '-o', 'size=12m,mode=0711', 'tmpfs', folder])
    await newDirectory(folder)
    await has(`CREATE TABLE t (a INTEGER, b BLOB);
      WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 10) INSERT INTO t SELECT i, zeroblob(400000) FROM n`)
  })
  afterEach(() => run('umount', ['-l', folder]))

  /** Free bytes; and what the site's own files are. */
  const state = async () => {
    const { stdout } = await run('df', ['--output=avail', '-B1', folder])
    return [Number(stdout.split('\n')[1]), readFileSync(file()).toString('base64')] as const
  }
  const fill = (megabytes: number) => writeFile(join(folder, 'filler'), Buffer.alloc(megabytes << 20, 1))

  test('a copy for a backup fails, says so, and gives its room back', async () => {
    await fill(5)
    const before = await state()
    await expect(open().snapshot(directory)).rejects.toThrow(DiskFull)
    expect(await ownFiles()).toEqual([])
    expect(await state()).toEqual(before)
  })

  test('also when room that sites are kept from would be taken', async () => {
    await expect(open({ keepFreeBytes: 10 << 20 }).snapshot(directory)).rejects.toThrow(DiskFull)
    expect(await ownFiles()).toEqual([])
  })

  test.each([
    ['the disk has no more', {}, 120],
    ['what sites are kept from would be taken', { keepFreeBytes: 3 << 20 }, 60],
  ])('a new database fails when %s, says so, and gives its room back', async (_when, more, rows) => {
    await mkdir(join(directory.siteDirectory, 'database'))
    const before = await state()
    const value = 'x'.repeat(100_000)
    const text = `CREATE TABLE t (a longtext);\n${`INSERT INTO t VALUES ('${value}');\n`.repeat(rows)}-- Dump completed\n`
    await expect(open(more).load(directory, pieces(text))).rejects.toThrow(DiskFull)
    expect(await ownFiles()).toEqual([])
    expect(await state()).toEqual(before)
  })
})
