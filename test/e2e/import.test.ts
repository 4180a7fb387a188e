/** An import in real WordPress: an archive of one site replaces another, and can be undone. */
import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { chmod, cp, mkdir, readdir, readFile, rename, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { unpackZip } from '../../src/hosting/archives/unpack-zip.ts'
import type { MadeEntry } from '../support/archives.ts'
import { describeSites } from '../support/describe-sites.ts'
import { type FileServer, startFileServer } from '../support/file-server.ts'
import { makeWpress } from '../support/hosted-archives.ts'
import { OldMachine, PASSWORD } from '../support/old-machine.ts'
import { type Stead, showOutputOfFailures, startStead, until } from '../support/stead.ts'

const sha256 = (content: Buffer) => createHash('sha256').update(content).digest('hex')

describeSites('import', ({ env, testOnce, isOnce }) => {
  let stead: Stead
  let server: FileServer
  let to: number
  showOutputOfFailures(() => stead)
  beforeAll(async () => {
    server = await startFileServer()
    // pictures take minutes: compare-pictures.test.ts has a browser
    stead = await startStead({ env: { ...env, STEAD_ALLOW_PRIVATE_FETCH: 'yes', STEAD_CHROMIUM: '/none' } })
    await stead.createSite({ name: 'old-site' })
    to = await stead.createSite({ name: 'new-site', staging: true })
    const content = join(stead.directoryOf('old-site'), 'web/wp-content')
    await mkdir(join(content, 'plugins/greeter'), { recursive: true })
    const code = "add_action('wp_footer', fn () => print('greeted by the plugin'));"
    await writeFile(join(content, 'plugins/greeter/greeter.php'), `<?php\n/* Plugin Name: Greeter */\n${code}`)
    const make = `require 'wp-load.php'; $url = home_url(); update_option('blogname', 'Of the old site');
      update_option('active_plugins', ['greeter/greeter.php']);
      echo wp_insert_post(['post_title' => 'Kept', 'post_name' => 'kept', 'post_status' => 'publish', 'post_content' => "<a href='$url/x/'>x</a>"]);`
    await writeFile(join(content, '../make.php'), `<?php ${make}`)
    expect(Number((await stead.visit('old-site', '/make.php')).text)).toBeGreaterThan(0)
    server.files.set('/site.wpress', await archiveOf(content))
  })
  afterAll(async () => {
    server?.close()
    await stead?.remove()
  })

  /** Dumps the tables with the site's own PHP: any other way depends on the runtime. */
  async function dumpOf(content: string): Promise<string> {
    const code = String.raw`<?php require 'wp-load.php'; global $wpdb; $q = chr(96);
      echo "-- dump\nSET NAMES utf8mb4;\n";
      foreach ($wpdb->get_col('SHOW TABLES') as $table) {
        echo $wpdb->get_row("SHOW CREATE TABLE $q$table$q", ARRAY_N)[1], ";\n";
        foreach ($wpdb->get_results("SELECT * FROM $q$table$q", ARRAY_A) as $row) {
          $values = array_map(fn ($value) => $value === null ? 'NULL' : "'" . addslashes($value) . "'", $row);
          echo "INSERT INTO $q$table$q ($q", implode("$q, $q", array_keys($row)), "$q) VALUES (", implode(', ', $values), ");\n";
        }
      }
      echo "-- Dump completed\n";`
    await writeFile(join(content, '../dump.php'), code)
    return (await stead.visit('old-site', '/dump.php')).text
  }

  /** An archive as All-in-One WP Migration packs it, with leftovers of the old host. */
  async function archiveOf(content: string): Promise<Buffer> {
    const sql = (await dumpOf(content))
      .replaceAll('`wp_', '`SERVMASK_PREFIX_')
      .replaceAll(/'wp_(user_roles|capabilities|user_level)'/g, "'SERVMASK_PREFIX_$1'")
    const files: MadeEntry[] = []
    for (const entry of await readdir(content, { recursive: true, withFileTypes: true })) {
      const path = join(entry.parentPath, entry.name)
      const name = path.slice(content.length + 1)
      if (entry.isFile() && !/^(?:mu-plugins|db\.php|object-cache\.php)/.test(name))
        files.push({ name, content: await readFile(path) })
    }
    return makeWpress([
      { name: 'package.json', content: '{}' },
      { name: 'database.sql', content: sql },
      ...files,
      { name: 'object-cache.php', content: "<?php exit('drop-in of the old host');" },
      { name: 'mu-plugins/kinsta-mu-plugins.php', content: "<?php exit('of the old host');" },
    ])
  }

  /** Kills the host while the operation runs each of these steps, and waits for the operation to end. */
  async function killedIn(operationId: string, steps: readonly string[]) {
    if (!isOnce) return stead.ended(operationId, 200_000)
    const database = new DatabaseSync(join(stead.dataDir, 'stead.db'), { readOnly: true, timeout: 5000 })
    const running = database.prepare("select name from operation_steps where operation_id = ? and state = 'running'")
    const killed: string[] = []
    let hasEnded = false
    const end = stead.ended(operationId, 400_000).finally(() => {
      hasEnded = true
    })
    while (!hasEnded && killed.length < steps.length) {
      const name = (running.get(Number(operationId)) as { name: string } | undefined)?.name
      if (name !== undefined && steps.includes(name) && !killed.includes(name) && stead.role('host')) {
        stead.kill('host')
        killed.push(name)
      }
      await pause(1)
    }
    database.close()
    const ended = await end
    expect(killed).toEqual(steps)
    return ended
  }

  /** Visits the site throughout. @returns pages that belonged neither to the old site nor to the new one */
  function visitAllTheWhile(): () => Promise<string[]> {
    const odd: string[] = []
    let goesOn = true
    const visits = (async () => {
      for (let n = 0; goesOn; n++) {
        const page = await stead.visit('new-site', `/kept/?visit=${n}`).catch(() => undefined)
        const isGreeted = page?.text.includes('greeted by the plugin')
        const isWhole = page?.status === 200 ? isGreeted : page?.status === 404 ? !isGreeted : true
        if (page && !(isWhole && [200, 404, 502, 503].includes(page.status))) odd.push(`${page.status} ${page.text}`)
        await pause(50)
      }
    })()
    return async () => {
      goesOn = false
      await visits
      return odd
    }
  }

  test('replaces the site and its addresses, though the host is killed in each step; undo restores the old site', async () => {
    const made = await stead.api('POST', `/v1/sites/${to}/imports`, { urls: [`${server.base}/site.wpress`] })
    expect([made.status, made.body.errors]).toEqual([201, null])
    const inspection = await killedIn(made.headers.get('operation-id') as string, ['fetch', 'unpack', 'database'])
    expect(inspection).toMatchObject({ state: 'succeeded', error: null })
    const path = `/v1/sites/${to}/imports/${made.body.data.id}`
    const { data: inspected } = (await stead.api('GET', path)).body
    expect(inspected).toMatchObject({ state: 'ready', plan: { format: 'wpress', blockers: [] } })
    expect((await stead.visit('new-site', '/kept/')).status).toBe(404)

    const stopVisits = visitAllTheWhile()
    const started = await stead.api('POST', `${path}/start`)
    const steps = ['files', 'database', 'switch', 'fit', 'answer', 'compare', 'settle']
    const done = await killedIn(started.headers.get('operation-id') as string, steps)
    expect(done).toMatchObject({ state: 'succeeded', error: null })
    expect(await stopVisits()).toEqual([])
    expect(await readdir(join(stead.dataDir, 'imports'))).toEqual([])
    // the last kill may have come after the last step ended
    const page = await until('the host is there again', async () => {
      const seen = await stead.visit('new-site', '/kept/?now').catch(() => undefined)
      return seen && ![502, 503].includes(seen.status) && seen
    })
    expect([page.status, page.text.includes('greeted by the plugin')]).toEqual([200, true])
    expect(page.text).toContain(`http://new-site.localhost:${stead.edgePort}/x/`)
    expect(page.text).not.toContain('old-site.localhost')
    const content = join(stead.directoryOf('new-site'), 'web/wp-content')
    expect(existsSync(join(content, 'mu-plugins/kinsta-mu-plugins.php'))).toBe(false)
    const { data: imported } = (await stead.api('GET', path)).body
    expect(imported.state).toBe('imported')
    const [front] = imported.comparison
    expect(front).toMatchObject({ path: '/', old: { status: 200 }, new: { status: 200 } })
    expect(front).toMatchObject({ sameText: 100, differentPicture: null })
    expect(front.noPicture).toContain('has no Chromium')

    const undo = await stead.api('POST', `/v1/operations/${done.id}/undo`)
    expect(await stead.ended(undo.body.data.id, 200_000)).toMatchObject({ state: 'succeeded', error: null })
    expect((await stead.visit('new-site', '/kept/?undone')).status).toBe(404)
    expect(existsSync(join(content, 'plugins/greeter'))).toBe(false)
  })

  testOnce('resumes reading a machine over SSH after kill -9 of the host', async () => {
    const content = join(stead.directoryOf('old-site'), 'web/wp-content')
    const machine = join(stead.dataDir, 'old-machine')
    await cp(content, join(machine, 'site/wp-content'), { recursive: true })
    const named = (name: string) => `define('DB_${name}', '${name}');`
    const config = `<?php ${['NAME', 'USER', 'PASSWORD', 'HOST'].map(named).join(' ')} $table_prefix = 'wp_';`
    await writeFile(join(machine, 'site/wp-config.php'), config)
    await writeFile(join(machine, 'dump.sql'), await dumpOf(content))
    await mkdir(join(machine, 'bin'))
    await writeFile(join(machine, 'bin/mysqldump'), `#!/bin/sh\ncat ${machine}/dump.sql\n`)
    await chmod(join(machine, 'bin/mysqldump'), 0o755)
    for (const name of ['sh', 'cat']) await symlink(`/bin/${name}`, join(machine, 'bin', name))
    const ssh = await OldMachine.start({ path: join(machine, 'bin') })
    const source = { type: 'ssh', host: '127.0.0.1', port: ssh.port, user: 'me', password: PASSWORD }
    const order = { source: { ...source, path: join(machine, 'site') } }
    const made = await stead.api('POST', `/v1/sites/${to}/imports`, order)
    expect([made.status, made.body.errors]).toEqual([201, null])
    const inspection = made.headers.get('operation-id') as string
    expect(await killedIn(inspection, ['fetch'])).toMatchObject({ state: 'succeeded', error: null })
    const started = await stead.api('POST', `/v1/sites/${to}/imports/${made.body.data.id}/start`)
    const operation = started.headers.get('operation-id') as string
    expect(await killedIn(operation, ['fetch_again'])).toMatchObject({ state: 'succeeded', error: null })
    expect((await stead.visit('new-site', '/kept/?by-ssh')).text).toContain('greeted by the plugin')
    ssh.stop()
  })

  test('imports a running site through the plugin that Stead provides', async () => {
    const address = `http://old-site.localhost:${stead.edgePort}`
    const made = await stead.api('POST', `/v1/sites/${to}/imports`, { plugin: { address } })
    expect([made.status, made.body.data?.state]).toEqual([201, 'waiting'])
    const path = `/v1/sites/${to}/imports/${made.body.data.id}`
    const fetched = async (inSteps: readonly string[] = []) => {
      const { headers } = await stead.api('POST', `${path}/fetch`)
      return killedIn(headers.get('operation-id') as string, inSteps)
    }
    expect((await fetched()).error).toContain('Install and activate it')
    expect((await stead.api('GET', path)).body.data).toMatchObject({ state: 'waiting', plugin: { address } })

    const content = join(stead.directoryOf('old-site'), 'web/wp-content')
    const zip = await fetch(`${stead.apiUrl}${path}/plugin`, {
      headers: { authorization: `Bearer ${await stead.freshToken()}` },
    })
    await writeFile(join(content, '../move.zip'), Buffer.from(await zip.arrayBuffer()))
    const limits = { maxBytes: 1 << 20, maxEntries: 10 }
    await mkdir(join(content, '../move'))
    await unpackZip(join(content, '../move.zip'), join(content, '../move'), { limits })
    await rename(join(content, '../move/stead-move'), join(content, 'plugins/stead-move'))
    const activate = `require 'wp-load.php'; global $wpdb; $q = chr(96); $p = $wpdb->prefix;
      update_option('active_plugins', ['greeter/greeter.php', 'stead-move/stead-move.php']);
      $wpdb->query("CREATE TABLE $q{$p}odd$q (a int, b varchar(20), c blob, PRIMARY KEY (a, b))");
      $wpdb->query("INSERT INTO $q{$p}odd$q VALUES " . implode(',', array_map(fn ($at) => "($at, 'it''s', x'00ff')", range(0, 1499))));
      $wpdb->insert($p . 'odd', ['a' => -1, 'b' => "back\\\\slash\\n", 'c' => '']);
      file_put_contents(WP_CONTENT_DIR . '/uploads/large.bin', random_bytes(20 << 20));
      wp_insert_post(['post_title' => "O'Brien Ü 🎈", 'post_name' => 'odd', 'post_status' => 'publish', 'post_content' => 'odd']); echo 'done';`
    await writeFile(join(content, '../activate.php'), `<?php ${activate}`)
    expect((await stead.visit('old-site', '/activate.php')).text).toContain('done')

    // the old site is killed with the host
    expect(await fetched(['fetch'])).toMatchObject({ state: 'succeeded', error: null })
    const { data: inspected } = (await stead.api('GET', path)).body
    expect(inspected).toMatchObject({ state: 'ready', plan: { blockers: [], from: { title: 'Of the old site' } } })
    expect(inspected.plan.plugins.map((each: { path: string }) => each.path)).toEqual(['akismet', 'greeter'])
    const started = await stead.api('POST', `${path}/start`)
    const done = await killedIn(started.headers.get('operation-id') as string, ['fetch_again'])
    expect(done).toMatchObject({ state: 'succeeded', error: null })
    const page = await stead.visit('new-site', '/odd/?now')
    expect([page.status, page.text.includes('greeted by the plugin')]).toEqual([200, true])
    const large = join('web/wp-content/uploads/large.bin')
    const hashes = await Promise.all(
      ['old-site', 'new-site'].map(async (name) => readFile(join(stead.directoryOf(name), large)).then(sha256)),
    )
    expect(hashes[0]).toBe(hashes[1])
    const count = `require 'wp-load.php'; global $wpdb; $q = chr(96);
      echo json_encode([$wpdb->get_row("SELECT COUNT(*), SUM(a), MAX(HEX(c)), MAX(b), MIN(b) FROM $q{$wpdb->prefix}odd$q", ARRAY_N), get_page_by_path('odd', OBJECT, 'post')->post_title]);`
    await writeFile(join(stead.directoryOf('new-site'), 'web/count.php'), `<?php ${count}`)
    const counted = JSON.parse((await stead.visit('new-site', '/count.php')).text)
    expect(counted).toEqual([['1501', String((1499 * 1500) / 2 - 1), '00FF', "it's", 'back\\slash\n'], "O'Brien Ü 🎈"])
  })
})
