/** Databases with hostile bytes, and children that end early: the site does not change, and nothing is left behind. */
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

/**
 * Returns SQL for rows that take no space: `count` of them, each with a value that the expression generates when it is
 * read.
 */
const madeUp = (expression: string, count: number) => `
  CREATE TABLE t (a INTEGER);
  WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${count}) INSERT INTO t SELECT i FROM n;
  ALTER TABLE t ADD COLUMN b AS (${expression})`

describe('gives up a dump of a database that generates its content:', () => {
  test('endless values, when the text is longer than possible', async () => {
    await has(madeUp('hex(zeroblob(4000000))', 1000))
    await expect(textOf()).rejects.toThrow('it is longer than it can be')
    expect(await ownFiles()).toEqual([])
  })

  test('endless work, when it has taken more processor time than allowed', async () => {
    await has(madeUp('length(hex(zeroblob(20000000 + a % 2)))', 10_000))
    const content = open({ mostCpuSeconds: 1 })
    const reading = textOf(content)
    await expect(reading).rejects.toThrow(SiteUnavailable)
    await expect(reading).rejects.toThrow('it takes more processor time than it may')
    expect(await ownFiles()).toEqual([])
  })
})

test('runs nothing from views, triggers, and virtual tables, and can handle a wide schema', async () => {
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

test('limits what triggers of kept tables write to the disk while other tables are restored', async () => {
  await has('CREATE TABLE t (a TEXT); CREATE TABLE stays (a BLOB)')
  const text = await textOf()
  // A load adds the plugin's own tables.
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

/**
 * Creates the database as it is on the disk when PHP is killed during a change: half of the change, and the journal
 * that undoes it.
 */
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

describe('a leftover journal', () => {
  beforeEach(killedWithinAChange)

  test('is played back in the copy: a dump contains no half of a change, and the site still has its journal', async () => {
    // Otherwise this proves nothing.
    expect(readFileSync(file()).length).toBeGreaterThan(500_000)
    const text = await textOf()
    expect(text).toContain('(1,')
    expect(text).toContain('(500,')
    expect(text).not.toMatch(/\(100\d\d\d,/)
    expect(readdirSync(place).sort()).toEqual(['site.sqlite', 'site.sqlite-journal'])
  })

  test('is played back before the file becomes previous: switchBack restores the database from before the change', async () => {
    const content = open()
    const text = await textOf(content)
    await content.load(directory, pieces('CREATE TABLE other (a int);\n-- Dump completed'))
    await content.switch(directory)
    expect(readdirSync(place)).toEqual(['site.sqlite'])
    await content.switchBack(directory)
    expect(await textOf(content)).toBe(text)
  })

  test('of another database changes only what is read', async () => {
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

/** Returns the child that works for this process now. */
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

describe('a killed child', () => {
  const rows = madeUp('hex(zeroblob(1000))', 20_000)

  test('fails the dump with a message, leaves nothing behind, and the next dump is complete', async () => {
    await has(rows)
    const content = open()
    const snapshot = await content.snapshot(directory)
    let killed = false
    const dump = async () => {
      for await (const piece of snapshot.dump()) {
        expect(piece.length).toBeGreaterThan(0)
        // The reader still gets what the child had written before it died.
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

  test('creates no new database during a load, leaves nothing behind, and the same call succeeds later', async () => {
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

describe.skipIf(!mayMount)('on a full disk', () => {
  beforeEach(async () => {
    await run('mount', ['-t', 'tmpfs', '-o', 'size=12m,mode=0711', 'tmpfs', folder])
    await newDirectory(folder)
    await has(`CREATE TABLE t (a INTEGER, b BLOB);
      WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 10) INSERT INTO t SELECT i, zeroblob(400000) FROM n`)
  })
  afterEach(() => run('umount', ['-l', folder]))

  /** Returns the free bytes, and the contents of the site's file. */
  const state = async () => {
    const { stdout } = await run('df', ['--output=avail', '-B1', folder])
    return [Number(stdout.split('\n')[1]), readFileSync(file()).toString('base64')] as const
  }
  const fill = (megabytes: number) => writeFile(join(folder, 'filler'), Buffer.alloc(megabytes << 20, 1))

  test('fails to copy for a backup, with a message, and frees the space', async () => {
    await fill(5)
    const before = await state()
    await expect(open().snapshot(directory)).rejects.toThrow(DiskFull)
    expect(await ownFiles()).toEqual([])
    expect(await state()).toEqual(before)
  })

  test('fails to copy if that would use the space reserved from sites', async () => {
    await expect(open({ keepFreeBytes: 10 << 20 }).snapshot(directory)).rejects.toThrow(DiskFull)
    expect(await ownFiles()).toEqual([])
  })

  test.each([
    ['the disk has no more', {}, 120],
    ['what sites are kept from would be taken', { keepFreeBytes: 3 << 20 }, 60],
  ])('fails to create a database when %s, with a message, and frees the space', async (_when, more, rows) => {
    await mkdir(join(directory.siteDirectory, 'database'))
    const before = await state()
    const value = 'x'.repeat(100_000)
    const text = `CREATE TABLE t (a longtext);\n${`INSERT INTO t VALUES ('${value}');\n`.repeat(rows)}-- Dump completed\n`
    await expect(open(more).load(directory, pieces(text))).rejects.toThrow(DiskFull)
    expect(await ownFiles()).toEqual([])
    expect(await state()).toEqual(before)
  })
})
