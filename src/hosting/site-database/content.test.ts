/**
 * The behavior of a site's database content, for each kind of database. Tests for one kind only are in separate files.
 */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { type ContentStand, contentKinds } from '../../../test/support/content-stands.ts'
import { type DatabaseContent, DumpUnreadable, type SitePlace } from './database-content.ts'
import { checkDump } from './dumps/dump-check.ts'

const wordpress = `
  CREATE TABLE wp_options (option_id bigint(20) unsigned NOT NULL auto_increment, option_name varchar(191) NOT NULL default '',
    option_value longtext NOT NULL, PRIMARY KEY (option_id), UNIQUE KEY option_name (option_name)) AUTO_INCREMENT=40;
  CREATE TABLE wp_posts (ID bigint(20) unsigned NOT NULL auto_increment, post_date datetime NOT NULL default '0000-00-00 00:00:00',
    post_content longtext NOT NULL, ping tinyint(1) default NULL, PRIMARY KEY (ID), KEY post_content (post_content(191), post_date));
  CREATE TABLE wp_term_relationships (object_id bigint(20) NOT NULL default 0, term_id bigint(20) NOT NULL default 0, PRIMARY KEY (object_id, term_id));
  INSERT INTO wp_options VALUES (1, 'siteurl', 'http://old.example.com'), (7, 'quote''s', 'a\\\\b"c''d\\n😀');
  INSERT INTO wp_posts VALUES (1, '0000-00-00 00:00:00', '', NULL), (9, '2026-01-01 00:00:00', 'first', 1);
  INSERT INTO wp_term_relationships VALUES (3, 2), (1, 1);
  -- Dump completed`

async function* pieces(text: Uint8Array | string, size = 1000): AsyncGenerator<Uint8Array> {
  const bytes = Buffer.from(text)
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size)
}

const one = 'CREATE TABLE wp_options (a int);\nINSERT INTO wp_options VALUES (5);\n-- Dump completed'

describe.each(contentKinds)('$kind:', ({ isHere, makes }) => {
  // A kind that is not on this machine is listed as skipped.
  describe.skipIf(!isHere)('a site’s database', () => {
    let stand: ContentStand
    let content: DatabaseContent
    let directory: SitePlace
    beforeAll(async () => {
      stand = await makes()
      content = stand.content
    })
    afterAll(() => stand?.stop())
    beforeEach(async () => {
      directory = await stand.fresh()
      await restore(wordpress)
      stand.held.length = 0
    })

    const run = (sql: string) => stand.run(directory, sql)
    async function restore(sql: string | Uint8Array): Promise<void> {
      await content.load(directory, pieces(sql))
      await content.switch(directory)
      await content.cleanUp(directory)
    }
    async function textOf(tables?: readonly string[]): Promise<Buffer> {
      const snapshot = await content.snapshot(directory)
      try {
        return Buffer.concat(await Array.fromAsync(snapshot.dump({ tables })))
      } finally {
        await snapshot.close()
      }
    }
    const all = async () => [
      String(await textOf()),
      await run('select * from wp_options order by option_id'),
      await run('select * from wp_posts order by ID'),
      await run('select * from wp_term_relationships order by object_id'),
    ]

    test('has the loaded data, byte for byte', async () => {
      expect(await run('select * from wp_options order by option_id')).toEqual([
        ['1', 'siteurl', 'http://old.example.com'],
        ['7', "quote's", 'a\\b"c\'d\n😀'],
      ])
      expect(await run('select ID, post_date, ping from wp_posts order by ID')).toEqual([
        ['1', '0000-00-00 00:00:00', null],
        ['9', '2026-01-01 00:00:00', '1'],
      ])
      await run("insert into wp_options (option_name, option_value) values ('next', '')")
      expect(await run("select option_id from wp_options where option_name = 'next'")).toEqual([['40']])
      expect(await content.size(directory)).toBeGreaterThan(10_000)
    })

    test('is the same after its dump was loaded and switched in', async () => {
      const before = await all()
      const text = await textOf()
      stand.held.length = 0
      const progress: number[] = []
      expect(await content.load(directory, pieces(text), { onProgress: (done) => progress.push(done) })).toEqual({
        tables: 3,
        rows: 6,
      })
      expect(progress.at(-1)).toBe(text.length)
      expect(await content.state(directory)).toEqual({ hasCurrent: true, hasNext: true, hasPrevious: false })
      expect(stand.held).toEqual([])
      await content.switch(directory)
      expect(stand.held).toEqual([true])
      expect(await content.state(directory)).toEqual({ hasCurrent: true, hasNext: false, hasPrevious: true })
      await content.switch(directory)
      expect(await all()).toEqual(before)
      await content.cleanUp(directory)
      expect(await content.state(directory)).toEqual({ hasCurrent: true, hasNext: false, hasPrevious: false })
      expect(await stand.left(directory)).toEqual([])
    })

    test('writes a dump from the moment of its snapshot, repeatedly, and of selected tables', async () => {
      const snapshot = await content.snapshot(directory)
      expect(snapshot.estimatedBytes).toBeGreaterThan(0)
      await run('delete from wp_posts')
      await run("insert into wp_options values (50, 'late', 'x')")
      const read = async (tables?: string[]) => String(Buffer.concat(await Array.fromAsync(snapshot.dump({ tables }))))
      const whole = await read()
      expect(whole).toContain("'first'")
      expect(whole).not.toContain("'late'")
      expect(await read()).toBe(whole)
      const some = await read(['WP_posts'])
      expect(some).toContain('CREATE TABLE `wp_posts`')
      expect(some).not.toContain('wp_options')
      await snapshot.close()
      await snapshot.close()
      expect(await stand.left(directory)).toEqual([])
      expect(String(await textOf())).toContain("'late'")
    })

    test('can be changed by the site while a snapshot exists, and after it was read', async () => {
      const snapshot = await content.snapshot(directory)
      await run("insert into wp_options values (51, 'later', 'x')")
      await Array.fromAsync(snapshot.dump())
      await run('alter table wp_term_relationships add column more int')
      await snapshot.close()
      expect(String(await textOf())).toContain('`more`')
    })

    test('allows closing a snapshot in the middle of a dump', async () => {
      const snapshot = await content.snapshot(directory)
      const dump = snapshot.dump()[Symbol.asyncIterator]()
      expect((await dump.next()).done).toBe(false)
      await dump.return?.()
      await snapshot.close()
      await run('alter table wp_term_relationships add column more int')
      expect(await stand.left(directory)).toEqual([])
    })

    test('lets the reader read a dump to its end to check it', async () => {
      const text = await textOf()
      const read = async (bytes: Uint8Array) => {
        const check = checkDump()
        for await (const piece of pieces(bytes, 7)) await check.write(piece)
        check.finish()
      }
      await read(text)
      for (const lost of [1, 20, 300])
        await expect(read(text.subarray(0, text.length - lost - 2))).rejects.toThrow(DumpUnreadable)
    })

    test('restores the previous database with switchBack', async () => {
      const before = await all()
      await content.load(directory, pieces(one))
      await content.switch(directory)
      expect(await run('select * from wp_options')).toEqual([['5']])
      await content.switchBack(directory)
      await content.switchBack(directory)
      expect(await all()).toEqual(before)
      expect(await content.state(directory)).toEqual({ hasCurrent: true, hasNext: false, hasPrevious: false })
      expect(await stand.left(directory)).toEqual([])
    })

    test('keeps the last database as previous after a second switch', async () => {
      await content.load(directory, pieces(one))
      await content.switch(directory)
      await content.load(directory, pieces(one.replace('(5)', '(6)')))
      await content.switch(directory)
      expect(await run('select * from wp_options')).toEqual([['6']])
      await content.switchBack(directory)
      expect(await run('select * from wp_options')).toEqual([['5']])
    })

    test('restores some tables, and keeps the others as they are now', async () => {
      const text = await textOf()
      await run('delete from wp_posts')
      await run("update wp_options set option_value = 'now' where option_id = 1")
      expect(await content.load(directory, pieces(text), { tables: ['WP_posts'] })).toEqual({ tables: 1, rows: 2 })
      await content.switch(directory)
      expect(await run('select ID from wp_posts order by ID')).toEqual([['1'], ['9']])
      expect(await run('select option_value from wp_options where option_id = 1')).toEqual([['now']])
      await expect(content.load(directory, pieces(text), { tables: ['wp_none'] })).rejects.toThrow(
        'It has no table wp_none',
      )
    })

    test('keeps tables that a dump lacks if requested, and drops them otherwise', async () => {
      await content.load(directory, pieces(one), { keepsOthers: true })
      await content.switch(directory)
      expect(await run('select * from wp_options')).toEqual([['5']])
      expect(await run('select count(*) from wp_posts')).toEqual([['2']])
      await restore(one)
      await expect(run('select count(*) from wp_posts')).rejects.toThrow(/wp_posts/)
    })

    test('replaces addresses', async () => {
      const changes = [{ from: 'old.example.com', to: 'new.example.com:8081' }]
      await content.load(directory, pieces(await textOf()), { changes })
      await content.switch(directory)
      expect(await run('select option_value from wp_options where option_id = 1')).toEqual([
        ['http://new.example.com:8081'],
      ])
    })

    describe('trying out a dump', () => {
      test('compares the dump with its result, and leaves nothing behind', async () => {
        const [before, text, size] = [await all(), await textOf(), await content.size(directory)]
        stand.held.length = 0
        expect(await content.tryOut(directory, pieces(text))).toBeUndefined()
        expect([stand.held, await stand.left(directory)]).toEqual([[], []])
        expect([await all(), await content.size(directory)]).toEqual([before, size])
        expect(await content.state(directory)).toEqual({ hasCurrent: true, hasNext: false, hasPrevious: false })
      })

      test('leaves a database that waits to be switched in unchanged', async () => {
        await content.load(directory, pieces(one))
        expect(await content.tryOut(directory, pieces(await textOf()))).toBeUndefined()
        await content.switch(directory)
        expect(await run('select * from wp_options')).toEqual([['5']])
      })

      test('reports why a dump cannot be loaded, and leaves nothing behind', async () => {
        const text = 'CREATE TABLE t (a int primary key);INSERT INTO t VALUES (1),(1);\n-- Dump completed'
        await expect(content.tryOut(directory, pieces(text))).rejects.toThrow(DumpUnreadable)
        await expect(content.tryOut(directory, pieces(text))).rejects.toThrow(/UNIQUE|Duplicate/)
        const cutOff = content.tryOut(directory, pieces(text.split('INSERT')[0] as string))
        await expect(cutOff).rejects.toThrow('cut off')
        expect(await stand.left(directory)).toEqual([])
      })

      test('names the table that differs from the dump', async () => {
        // Both kinds round a number with more digits than the column.
        const text = 'CREATE TABLE t (a int primary key, n int);INSERT INTO t VALUES (1, 1.4);\n-- Dump completed'
        expect(await content.tryOut(directory, pieces(text))).toBe('rows of the table t are not the same')
      })

      test('leaves nothing behind when it is aborted', async () => {
        const calling = new AbortController()
        async function* endless() {
          yield Buffer.from('CREATE TABLE t (a int);')
          for (;;) {
            calling.abort(new Error('called off'))
            yield Buffer.from('INSERT INTO t VALUES (1);\n'.repeat(100))
          }
        }
        await expect(content.tryOut(directory, endless(), { signal: calling.signal })).rejects.toThrow('called off')
        expect(await stand.left(directory)).toEqual([])
      })
    })

    describe('a dump that cannot be loaded changes nothing, and reports the place of the error:', () => {
      test.each([
        ['cut off', 'CREATE TABLE t (a int);\nINSERT INTO t VALUES (1),(2', /cut off at line 2, byte/],
        ['without its last line', 'CREATE TABLE t (a int);\n', /the last line does not say that it is complete/],
        ['empty', '', /cut off/],
        ['no dump', '<html>', /begins no statement that is known, at line 1, byte/],
        [
          'with a trigger',
          'CREATE TRIGGER a AFTER INSERT ON b FOR EACH ROW SET c = 1;\n-- Dump completed',
          /CREATE TRIGGER/,
        ],
        ['with rights', 'GRANT ALL ON *.* TO x;\n-- Dump completed', /begins no statement that is known/],
        ['with rows of nothing', 'INSERT INTO t VALUES (1);\n-- Dump completed', /which does not exist/],
        ['with the plugin’s own tables', 'DROP TABLE _wp_sqlite_x;\n-- Dump completed', /may not be called/],
        [
          'with a row twice',
          'CREATE TABLE t (a int primary key);INSERT INTO t VALUES (1),(1);\n-- Dump completed',
          /UNIQUE|Duplicate/,
        ],
        [
          'with too few values',
          'CREATE TABLE t (a int, b int);INSERT INTO t VALUES (1);\n-- Dump completed',
          /different number of values/,
        ],
        [
          'with a column that is not there',
          'CREATE TABLE t (a int);INSERT INTO t (b) VALUES (1);\n-- Dump completed',
          /no column b/,
        ],
        ['with a table twice', 'CREATE TABLE t (a int);CREATE TABLE T (a int);\n-- Dump completed', /two tables/],
      ])('%s', async (_name, text, message) => {
        const before = await all()
        await expect(content.load(directory, pieces(text))).rejects.toThrow(DumpUnreadable)
        await expect(content.load(directory, pieces(text))).rejects.toThrow(message)
        expect(await content.state(directory)).toEqual({ hasCurrent: true, hasNext: false, hasPrevious: false })
        await content.switch(directory)
        expect(await all()).toEqual(before)
        expect(await stand.left(directory)).toEqual([])
      })

      test('with a failing source', async () => {
        async function* broken() {
          yield Buffer.from('CREATE TABLE t (a int);')
          throw new Error('the storage is gone')
        }
        await expect(content.load(directory, broken())).rejects.toThrow('the storage is gone')
        expect(await stand.left(directory)).toEqual([])
      })

      test('that is aborted', async () => {
        const calling = new AbortController()
        async function* endless() {
          yield Buffer.from('CREATE TABLE t (a int);')
          for (;;) {
            calling.abort(new Error('called off'))
            yield Buffer.from('INSERT INTO t VALUES (1);\n'.repeat(100))
          }
        }
        await expect(content.load(directory, endless(), { signal: calling.signal })).rejects.toThrow('called off')
        expect(await stand.left(directory)).toEqual([])
      })
    })

    test('treats the names of another database as its own', async () => {
      const other = await stand.fresh()
      const text =
        'USE mysql;\nCREATE TABLE `mysql`.`wp_x` (a int);\nINSERT INTO mysql.wp_x VALUES (5);\nDROP TABLE IF EXISTS wp_y;\n-- Dump completed'
      await restore(text)
      expect(await run('select * from wp_x')).toEqual([['5']])
      expect((await content.state(other)).hasCurrent).toBe(false)
    })

    test('drops everything, repeatedly', async () => {
      await content.load(directory, pieces(await textOf()))
      await content.switch(directory)
      await content.load(directory, pieces(one))
      await content.snapshot(directory)
      await content.drop(directory)
      expect(await content.state(directory)).toEqual({ hasCurrent: false, hasNext: false, hasPrevious: false })
      expect(await stand.left(directory)).toEqual([])
      await content.drop(directory)
      expect(await content.size(directory)).toBe(0)
    })
  })
})

describe.skipIf(contentKinds.some(({ isHere }) => !isHere))('copying from one kind to another', () => {
  test.each([
    [contentKinds[0], contentKinds[1]],
    [contentKinds[1], contentKinds[0]],
  ])('$kind', async (from, to) => {
    const [source, target] = [await from.makes(), await to.makes()]
    try {
      const [here, there] = [await source.fresh(), await target.fresh()]
      const rows = async (stand: ContentStand, directory: SitePlace) => [
        await stand.run(directory, 'select * from wp_options order by option_id'),
        await stand.run(directory, 'select * from wp_posts order by ID'),
      ]
      await source.content.load(here, pieces(wordpress))
      await source.content.switch(here)
      const snapshot = await source.content.snapshot(here)
      expect(await target.content.load(there, snapshot.dump())).toEqual({ tables: 3, rows: 6 })
      await snapshot.close()
      await target.content.switch(there)
      expect(await rows(target, there)).toEqual(await rows(source, here))
    } finally {
      await source.stop()
      await target.stop()
    }
  })
})
